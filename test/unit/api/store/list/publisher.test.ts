import { describe, expect, it } from "vitest";
import { PUBLISH_INTERVAL_MS, PUBLISH_TIMEOUT_MS } from "../../../../../src/api/store/state/limits";
import { type LastPublication, Publisher } from "../../../../../src/api/store/list/publisher";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";

class World {
  readonly scheduler = new SimScheduler();
  version = "1";
  /** what is put, as text; undefined = nothing is to be published */
  content: string | undefined = "content";
  put: () => Promise<void> = () => Promise.resolve();
  readonly published: string[] = [];
  readonly logged: string[] = [];
  last: LastPublication | undefined;
  publisher!: Publisher;

  constructor() {
    this.restart();
  }

  restart(): void {
    this.publisher = new Publisher(
      {
        clock: this.scheduler.clock(),
        recorder: { log: (_, event) => this.logged.push(event) },
        lastLoad: () => this.last,
        lastSave: (last) => (this.last = last),
        put: async (bytes) => {
          this.published.push(new TextDecoder().decode(bytes));
          await this.put();
        },
      },
      {
        version: () => this.version,
        take: () => {
          const { content, version } = this;
          return Promise.resolve(content === undefined ? undefined : new TextEncoder().encode(`${content} ${version}`));
        },
      },
    );
  }

  async demand(): Promise<readonly string[]> {
    this.publisher.demand();
    await this.scheduler.pass(0);
    return this.published;
  }
}

describe("what is published", () => {
  it("a demand: publishes, once however many ask", async () => {
    const world = new World();
    await world.scheduler.pass(PUBLISH_INTERVAL_MS);
    expect(world.published).toEqual([]);
    for (let i = 0; i < 10; i++) world.publisher.demand();
    expect(await world.demand()).toEqual(["content 1"]);
  });

  it("a publication: has the newest state of its making, not of its demand", async () => {
    const world = new World();
    world.publisher.demand();
    world.version = "2";
    expect(await world.demand()).toEqual(["content 2"]);
    await world.scheduler.pass(PUBLISH_INTERVAL_MS);
    expect(await world.demand()).toEqual(["content 2"]);
  });

  it("demands within a minute: one publication", async () => {
    const world = new World();
    await world.demand();
    for (let second = 1; second < 60; second++) {
      await world.scheduler.pass(1_000);
      world.version = String(second + 1);
      expect(await world.demand()).toHaveLength(1);
    }
    await world.scheduler.pass(1_000);
    expect(await world.demand()).toEqual(["content 1", "content 60"]);
  });

  it("a demand without a change: publishes nothing", async () => {
    const world = new World();
    await world.demand();
    await world.scheduler.pass(10 * PUBLISH_INTERVAL_MS);
    expect(await world.demand()).toHaveLength(1);
    world.version = "2";
    expect(await world.demand()).toHaveLength(2);
  });

  it("a restart: makes neither more nor other publications", async () => {
    const world = new World();
    await world.demand();
    world.restart();
    world.version = "2";
    expect(await world.demand()).toHaveLength(1);
    await world.scheduler.pass(PUBLISH_INTERVAL_MS);
    world.restart();
    expect(await world.demand()).toHaveLength(2);
    await world.scheduler.pass(PUBLISH_INTERVAL_MS);
    world.restart();
    expect(await world.demand()).toHaveLength(2);
  });

  it("a clock that is set back: delays no publication", async () => {
    const world = new World();
    await world.demand();
    world.version = "2";
    world.scheduler.now -= 10 * PUBLISH_INTERVAL_MS;
    expect(await world.demand()).toHaveLength(2);
  });

  it("a state that must not be published: nothing is put, and it is not read more often", async () => {
    const world = new World();
    world.content = undefined;
    expect(await world.demand()).toEqual([]);
    world.content = "content";
    world.version = "2";
    expect(await world.demand()).toEqual([]);
    await world.scheduler.pass(PUBLISH_INTERVAL_MS);
    expect(await world.demand()).toEqual(["content 2"]);
  });

  it.each<[string, () => Promise<void>, number]>([
    ["fails", () => Promise.reject(new Error("KV is down")), 0],
    ["never answers", () => new Promise(() => undefined), PUBLISH_TIMEOUT_MS],
  ])("a KV that %s: logged, and tried again a minute later with the same version", async (_, put, afterMs) => {
    const world = new World();
    world.put = put;
    await world.demand();
    await world.scheduler.pass(afterMs);
    expect(world.logged).toEqual(["a copy was not published"]);
    expect(await world.demand()).toHaveLength(1);
    await world.scheduler.pass(PUBLISH_INTERVAL_MS);
    world.put = () => Promise.resolve();
    expect(await world.demand()).toEqual(["content 1", "content 1"]);
    await world.scheduler.pass(PUBLISH_INTERVAL_MS);
    expect(await world.demand()).toHaveLength(2);
    expect(world.logged).toHaveLength(1);
  });
});
