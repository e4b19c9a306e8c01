import { afterEach, describe, expect, it, vi } from "vitest";
import { Waits, waits } from "../../../../src/worker/routing/waits";
import { servicesDefinition } from "../../../../src/api/registry/services/definition";
import { send } from "../client";
import { type Recorded, fakeEnv } from "../fake-env";

afterEach(() => {
  vi.restoreAllMocks();
});

/** What the objects were asked, in order. */
function asked(calls: readonly Recorded[]): string[] {
  return calls.filter(({ method }) => method !== "ensureBootstrapped").map(({ object, method }) => `${object} ${method}`);
}

describe("a stop", () => {
  it("open watches and polls: end, each object once", async () => {
    const { env, calls } = fakeEnv();
    const own = new Waits();
    const watched = { env, cluster: "a", definition: servicesDefinition };
    for (let i = 0; i < 2; i++) expect(await own.openWatch(watched, () => Promise.resolve(i))).toBe(i);
    for (const cluster of ["a", "b", "b"]) own.notePoll(cluster);
    expect([asked(calls), own.isStopping]).toEqual([[], false]);
    await own.end(env);
    expect(asked(calls)).toEqual([
      "SERVICES_STORE a/services endWatches",
      "PROXY_VIEW a/proxy-view endPolls",
      "PROXY_VIEW b/proxy-view endPolls",
    ]);
    expect(own.isStopping).toBe(true);
  });

  it("a watch that is being opened: ends when it is open", async () => {
    const { env, calls } = fakeEnv();
    const own = new Waits();
    await own.openWatch({ env, cluster: "a", definition: servicesDefinition }, () => own.end(env));
    expect(asked(calls)).toEqual(Array.from({ length: 2 }, () => "SERVICES_STORE a/services endWatches"));
  });

  it("a later watch: is answered with its end", async () => {
    vi.spyOn(waits, "isStopping", "get").mockReturnValue(true);
    const { env, calls } = fakeEnv();
    const late = await send("http://h/api/v1/services?watch=true", {}, env);
    expect([late.status, await late.text()]).toEqual([200, ""]);
    expect(asked(calls)).toEqual([]);
  });
});
