import { describe, expect, it, vi } from "vitest";
import { newerData } from "../../../../src/api/rpc/newer-data";
import { unsupported } from "../../../../src/api/rpc/protocol";
import { DIRECTORY_SILENT } from "../../../../src/tenancy/rpc";
import { PEER_TIMEOUT_MS } from "../../../../src/worker/http/limits";
import { call } from "../../../../src/worker/routing/call";
import { diskState } from "../../../../src/worker/routing/disk-state";

function fault(message: string, facts: object = {}): Error {
  return Object.assign(new Error(message), facts);
}

/** Fails with the given errors in turn, then answers. */
function failing(...errors: Error[]): { attempt: () => Promise<string>; calls: () => number } {
  let calls = 0;
  return {
    attempt: () => {
      const error = errors[calls++];
      return error ? Promise.reject(error) : Promise.resolve("answer");
    },
    calls: () => calls,
  };
}

describe("call", () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const errorLog = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const safe = { what: "t", repeatable: true };

  it("a transient fault of a repeatable call: the call is repeated", async () => {
    const peer = failing(fault("x", { retryable: true }), fault("x", { retryable: true }));
    expect(await call(peer.attempt, safe)).toEqual({ ok: true, value: "answer" });
    expect(peer.calls()).toBe(3);
  });

  it("a third transient fault: 503 with Retry-After", async () => {
    const transient = () => fault("x", { retryable: true });
    const peer = failing(transient(), transient(), transient(), transient());
    expect(await call(peer.attempt, safe)).toMatchObject({ error: { code: 503, details: { retryAfterSeconds: 1 } } });
    expect(peer.calls()).toBe(3);
  });

  it("a transient fault of a write: not repeated", async () => {
    const peer = failing(fault("x", { retryable: true }));
    expect(await call(peer.attempt, { what: "t", repeatable: false })).toMatchObject({ error: { code: 503 } });
    expect(peer.calls()).toBe(1);
  });

  it("overload: not repeated, 503", async () => {
    const peer = failing(fault("x", { retryable: true, overloaded: true }));
    expect(await call(peer.attempt, safe)).toMatchObject({ error: { code: 503, reason: "ServiceUnavailable" } });
    expect(peer.calls()).toBe(1);
  });

  it.each([
    "Network connection lost.",
    "Durable Object reset because its code was updated.",
    "internal error; reference = ek24lklqcvv9b44gilm3nfmu",
    "database or disk is full: SQLITE_FULL",
    "disk I/O error: SQLITE_IOERR",
    "attempt to write a readonly database: SQLITE_READONLY",
    "unable to open database file: SQLITE_CANTOPEN",
    "database disk image is malformed: SQLITE_CORRUPT",
    "file is not a database: SQLITE_NOTADB",
    "locking protocol: SQLITE_PROTOCOL",
    "out of memory: SQLITE_NOMEM",
    "disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_WRITE)",
    "KV PUT failed: 500 Internal Server Error",
    "KV GET failed: 503 Service Unavailable",
    `${DIRECTORY_SILENT}: KV GET failed: 500 Internal Server Error`,
  ])("%s: 503 with Retry-After", async (message) => {
    expect(await call(failing(fault(message)).attempt, safe)).toMatchObject({ error: { code: 503, details: { retryAfterSeconds: 1 } } });
  });

  it.each([
    ["database or disk is full: SQLITE_FULL", { durableObjectReset: true }, "the disk is full"],
    ["attempt to write a readonly database: SQLITE_READONLY", {}, "the disk is read-only"],
    ["disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_WRITE)", {}, "the disk refuses to write"],
  ])("%s: the Status and one error line name it, however many calls fail", async (message, facts, named) => {
    diskState.mended();
    errorLog.mockClear();
    const refused = { code: 503, message: `the server is currently unable to handle the request: ${named}` };
    for (let i = 0; i < 3; i++) expect(await call(failing(fault(message, facts)).attempt, safe)).toMatchObject({ error: refused });
    // An object that cannot start does not say why.
    expect(await call(failing(fault("internal error; reference = ek24lk")).attempt, safe)).toMatchObject({ error: refused });
    const lines = errorLog.mock.calls.map(([line]) => JSON.parse(String(line)) as object);
    expect(lines).toMatchObject([{ level: "error", event: named, what: "t" }]);
    diskState.mended();
    expect(await call(failing(fault("internal error; reference = ek24lk")).attempt, safe)).toMatchObject({
      error: { message: "the server is currently unable to handle the request" },
    });
  });

  it.each([
    [`The RPC receiver does not implement the method "graft".`, ": a part of it runs another release"],
    [unsupported("write with the verb graft").message, ": a part of it runs another release"],
    [
      newerData({ found: 9, readableFrom: 8, known: 7 }).message,
      ": a newer release has written this object: it is of schema 9, which is readable from schema 8 on, and this release knows 7",
    ],
  ])("an object of another release, %s: 503 with Retry-After, which says why; not repeated", async (message, why) => {
    const peer = failing(new TypeError(message));
    const refused = { code: 503, reason: "ServiceUnavailable", details: { retryAfterSeconds: 1 } };
    expect(await call(peer.attempt, safe)).toMatchObject({
      error: { ...refused, message: `the server is currently unable to handle the request${why}` },
    });
    expect(peer.calls()).toBe(1);
  });

  it("a broken constraint of the database: 500, logged as a bug", async () => {
    const message = "UNIQUE constraint failed: objects.key: SQLITE_CONSTRAINT";
    expect(await call(failing(fault(message)).attempt, safe)).toMatchObject({ error: { code: 500 } });
  });

  it("no answer in time: 504", async () => {
    const never = () => new Promise<string>(() => undefined);
    expect(await call(never, { ...safe, timeoutMs: 5 })).toMatchObject({
      error: { code: 504, reason: "Timeout", message: "Timeout: request did not complete within the allotted timeout" },
    });
  });

  it.each([0, 10 * PEER_TIMEOUT_MS, 1e20])("a timeout of %d ms: cut to the longest time of a call", async (timeoutMs) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let answer: unknown;
      void call(() => new Promise<string>(() => undefined), { ...safe, timeoutMs }).then((result) => (answer = result));
      await vi.advanceTimersByTimeAsync(PEER_TIMEOUT_MS - 1);
      expect(answer).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      expect(answer).toMatchObject({ error: { code: 504 } });
    } finally {
      vi.useRealTimers();
    }
  });

  it("a client that has left: no repetition, no log line", async () => {
    const warned = vi.spyOn(console, "warn").mockClear();
    // As the platform has it when the signal of a request to an object is aborted.
    const peer = failing(fault("The operation was aborted", { name: "AbortError", retryable: true }));
    expect(await call(peer.attempt, safe)).toMatchObject({ error: { code: 503 } });
    expect([peer.calls(), warned.mock.calls.length]).toEqual([1, 0]);
  });

  it("a callee that waited for another object in vain: 504", async () => {
    // Errors cross RPC without their class.
    const nested = Object.assign(new Error("no answer within 20000 ms"), { name: "TimeoutError", remote: true });
    expect(await call(failing(nested).attempt, safe)).toMatchObject({ error: { code: 504, reason: "Timeout" } });
  });

  it("a bug: logged, and 500 without details", async () => {
    const answer = await call(failing(fault("secret of store.ts:12")).attempt, safe);
    expect(answer).toMatchObject({ error: { code: 500, reason: "InternalError" } });
    expect(JSON.stringify(answer)).not.toContain("secret");
    expect(errorLog.mock.calls.flat().join()).toContain("secret");
  });
});
