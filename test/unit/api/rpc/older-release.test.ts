import { describe, expect, it } from "vitest";
import { succeeded } from "../../../../src/api/meta/status";
import { isMethodMissing, touchedSinceOf, writeAllOf } from "../../../../src/api/rpc/older-release";
import type { BatchedStore, WriteRequest, WriteResult } from "../../../../src/api/rpc/store";

const REQUESTS = ["a", "b"].map((name): WriteRequest => {
  const options = { dryRun: false, preconditions: {}, propagationPolicy: "" as const, gracePeriodSeconds: undefined };
  return { verb: "delete", key: { namespace: "ns", name }, options };
});

function answer(request: WriteRequest): WriteResult {
  return { ok: false, status: succeeded(404, JSON.stringify(request)), warnings: [] };
}

/** Stubs of a store whose `writeAll` rejects with `error`; `calls` = the method of each call. */
function stubs(error?: Error): { store(): BatchedStore; calls: string[] } {
  const calls: string[] = [];
  const write = (request: WriteRequest): Promise<WriteResult> => (calls.push("write"), Promise.resolve(answer(request)));
  const writeAll = (requests: WriteRequest[]): Promise<WriteResult[]> => {
    calls.push("writeAll");
    return error ? Promise.reject(error) : Promise.resolve(requests.map(answer));
  };
  return { store: () => ({ write, writeAll }), calls };
}

const missing = (method: string): Error => new TypeError(`The RPC receiver does not implement the method "${method}".`);

describe("writes of one call", () => {
  it("a store that takes them together: one call", async () => {
    const { store, calls } = stubs();
    expect(await writeAllOf(store, REQUESTS)).toEqual(REQUESTS.map(answer));
    expect(calls).toEqual(["writeAll"]);
  });

  it("a store of a release without that call: each is written for itself", async () => {
    const { store, calls } = stubs(missing("writeAll"));
    expect(await writeAllOf(store, REQUESTS)).toEqual(REQUESTS.map(answer));
    expect(calls).toEqual(["writeAll", "write", "write"]);
  });

  it.each([new Error("Network connection lost."), missing("objectsSince")])("%s: rejects, and nothing is written again", async (error) => {
    const { store, calls } = stubs(error);
    await expect(writeAllOf(store, REQUESTS)).rejects.toBe(error);
    expect(calls).toEqual(["writeAll"]);
  });
});

it.each<[unknown, boolean]>([
  [missing("writeAll"), true],
  [missing("writeAllOf"), false],
  [missing("write"), false],
  ["no error", false],
])("%s: whether writeAll is missing is %s", (error, isMissing) => {
  expect(isMethodMissing(error, "writeAll")).toBe(isMissing);
});

describe("whose objects have changed", () => {
  const cursor = { incarnation: "i", revision: 5 };
  const asked = (error: Error) => touchedSinceOf({ touchedSince: () => Promise.reject(error) }, cursor);

  it("a store of a release without that call: its history does not reach back", async () => {
    expect(await asked(missing("touchedSince"))).toEqual({ kind: "expired" });
  });

  it("a store that tells: as it answers; one that fails: rejects", async () => {
    const told = { kind: "touched" as const, keys: ["ns/a"], cursor, more: false };
    expect(await touchedSinceOf({ touchedSince: () => Promise.resolve(told) }, cursor, "label")).toBe(told);
    await expect(asked(new Error("lost"))).rejects.toThrow("lost");
  });
});
