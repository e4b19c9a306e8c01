import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Env } from "../../../../durable-objects/platform/env";
import type { ServiceAccountSource } from "../../../../src/access/authentication/ports";
import { serviceAccountSource } from "../../../../src/worker/access/service-accounts";

const SECOND_MS = 1_000;
let clusters = 0;

class World {
  uid = "old";
  reads = 0;
  readonly source: ServiceAccountSource;

  constructor() {
    const get = () => {
      this.reads++;
      if (this.uid === "") return Promise.resolve({ ok: false, status: { code: 404 } });
      return Promise.resolve({ ok: true, object: JSON.stringify({ metadata: { uid: this.uid } }) });
    };
    const env = { RESOURCE_STORE: { idFromName: (name: string) => name, get: () => ({ get }) } } as unknown as Env;
    this.source = serviceAccountSource(env, `accounts-${String(++clusters)}`, () => undefined);
  }

  /** What is known of the account, for a token of this uid that was issued so long ago. */
  find(uid: string, issuedAgoMs = 0): Promise<string | undefined> {
    const issuedMs = Math.floor((Date.now() - issuedAgoMs) / SECOND_MS) * SECOND_MS;
    return this.source.findServiceAccount("default", "web", { uid, issuedMs });
  }
}

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
let world: World;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  world = new World();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("what is remembered of an account", () => {
  it("the uid that tokens claim: one call in 30 s", async () => {
    for (let i = 0; i < 30; i++) {
      expect(await world.find("old")).toBe("old");
      pass(SECOND_MS - 1);
    }
    expect(world.reads).toBe(1);
    pass(SECOND_MS);
    await world.find("old");
    expect(world.reads).toBe(2);
  });

  it.each(["old", ""])("an account %j that is made anew: a fresh token of it is good at once", async (before) => {
    world.uid = before;
    await world.find("old", 60 * SECOND_MS);
    pass(10);
    world.uid = "new";
    expect(await world.find("new")).toBe("new");
  });

  it("an account that another isolate made anew while its token is older than the look: is read again after a second", async () => {
    await world.find("old");
    world.uid = "new";
    expect(await world.find("new", 60 * SECOND_MS)).toBe("old");
    pass(SECOND_MS);
    expect(await world.find("new", 60 * SECOND_MS)).toBe("new");
  });

  it("many tokens of a former account: one call each second", async () => {
    await world.find("old");
    for (let i = 0; i < 100; i++) {
      pass(100);
      await world.find("former", 3_600 * SECOND_MS);
    }
    expect(world.reads).toBe(11);
  });
});
