import { describe, expect, it } from "vitest";
import { TopologySource } from "../../../src/clusterip/topology-source";
import type { Topology } from "../../../src/rpc/coordinator";
import { aTopology } from "../../support/sim-ledger-world";
import { SimScheduler } from "../../support/sim-scheduler";

/** A Coordinator that reads its state when a call arrives and answers when told. */
class SlowCoordinator {
  readonly scheduler = new SimScheduler();
  epoch = 1;
  readonly #open: (() => void)[] = [];
  readonly source = new TopologySource(this.scheduler.clock(), () => ({
    topology: () => {
      const topology = aTopology(this.epoch, { a: "10.0.0.0/24" });
      return new Promise<Topology>((resolve) => void this.#open.push(() => resolve(topology)));
    },
    countedTopology: () => Promise.reject(new Error("not asked for here")),
  }));

  get underWay(): number {
    return this.#open.length;
  }

  async answer(): Promise<void> {
    this.#open.shift()?.();
    await this.scheduler.pass(0);
  }
}

describe("TopologySource", () => {
  it("a refresh never answers with a view read before it began (hazard 18)", async () => {
    const world = new SlowCoordinator();
    const early = world.source.refresh();
    await world.scheduler.pass(0);
    world.epoch = 2;
    const late = world.source.refresh();
    const alsoLate = world.source.refresh();
    await world.answer();
    expect((await early).epoch).toBe(1);
    expect(world.underWay).toBe(1);
    await world.answer();
    expect([(await late).epoch, (await alsoLate).epoch]).toEqual([2, 2]);
    expect(world.underWay).toBe(0);
  });

  it("first use shares whatever is under way; later uses ask nobody", async () => {
    const world = new SlowCoordinator();
    const uses = [world.source.current(), world.source.current()];
    await world.scheduler.pass(0);
    expect(world.underWay).toBe(1);
    await world.answer();
    await Promise.all(uses);
    await world.source.current();
    expect(world.underWay).toBe(0);
  });

  it("a Coordinator that never answers costs one timeout, not all calls to come", async () => {
    const world = new SlowCoordinator();
    const silent = world.source.refresh();
    const behind = world.source.refresh();
    const failed = expect(silent).rejects.toThrow(/no answer/);
    await world.scheduler.pass(6_000);
    await failed;
    await world.answer();
    await world.answer();
    expect((await behind).epoch).toBe(1);
  });

  it("keeps the newer of two views", () => {
    const { source } = new SlowCoordinator();
    source.adopt(aTopology(3, { a: "10.0.0.0/24" }));
    expect(source.adopt(aTopology(2, {})).epoch).toBe(3);
    expect(source.cached?.epoch).toBe(3);
  });
});
