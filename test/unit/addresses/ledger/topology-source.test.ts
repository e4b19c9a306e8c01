import { describe, expect, it } from "vitest";
import { TopologySource } from "../../../../src/addresses/ledger/topology-source";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import { aTopology } from "../../../support/worlds/ledger-world";
import { SimScheduler } from "../../../support/sim/platform/scheduler";

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
  it("refresh: answers with a view read after it began (hazard 18)", async () => {
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

  it("first uses: share one question; later uses: ask nobody", async () => {
    const world = new SlowCoordinator();
    const uses = [world.source.current(), world.source.current()];
    await world.scheduler.pass(0);
    expect(world.underWay).toBe(1);
    await world.answer();
    await Promise.all(uses);
    await world.source.current();
    expect(world.underWay).toBe(0);
  });

  it("a Coordinator that does not answer: one refresh fails, the next one answers", async () => {
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

  it("an older view: not adopted", () => {
    const { source } = new SlowCoordinator();
    source.adopt(aTopology(3, { a: "10.0.0.0/24" }));
    expect(source.adopt(aTopology(2, {})).epoch).toBe(3);
    expect(source.cached?.epoch).toBe(3);
  });
});

describe("TopologySource for draws", () => {
  it("a view older than a second: one question behind the draws, whose answer the next draws see", async () => {
    const world = new SlowCoordinator();
    expect(world.source.forDraw).toBeUndefined();
    const first = world.source.current();
    await world.scheduler.pass(0);
    await world.answer();
    await first;
    await world.scheduler.pass(900);
    expect([world.source.forDraw?.epoch, world.underWay]).toEqual([1, 0]);
    await world.scheduler.pass(200);
    world.epoch = 2;
    for (let i = 0; i < 3; i++) expect(world.source.forDraw?.epoch).toBe(1);
    await world.scheduler.pass(0);
    expect(world.underWay).toBe(1);
    await world.answer();
    expect(world.source.forDraw?.epoch).toBe(2);
    expect(world.underWay).toBe(0);
  });

  it("an equal view: the same object", () => {
    const { source } = new SlowCoordinator();
    const view = source.adopt(aTopology(3, { a: "10.0.0.0/24" }));
    expect(source.adopt(aTopology(3, { a: "10.0.0.0/24" }))).toBe(view);
    expect(source.adopt(aTopology(3, { b: "10.0.0.0/24" }))).not.toBe(view);
    expect(source.adopt(aTopology(3, { b: "10.0.0.0/24", c: "10.1.0.0/24" })).ranges).toHaveLength(2);
  });
});

describe("TopologySource with a published copy", () => {
  const COPY: Topology = { ...aTopology(0, { old: "10.0.0.0/24" }), owners: [], free: [] };

  /** A Coordinator that answers after `answerMs` (never, when absent) and a KV that answers after `copyMs`. */
  function sourceOf(scheduler: SimScheduler, answerMs: number | undefined, copyMs: number, copy: () => Topology | undefined) {
    const clock = scheduler.clock();
    let reads = 0;
    const topology = async (): Promise<Topology> => {
      if (answerMs === undefined) throw new Error("the Coordinator is away");
      await clock.sleep(answerMs);
      return aTopology(3, { a: "10.0.0.0/24" });
    };
    const source = new TopologySource(
      clock,
      () => ({ topology, countedTopology: topology }),
      undefined,
      async () => {
        reads++;
        await clock.sleep(copyMs);
        return copy();
      },
    );
    return { source, reads: () => reads };
  }

  it.each<[string, number | undefined, number, () => Topology | undefined, number]>([
    ["the copy when it comes first", 100, 10, () => COPY, 0],
    ["the Coordinator when it comes first", 10, 100, () => COPY, 3],
    ["the copy when the Coordinator is away", undefined, 10, () => COPY, 0],
    ["the Coordinator when there is no copy", 100, 10, () => undefined, 3],
    [
      "the Coordinator when KV fails",
      100,
      10,
      () => {
        throw new Error("KV is down");
      },
      3,
    ],
  ])("first view: of %s; later views: of the Coordinator", async (_, answerMs, copyMs, copy, epoch) => {
    const scheduler = new SimScheduler();
    const { source, reads } = sourceOf(scheduler, answerMs, copyMs, copy);
    const views = await scheduler.run(Promise.all([source.current(), source.current()]));
    expect(views.map((view) => view.epoch)).toEqual([epoch, epoch]);
    await scheduler.pass(1_000);
    expect(source.cached?.epoch).toBe(answerMs === undefined ? 0 : 3);
    expect(reads()).toBe(1);
  });

  it.each([
    ["KV has none", 10],
    ["KV never answers", 1e9],
  ])("a Coordinator that is away, %s: rejected", async (_, copyMs) => {
    const scheduler = new SimScheduler();
    const { source } = sourceOf(scheduler, undefined, copyMs, () => undefined);
    await expect(scheduler.run(source.current())).rejects.toThrow("the Coordinator is away");
  });

  it("refresh: answers with the Coordinator's view alone, never with the copy", async () => {
    const scheduler = new SimScheduler();
    const { source } = sourceOf(scheduler, 100, 10, () => COPY);
    const first = await scheduler.run(source.current());
    const fresh = await scheduler.run(source.refresh());
    expect([first.epoch, fresh.epoch]).toEqual([0, 3]);
    const { source: alone } = sourceOf(scheduler, undefined, 10, () => COPY);
    await scheduler.run(alone.current());
    await expect(scheduler.run(alone.refresh())).rejects.toThrow("the Coordinator is away");
  });
});
