/** The list of all clusters and the record of one of them, each as it is: whichever call between them is lost or late, readers come to see what is there. */
import { describe, expect, it } from "vitest";
import { ClusterNames } from "../../src/tenancy/cluster-names";
import { ClusterRecord } from "../../src/tenancy/cluster-record";
import { CLUSTER_GONE } from "../../src/tenancy/rpc";
import { memoryNameStorage } from "../support/memory/name-storage";
import { memoryRecordStorage } from "../support/memory/record-storage";

type Fault = "lost before" | "lost after" | "late";
type Step = "open" | "open with ranges" | "remove" | "read" | "settle";

const FAULTS: readonly Fault[] = ["lost before", "lost after", "late"];

class World {
  readonly kept = memoryRecordStorage();
  readonly nameStorage = memoryNameStorage();
  readonly names = new ClusterNames({
    storage: this.nameStorage,
    clock: { now: () => 1, after: () => () => undefined },
    recorder: { log: () => undefined },
    readDirectory: () => Promise.resolve([]),
  });
  /** calls to the list so far, and which of them has a fault, counted from 1 */
  calls = 0;
  fault: { nth: number; kind: Fault } | undefined;
  /** effects that come later */
  readonly late: (() => Promise<unknown>)[] = [];
  record = this.#start();
  #stamps = 0;
  #now = 1_000;
  #alarm = false;

  #start(): ClusterRecord {
    return new ClusterRecord("blue", {
      storage: this.kept,
      clock: { now: () => this.#now++, sleep: () => Promise.resolve(), after: () => () => undefined, nextTurn: () => Promise.resolve() },
      recorder: { log: () => undefined },
      wakeAt: () => (this.#alarm = true),
      objects: () => [{ kind: "store", name: "services" }],
      wipe: () => Promise.reject(new Error(CLUSTER_GONE)),
      tell: () => Promise.resolve(),
      beginWith: () => this.#call(() => Promise.resolve(true)),
      tellQuotas: () => Promise.resolve(),
      noteControllers: () => Promise.resolve(),
      forget: () => Promise.resolve(),
      isInDirectory: () => Promise.resolve(false),
      newStamp: () => `stamp-${String(++this.#stamps)}`,
      enlist: (stamp) => this.#call(() => this.names.add("blue", stamp)),
      noteLife: (id, told) => this.#call(() => this.names.noteLife("blue", id, told)),
      unlist: (stamp) => this.#call(() => this.names.drop("blue", stamp)),
      noteBusy: () => undefined,
    });
  }

  async #call<T>(effect: () => Promise<T>): Promise<T> {
    const fault = ++this.calls === this.fault?.nth ? this.fault.kind : undefined;
    if (fault === "late") this.late.push(effect);
    const answer = fault === "late" || fault === "lost before" ? undefined : await effect();
    if (fault !== undefined) throw new Error("no answer");
    return answer as T;
  }

  /** The object starts anew where a call has failed. */
  async take(step: Step): Promise<void> {
    const before = this.calls;
    try {
      if (step === "open") await this.record.open();
      else if (step === "open with ranges") await this.record.openWith(["10.0.0.0/16"], undefined);
      else if (step === "remove") await this.record.remove();
      else if (step === "read") await this.read();
    } catch {
      // The client hears of it.
    }
    if (this.fault && this.fault.nth > before && this.fault.nth <= this.calls) this.restart();
    if (step !== "settle") return;
    for (let runs = 0; this.#alarm; runs++) {
      expect(runs).toBeLessThan(20);
      this.#alarm = false;
      await this.record.alarm();
    }
  }

  restart(): void {
    this.record = this.#start();
    this.record.resume();
  }

  async flush(): Promise<void> {
    for (const effect of this.late.splice(0)) await effect();
  }

  /** As GET /clusters does. Answers what it shows. */
  async read(): Promise<string[]> {
    const page = await this.names.page("", 10);
    const shown: string[] = [];
    for (const { name, stamp, facts } of page?.clusters ?? []) {
      const state = facts ? { phase: facts.deletedAt > 0 ? "deleting" : "active", id: facts.id } : await this.record.listed(stamp);
      if (state.phase !== "absent") shown.push(`${name} ${state.phase} ${"id" in state ? state.id : ""}`);
    }
    return shown;
  }

  async truth(): Promise<string[]> {
    const state = await this.record.look();
    return state.phase === "absent" ? [] : [`blue ${state.phase} ${state.id}`];
  }
}

const HISTORIES: Readonly<Record<string, readonly Step[]>> = {
  "begun, read": ["open", "read"],
  "begun by two, one after the other": ["open", "open", "read"],
  "begun with ranges, read": ["open with ranges", "read"],
  "begun with ranges, deleted, made anew with others": ["open with ranges", "read", "remove", "settle", "open with ranges", "read"],
  "being deleted": ["open", "remove"],
  "deleted, made anew": ["open", "remove", "settle", "open"],
  "deleted, made anew, read between": ["open", "remove", "settle", "read", "open", "read"],
  "deleted twice": ["open", "remove", "settle", "open", "remove", "settle"],
  "begun while it is deleted": ["open", "remove", "open", "settle", "open"],
};

