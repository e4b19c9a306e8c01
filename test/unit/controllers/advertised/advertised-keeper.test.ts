import { describe, expect, it } from "vitest";
import type { Recorder } from "../../../../src/core/base/ports";
import type { EndpointSlice } from "../../../../src/api/meta/kubernetes";
import { notFound, overloaded } from "../../../../src/api/meta/status";
import { endpointSlicesDefinition } from "../../../../src/api/registry/endpoint-slices/definition";
import { podsDefinition } from "../../../../src/api/registry/pods/definition";
import type { WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import { type AdvertisedKeeper, advertisedKeeper } from "../../../../src/controllers/advertised/advertised-keeper";

const silent: Recorder = { log: () => undefined };
const KEY = "default/kubernetes";

/** A store of one slice; `refuses` of its next writes are refused. */
class World {
  stored: EndpointSlice | undefined;
  readonly verbs: string[] = [];
  readonly logged: string[] = [];
  refuses = 0;
  now = 0;
  keeper: AdvertisedKeeper | undefined;

  start(...addresses: string[]): Promise<void> {
    this.keeper = advertisedKeeper(endpointSlicesDefinition, addresses, {
      clock: { now: () => this.now },
      recorder: { log: (_, text) => void this.logged.push(text) },
    });
    this.keeper?.begin({
      read: () =>
        this.stored
          ? { ok: true, object: JSON.stringify(this.stored) }
          : { ok: false, status: notFound(endpointSlicesDefinition, "kubernetes") },
      write: (request) => this.#write(request),
    });
    return this.ensured();
  }

  ensured(): Promise<void> {
    return this.keeper?.ensure() ?? Promise.resolve();
  }

  /** Somebody writes. */
  become(slice: EndpointSlice | undefined): void {
    this.stored = slice;
    this.keeper?.turnCommitted([{ key: KEY }]);
  }

  async #write(request: WriteRequest): Promise<WriteResult> {
    this.verbs.push(request.verb);
    await Promise.resolve();
    if (this.refuses > 0) {
      this.refuses--;
      return { ok: false, status: overloaded(), warnings: [] };
    }
    this.become("object" in request ? (JSON.parse(request.object) as EndpointSlice) : undefined);
    return { ok: true, code: 200, object: "{}", warnings: [], gone: false };
  }
}

describe("keeper of the slice default/kubernetes", () => {
  it.each([
    ["no addresses", endpointSlicesDefinition, []],
    ["another resource", podsDefinition, ["192.0.2.1"]],
  ])("%s: there is none", (_, definition, addresses) => {
    expect(advertisedKeeper(definition, addresses, { clock: { now: () => 0 }, recorder: silent })).toBeUndefined();
  });

  it("a store that starts: made once, and a second start writes nothing", async () => {
    const world = new World();
    await world.start("192.0.2.1");
    await world.start("192.0.2.1");
    expect(world.stored).toMatchObject({ addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1"] }] });
    expect(world.verbs).toEqual(["create"]);
  });

  it("deleted or changed by others: put right at once", async () => {
    const world = new World();
    await world.start("192.0.2.1");
    world.become(undefined);
    await world.ensured();
    world.become({ ...(world.stored as unknown as EndpointSlice), endpoints: [] });
    await world.ensured();
    expect(world.stored).toMatchObject({ endpoints: [{ addresses: ["192.0.2.1"] }] });
    expect(world.verbs).toEqual(["create", "create", "update"]);
  });

  it("writes of other objects: nothing is looked at", async () => {
    const world = new World();
    await world.start("192.0.2.1");
    world.stored = undefined;
    world.keeper?.turnCommitted([{ key: "default/other" }]);
    await world.ensured();
    expect(world.verbs).toEqual(["create"]);
  });

  it("addresses of another family: the slice is made anew; after a crash between the two steps the next start makes it", async () => {
    const world = new World();
    await world.start("192.0.2.1");
    await world.start("2001:db8::1");
    expect(world.stored).toMatchObject({ addressType: "IPv6" });
    world.stored = undefined;
    await world.start("2001:db8::1");
    expect(world.verbs).toEqual(["create", "delete", "create", "create"]);
  });

  it("refused: told once, reads go on without an attempt for ten seconds, then one tries again", async () => {
    const world = new World();
    world.refuses = 2;
    await world.start("192.0.2.1");
    await world.ensured();
    expect(world.verbs).toEqual(["create"]);
    world.now = 10_000;
    await world.ensured();
    expect([world.logged.length, world.stored]).toEqual([1, undefined]);
    world.now = 20_000;
    await world.ensured();
    expect(world.stored).toBeDefined();
  });
});
