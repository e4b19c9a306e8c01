/** What a store knows of its pokes, and what cron's visits make of it: pokes that are lost, that come late, and lives that end between a turn and its poke. */
import { describe, expect, it } from "vitest";
import { Deliveries } from "../../../../../src/api/store/feeds/deliveries";
import { READ } from "../../../../../src/api/rpc/store";
import { SimScheduler } from "../../../../support/sim/platform/scheduler";

/** A store with one follower, and the list of those that are visited. */
class World {
  readonly scheduler = new SimScheduler();
  /** names in the list */
  readonly listed = new Set<string>();
  listFails = false;
  /** what becomes of pokes */
  poked: "answered" | "lost" | "silent" | "taken" = "answered";
  pokes = 0;
  asks = 0;
  restFails = false;
  deliveries = this.#started();

  /** The object dies and starts again. */
  restart(): void {
    this.deliveries = this.#started();
  }

  readonly poke = (): Promise<unknown> => {
    this.pokes++;
    if (this.poked === "lost") return Promise.reject(new Error("lost"));
    return this.poked === "silent" ? new Promise(() => undefined) : Promise.resolve(this.poked === "answered" ? READ : undefined);
  };

  async turn(): Promise<void> {
    this.deliveries.spoke();
    this.deliveries.send(this.poke);
    await this.scheduler.pass(100);
  }

  /** A tick: who is in the list is visited, and leaves it when it is settled. */
  async tick(): Promise<string> {
    if (!this.listed.has("pods")) return "nobody";
    const rest = (): Promise<void> => (this.restFails ? Promise.reject(new Error("down")) : Promise.resolve());
    const outcome = await this.scheduler.run(this.deliveries.visit(rest, () => [this.poke]));
    if (outcome === "settled") this.listed.delete("pods");
    await this.scheduler.pass(60_000);
    return outcome;
  }

  /** Ticks until nobody is visited. */
  async ticks(): Promise<string[]> {
    const outcomes: string[] = [];
    for (let i = 0; i < 10 && outcomes.at(-1) !== "nobody"; i++) outcomes.push(await this.tick());
    return outcomes;
  }

  #started(): Deliveries {
    const askVisits = (name: string): Promise<boolean> => {
      this.asks++;
      if (this.listFails) return Promise.reject(new Error("down"));
      const wasListed = this.listed.has(name);
      this.listed.add(name);
      return Promise.resolve(wasListed);
    };
    return new Deliveries({ clock: this.scheduler.clock(), name: "pods", visitList: () => ({ askVisits }) });
  }
}