describe.each(Object.entries(HISTORIES))("%s", (_, steps) => {
  it("no call is lost: the list shows what is there, and nobody has to ask", async () => {
    const world = new World();
    for (const step of steps) await world.take(step);
    const page = await world.names.page("", 10);
    expect([page?.clusters.every(({ facts }) => facts !== undefined), await world.read()]).toEqual([true, await world.truth()]);
  });

  const faults = FAULTS.flatMap((kind) => Array.from({ length: 10 }, (_unused, nth) => ({ nth: nth + 1, kind })));
  it.each(faults)("call $nth of the record to the list is $kind: no cluster is hidden, and the second reading is right", async (fault) => {
    for (let flushed = 0; flushed <= steps.length; flushed++) {
      const world = new World();
      world.fault = fault;
      for (const [index, step] of steps.entries()) {
        await world.take(step);
        if (index >= flushed) await world.flush();
        // Whoever looks for a cluster asks the list first.
        if ((await world.record.look()).phase === "active") expect(await world.names.areMade(["blue"])).toEqual([true]);
      }
      await world.flush();
      await world.take("settle");
      await world.read();
      expect([await world.read(), (await world.names.page("", 10))?.clusters.length], JSON.stringify(fault)).toEqual([
        await world.truth(),
        (await world.truth()).length,
      ]);
    }
  });
});

it.each([true, false])(
  "a reader whose question comes a life late (made anew before it: %s): the list has what is there, to the end",
  async (isAnew) => {
    const world = new World();
    await world.take("open");
    const [{ stamp = "" } = {}] = (await world.names.page("", 10))?.clusters ?? [];
    for (const step of ["remove", "settle"] as const) await world.take(step);
    if (isAnew) await world.take("open");
    await world.record.listed(stamp);
    if (!isAnew) await world.take("open");
    expect(await world.read()).toEqual(["blue active blue~2"]);
    for (const step of ["remove", "settle"] as const) await world.take(step);
    expect([await world.read(), await world.names.areMade(["blue"], true)]).toEqual([[], [false]]);
  },
);

it.each(["the record", "the list"])("%s was brought back in time: a reader has the two agree, and the end is the end", async (which) => {
  const world = new World();
  await world.take("open");
  if (which === "the record") world.kept.noteStamp("of-another-time");
  else world.nameStorage.saveEntry("blue", { stamp: "of-another-time" });
  world.kept.noteLife("");
  if (which === "the record") world.nameStorage.saveEntry("blue", { stamp: "stamp-1" });
  expect(await world.read()).toEqual(["blue active blue"]);
  for (const step of ["remove", "settle"] as const) await world.take(step);
  expect([await world.read(), await world.names.areMade(["blue"], true)]).toEqual([[], [false]]);
});

it("a life that ends: reads of the list show it as being deleted, and the id of no life is told", async () => {
  const world = new World();
  await world.take("open");
  expect(await world.names.areMade(["blue"], true)).toEqual(["blue"]);
  await world.take("remove");
  expect([await world.read(), await world.names.areMade(["blue"], true)]).toEqual([["blue deleting blue"], [true]]);
  await world.take("settle");
  expect([await world.read(), await world.names.areMade(["blue"], true)]).toEqual([[], [false]]);
});

it("a reader while the cluster begins: takes no name away", async () => {
  const world = new World();
  const { add } = world.names;
  let entered = (): void => undefined;
  world.names.add = async (name, stamp) => {
    await add.call(world.names, name, stamp);
    await new Promise<void>((resolve) => (entered = resolve));
  };
  const opening = world.record.open();
  for (let turn = 0; turn < 20 && !world.nameStorage.has("blue"); turn++) await Promise.resolve();
  expect(await world.read()).toEqual([]);
  entered();
  await opening;
  expect([await world.names.areMade(["blue"]), await world.read()]).toEqual([[true], ["blue active blue"]]);
});

it("clusters of the release before: the reader's question tells the list when they were made", async () => {
  const world = new World();
  // As that release has left them: a name with the id of its life, and the record's note of both.
  await world.names.add("blue");
  await world.names.noteLife("blue", "blue~3");
  world.kept.save({ name: "blue", life: 3, phase: "active", createdAt: 5_000, deletedAt: 0 });
  world.kept.noteStamp("");
  world.kept.noteLife("blue~3");
  expect(await world.read()).toEqual(["blue active blue~3"]);
  const facts = { id: "blue~3", createdAt: 5_000, deletedAt: 0 };
  expect((await world.names.page("", 10))?.clusters).toEqual([{ name: "blue", stamp: "", facts }]);
  await world.take("remove");
  await world.take("settle");
  expect((await world.names.page("", 10))?.clusters).toEqual([]);
  await world.take("open");
  expect(await world.read()).toEqual(["blue active blue~4"]);
});

it("a name that the release before has kept behind the end of its cluster: the first reader takes it out", async () => {
  const world = new World();
  await world.names.add("blue");
  world.kept.save({ name: "blue", life: 2, phase: "absent", createdAt: 0, deletedAt: 0 });
  world.kept.noteStamp("");
  expect([await world.read(), await world.names.areMade(["blue"])]).toEqual([[], [false]]);
  await world.take("open");
  expect([await world.read(), await world.names.areMade(["blue"], true)]).toEqual([["blue active blue~2"], ["blue~2"]]);
});
