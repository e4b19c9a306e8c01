import { describe, expect, it } from "vitest";
import { UNPAIRED_CHANGES_MAX } from "../../../../src/addresses/rpc/limits";
import { Pairing } from "../../../../src/addresses/clusterip/pairing";
import type { IPAddressWrite } from "../../../../src/addresses/rpc/ip-addresses";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

class PairingWorld {
  readonly scheduler = new SimScheduler();
  readonly calls: string[][] = [];
  answer: () => Promise<void> = () => Promise.resolve();
  readonly pairing = new Pairing({
    clock: this.scheduler.clock(),
    recorder: { log: () => undefined },
    ipAddresses: () => ({
      createMany: (writes) => {
        this.calls.push(writes.map(({ address }) => address));
        return this.answer();
      },
    }),
  });

  /** A commit at `revision` whose writes were sent before it, as the services store does it. */
  commit(revision: number, address: string): Promise<boolean> {
    const writes = [aWrite(address)];
    const written = this.pairing.write(writes);
    this.pairing.committed(revision, writes, written);
    return written;
  }
}

function aWrite(address: string): IPAddressWrite {
  return { address, family: "IPv4", token: `t-${address}`, gen: { epoch: 1, counter: 1 }, namespace: "default", name: "web" };
}

describe("Pairing", () => {
  it("writes of one turn: one call", async () => {
    const world = new PairingWorld();
    await Promise.all([world.commit(1, "10.0.0.1"), world.commit(2, "10.0.0.2")]);
    expect(world.calls).toEqual([["10.0.0.1", "10.0.0.2"]]);
  });

  it("ipaddresses store that does not answer: no room beyond the bound; room again after a retry", async () => {
    const world = new PairingWorld();
    world.answer = () => Promise.reject(new Error("connection lost"));
    for (let revision = 1; revision <= UNPAIRED_CHANGES_MAX; revision++) {
      expect(world.pairing.hasRoom()).toBe(true);
      void world.commit(revision, "10.0.0.1");
    }
    await world.scheduler.pass(10);
    expect(world.pairing.hasRoom()).toBe(false);
    world.answer = () => Promise.resolve();
    await world.scheduler.run(world.pairing.retry());
    expect(world.pairing.hasRoom()).toBe(true);
  });

  it("revision without a confirmed write: the mark stays below until a retry succeeds", async () => {
    const world = new PairingWorld();
    world.answer = () => Promise.reject(new Error("connection lost"));
    expect(await world.commit(5, "10.0.0.5")).toBe(false);
    world.answer = () => Promise.resolve();
    expect(await world.commit(7, "10.0.0.7")).toBe(true);
    expect(world.pairing.pairedThrough(9)).toBe(4);
    await world.pairing.retry();
    expect(world.calls.at(-1)).toEqual(["10.0.0.5"]);
    expect(world.pairing.pairedThrough(9)).toBe(9);
  });

  it("write without an answer: counts as not written", async () => {
    const world = new PairingWorld();
    world.answer = () => new Promise(() => undefined);
    const written = world.commit(5, "10.0.0.5");
    await world.scheduler.pass(6_000);
    expect(await written).toBe(false);
    expect(world.pairing.pairedThrough(9)).toBe(4);
  });

  it("retry that fails: the mark stays, and all writes share its call", async () => {
    const world = new PairingWorld();
    world.answer = () => Promise.reject(new Error("connection lost"));
    await Promise.all([world.commit(5, "10.0.0.5"), world.commit(6, "10.0.0.6")]);
    await world.pairing.retry();
    expect(world.calls).toHaveLength(2);
    expect(world.pairing.pairedThrough(9)).toBe(4);
  });

  it("revision of a lost transaction: belongs to the change that gets it next", async () => {
    const world = new PairingWorld();
    let end: () => void = () => undefined;
    world.answer = () => new Promise((resolve) => (end = resolve));
    const lost = world.commit(5, "10.0.0.5");
    await world.scheduler.pass(0);
    const endLost = end;
    world.pairing.lostAfter(4);
    expect(world.pairing.pairedThrough(4)).toBe(4);
    world.answer = () => Promise.reject(new Error("connection lost"));
    await world.commit(5, "10.0.0.6");
    endLost();
    expect(await lost).toBe(true);
    expect(world.pairing.pairedThrough(5)).toBe(4);
  });
});
