import { afterEach, describe, expect, it, vi } from "vitest";
import { relay } from "../../../../src/worker/routing/relay";
import { Waits, waits } from "../../../../src/worker/routing/waits";
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
  it("open watches and polls: end", () => {
    const stopped: string[] = [];
    const own = new Waits([{ stop: () => void stopped.push("watches") }, { stop: () => void stopped.push("polls") }]);
    expect([stopped, own.isStopping]).toEqual([[], false]);
    own.end();
    expect([stopped, own.isStopping]).toEqual([["watches", "polls"], true]);
  });

  it("a later poll: is refused", async () => {
    vi.spyOn(waits, "isStopping", "get").mockReturnValue(true);
    const { env } = fakeEnv();
    const late = await send("http://h/api/v1/nodes/n1/proxy-config?timeoutSeconds=60", {}, env);
    expect([late.status, await late.json()]).toMatchObject([503, { message: "the server is stopping" }]);
  });

  it("a later watch: is answered with its end", async () => {
    vi.spyOn(relay, "isStopping", "get").mockReturnValue(true);
    const { env, calls } = fakeEnv();
    const late = await send("http://h/api/v1/services?watch=true", {}, env);
    expect([late.status, await late.text()]).toEqual([200, ""]);
    expect(asked(calls)).toEqual([]);
  });
});
