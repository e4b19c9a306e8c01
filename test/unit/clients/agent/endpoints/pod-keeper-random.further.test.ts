/**
 * Random histories: the file is edited, broken and lost, users and the collector delete Pods, Nodes are made anew, the server goes away, the agent dies, requests are lost. At the end the Pods
 * are those of the file without what users have switched off, and each is ready as its process is.
 */
import { describe, expect } from "vitest";
import type { Pod } from "../../../../../src/api/meta/kubernetes";
import { readEndpointFile } from "../../../../../src/clients/agent/endpoints/endpoint-file";
import { seededRandom, pick } from "../../../../support/sim/platform/seeded-random";
import { firstSeeds, itOfSeeds } from "../../../../support/sim/platform/seeds";
import { MachineWorld, NODE } from "../../../../support/worlds/machine-world";

const SECOND = 1_000;
const HISTORIES = 8;
const STEPS = 40;
const NAMES = ["a", "b", "c"];
const PORTS = [1, 2, 3, 4];
/** After so long without a disturbance a Pod that a user deletes is off for certain. */
const CALM_MS = 20 * SECOND;

class History {
  readonly world: MachineWorld;
  readonly #random;
  #calmSince = 0;
  #good = "[]";
  #isDown = false;
  /** By name: the user's deletion counts for certain; or it may count, since something else happened at that time. */
  readonly off = new Map<string, "off" | "either">();

  constructor(seed: number) {
    this.world = new MachineWorld(seed);
    this.#random = seededRandom(seed ^ 0x5eed);
  }

  async run(): Promise<void> {
    const { world } = this;
    await world.start();
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      await world.pass(this.#random.below(3) === 0 ? 30 * SECOND : this.#random.below(4_000));
    }
    world.diesAt = () => false;
    world.startServer();
    world.text = this.#good;
    if (world.agent?.isDead) await world.start();
    await world.pass(180 * SECOND);
    for (const name of NAMES) await this.#deletedInPeace(name);
    await world.pass(60 * SECOND);
  }

  /** Names and ports of the Pods that there are to be, with their readiness; `?` = it may be there. */
  get expected(): string[] {
    const read = readEndpointFile(this.#good);
    return (read.ok ? read.value : []).flatMap(({ name, port, check }) => {
      const off = this.off.get(name);
      const state = !check || this.world.healthy.has(port) ? "ready" : "not ready";
      return off === "off" ? [] : [`${off === "either" ? "?" : ""}${name}.${NODE}:${port} ${state}`];
    });
  }

  async #step(): Promise<void> {
    const { world } = this;
    switch (this.#random.below(12)) {
      case 0:
      case 1:
        return this.#edit();
      case 2:
        world.text = [undefined, "", "- {", "- {name: A}"][this.#random.below(4)];
        return this.#disturb();
      case 3:
      case 4:
        return this.#userDeletes();
      case 5:
        if (this.#isDown) world.startServer();
        else world.stopServer();
        this.#isDown = !this.#isDown;
        return this.#disturb();
      case 6:
        world.crash();
        if (this.#random.below(2) === 0) await world.pass(this.#random.below(60_000));
        // It has been good once.
        expect(await world.start()).toBeUndefined();
        return this.#disturb();
      case 7: {
        const port = pick(this.#random, PORTS);
        if (!world.healthy.delete(port)) world.healthy.add(port);
        return;
      }
      case 8: {
        let left = this.#random.below(6);
        world.diesAt = () => left-- === 0;
        return this.#disturb();
      }
      case 9:
        return this.#collected();
      case 10:
        world.crash();
        world.nodeUid = `u${this.#random.below(1_000)}`;
        expect(await world.start()).toBeUndefined();
        for (const name of this.off.keys()) this.off.set(name, "either");
        return this.#disturb();
      default:
        if (world.agent?.isDead) expect(await world.start()).toBeUndefined();
        return this.#disturb();
    }
  }

  #edit(): void {
    const entries = NAMES.filter(() => this.#random.below(3) > 0).map((name) => {
      const check = this.#random.below(2) === 0 ? ", check: {tcp: , periodSeconds: 2}" : "";
      const labels = `labels: {v: '${this.#random.below(2)}'}`;
      return `- {name: ${name}, port: ${pick(this.#random, PORTS)}, drainSeconds: ${this.#random.below(4)}, ${labels}${check}}`;
    });
    this.#good = entries.length === 0 ? "[]" : entries.join("\n");
    this.world.text = this.#good;
    this.#disturb();
    // A set without the entry, or with another one, may have been seen in between.
    for (const name of this.off.keys()) this.off.set(name, "either");
  }

  async #userDeletes(): Promise<void> {
    const { world } = this;
    const name = pick(this.#random, NAMES);
    const pod = world.pod(`${name}.${NODE}`);
    if (!pod) return;
    const isCalm = world.scheduler.now - this.#calmSince >= CALM_MS && !this.#isDown && !world.agent?.isDead && world.text === this.#good;
    const grace = [undefined, 1, 5][this.#random.below(3)];
    if (!this.off.has(name)) this.off.set(name, isCalm && !pod.metadata?.deletionTimestamp ? "off" : "either");
    await world.userDeletes(`${name}.${NODE}`, grace);
    this.#calmSince = world.scheduler.now - CALM_MS;
  }

  /** By the collector of Pods, as after a Node: no endpoint is off because of it. */
  async #collected(): Promise<void> {
    const { world } = this;
    const name = pick(this.#random, NAMES);
    const pod = world.pod(`${name}.${NODE}`);
    if (!pod) return;
    if (this.off.has(name)) this.off.set(name, "either");
    const conditions = [...(pod.status?.conditions ?? []), { type: "DisruptionTarget", status: "True", reason: "DeletionByPodGC" }];
    await world.pods.update({ ...pod, status: { ...pod.status, phase: "Failed", conditions } } as Pod, { group: "" }, "status");
    await world.userDeletes(`${name}.${NODE}`, 0);
    this.#disturb();
  }

  /** By a user, or not; the agent may die while the Pod drains. */
  async #deletedInPeace(name: string): Promise<void> {
    const { world } = this;
    const pod = world.pod(`${name}.${NODE}`);
    if (!pod || this.#random.below(2) === 0) return;
    this.off.set(name, "off");
    await world.userDeletes(`${name}.${NODE}`);
    // A Pod that is gone at once is known to be deleted by those alone who were there.
    if (pod.spec?.terminationGracePeriodSeconds === 0) await world.pass(100);
    if (this.#random.below(2) === 0) return;
    world.crash();
    expect(await world.start()).toBeUndefined();
    await world.pass(SECOND);
  }

  #disturb(): void {
    this.#calmSince = this.world.scheduler.now;
  }
}

describe("random history of a machine's endpoints", () => {
  itOfSeeds("seed %i: ends as the file, users and processes say", { fixed: firstSeeds(HISTORIES), further: 2 }, async (seed) => {
    const history = new History(seed);
    const { world } = history;
    await history.run();
    const left = world.brief;
    const { expected } = history;
    expect(left.filter((pod) => !expected.includes(pod) && !expected.includes(`?${pod}`))).toEqual([]);
    expect(expected.filter((pod) => !pod.startsWith("?") && !left.includes(pod))).toEqual([]);
    world.writes.length = 0;
    await world.pass(60 * SECOND);
    expect(world.writes).toEqual([]);
  });
});