describe("a store that pokes", () => {
  it("turns whose pokes are answered: asks for visits once; two visits settle it, without a poke", async () => {
    const world = new World();
    for (let i = 0; i < 3; i++) await world.turn();
    expect(await world.ticks()).toEqual(["left", "settled", "nobody"]);
    expect([world.asks, world.pokes]).toEqual([1, 3]);
    await world.turn();
    expect(await world.ticks()).toEqual(["left", "settled", "nobody"]);
    expect(world.asks).toBe(2);
  });

  it("a store before its first write: waits for the list; while that does not answer, or is to be asked again later, it hears so at once", async () => {
    const world = new World();
    world.listFails = true;
    const together = [world.deliveries.listed(), world.deliveries.listed()];
    for (const answer of together) await expect(answer).rejects.toThrow("down");
    expect(world.asks, "one question for both").toBe(1);
    await world.scheduler.pass(45_000);
    await expect(world.deliveries.listed()).rejects.toThrow("down");
    world.listFails = false;
    const before = world.asks;
    // The next attempt of its own would be half a minute away.
    await world.deliveries.listed();
    await world.deliveries.listed();
    expect([world.asks - before, [...world.listed]]).toEqual([1, ["pods"]]);
    await world.scheduler.pass(60_000);
    expect(world.asks - before, "no attempt is left over").toBe(1);
    expect(await world.ticks(), "nothing was written").toEqual(["settled", "nobody"]);
  });

  it("a list that may have been brought back in time: is asked anew, also during a question, whose answer counts no more", async () => {
    const world = new World();
    const answers: ((wasListed: boolean) => void)[] = [];
    const ask = () => new Promise<boolean>((resolve) => void answers.push(resolve));
    const deliveries = new Deliveries({ clock: world.scheduler.clock(), name: "pods", visitList: () => ({ askVisits: ask }) });
    let isListed = false;
    const first = deliveries.listed();
    const anew = deliveries.listedAnew().then(() => (isListed = true));
    expect(answers.length).toBe(2);
    answers[0]?.(false);
    await first;
    await world.scheduler.pass(100);
    expect(isListed).toBe(false);
    answers[1]?.(false);
    await anew;
    await deliveries.listed();
    expect(answers.length).toBe(2);
  });

  it("turns between the ticks: keeps its place, and asks no more", async () => {
    const world = new World();
    for (let minute = 0; minute < 4; minute++) {
      await world.turn();
      expect(await world.tick()).toBe("left");
    }
    expect([world.asks, world.pokes]).toEqual([1, 4]);
  });

  it("a lost poke: is sent again with the next visit, and with each one until it is answered", async () => {
    const world = new World();
    world.poked = "lost";
    await world.turn();
    expect([await world.tick(), await world.tick(), world.pokes]).toEqual(["left", "left", 3]);
    world.poked = "answered";
    expect(await world.ticks()).toEqual(["settled", "nobody"]);
    expect(world.pokes).toBe(4);
  });

  it("a controller of the release before, which takes a poke and may die in its pass: is poked with each visit until it is of this one", async () => {
    const world = new World();
    world.poked = "taken";
    await world.turn();
    expect([await world.tick(), await world.tick(), world.pokes]).toEqual(["left", "left", 3]);
    world.poked = "answered";
    expect(await world.ticks()).toEqual(["settled", "nobody"]);
    expect(world.pokes).toBe(4);
  });

  it("a poke whose pass does not end: counts as lost", async () => {
    const world = new World();
    world.poked = "silent";
    await world.turn();
    expect(await world.tick()).toBe("left");
    world.poked = "answered";
    expect(await world.ticks()).toEqual(["settled", "nobody"]);
    expect(world.pokes).toBe(2);
  });

  it("more pokes than may wait for answers: the further ones are owed", async () => {
    const world = new World();
    world.poked = "silent";
    for (let i = 0; i < 40; i++) world.deliveries.send(world.poke);
    world.poked = "answered";
    await world.turn();
    expect(await world.ticks()).toEqual(["left", "settled", "nobody"]);
    // Those of the turn and of the first visit were more than may wait, too.
    expect(world.pokes).toBe(43);
  });

  it("a death between the turn and its poke: the next visit pokes", async () => {
    const world = new World();
    world.deliveries.spoke();
    await world.scheduler.pass(100);
    world.restart();
    expect(await world.ticks()).toEqual(["settled", "nobody"]);
    expect(world.pokes).toBe(1);
  });

  it("a death between the turn and its poke, and a turn of the next life before the visit: the visit pokes everybody", async () => {
    const world = new World();
    world.deliveries.spoke();
    await world.scheduler.pass(100);
    world.restart();
    world.deliveries.spoke();
    await world.scheduler.pass(100);
    expect(world.pokes).toBe(0);
    expect(await world.ticks()).toEqual(["left", "settled", "nobody"]);
    expect(world.pokes).toBe(1);
  });

  it("a transaction that may be stored or not: everybody is poked with the next visit", async () => {
    const world = new World();
    world.deliveries.owe();
    await world.scheduler.pass(100);
    expect(await world.ticks()).toEqual(["left", "settled", "nobody"]);
    expect(world.pokes).toBe(1);
  });

  it("a start of a settled store: pokes nobody", async () => {
    const world = new World();
    await world.turn();
    await world.ticks();
    world.restart();
    await world.turn();
    expect(await world.ticks()).toEqual(["left", "settled", "nobody"]);
    expect(world.pokes).toBe(2);
  });

  it("a list that does not answer: is asked again, later and later, until it does", async () => {
    const world = new World();
    world.listFails = true;
    await world.turn();
    await world.scheduler.pass(20_000);
    expect(world.asks).toBe(5);
    world.listFails = false;
    await world.scheduler.pass(30_000);
    expect([...world.listed]).toEqual(["pods"]);
  });

  it("work of its own that fails: is done again with the next visit", async () => {
    const world = new World();
    await world.turn();
    world.restFails = true;
    expect([await world.tick(), await world.tick()]).toEqual(["left", "left"]);
    world.restFails = false;
    expect(await world.ticks()).toEqual(["settled", "nobody"]);
  });
});
