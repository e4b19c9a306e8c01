import { describe, expect, it } from "vitest";
import type { LabelledStore, ToldNamespace } from "../../../../src/api/rpc/namespace-labels";
import { namespacesDefinition } from "../../../../src/api/registry/namespaces/definition";
import type { StoreExtension } from "../../../../src/api/store/state/extension";
import type { HistoryBounds } from "../../../../src/api/store/state/revisions";
import { type LabelNote, LabelPushes, LABELS_WAIT_MS } from "../../../../src/controllers/namespaces/label-pushes";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { StoreWorld } from "../../../support/worlds/store-world";

type Labels = Record<string, string>;
type Send = (changed: ToldNamespace[] | null) => Promise<boolean>;

/** A store of Namespaces whose object may die anywhere, and what the store of Services has heard of it. */
class Told {
  readonly scheduler = new SimScheduler();
  readonly messages: (ToldNamespace[] | null)[] = [];
  /** what the other store knows */
  readonly known = new Map<string, { revision: number; labels: Labels | null }>();
  note: LabelNote | undefined;
  notes = 0;
  alarmAt = Infinity;
  fate: (take: () => boolean) => Promise<boolean> = (take) => Promise.resolve(take());
  /** the object dies when it writes this note, counted from now; what it would write then is lost */
  diesAtNote = Infinity;
  isWanted = true;
  isUnreadable = false;
  readonly world: StoreWorld;
  pushes!: LabelPushes;
  #life = 0;

  constructor(historyBounds?: HistoryBounds) {
    this.#begin();
    const extension = (): Partial<StoreExtension<undefined>> => this.#extension;
    this.world = new StoreWorld({
      definition: namespacesDefinition,
      scheduler: this.scheduler,
      extension: {
        committed: (change, operation) => extension().committed?.(change, operation),
        settled: (operation) => extension().settled?.(operation) ?? Promise.resolve(),
      },
      ...(historyBounds ? { historyBounds } : {}),
    });
  }

  #extension!: ReturnType<LabelPushes["extension"]>;

  /** The object dies, and begins again on the same rows. */
  restart(): void {
    this.diesAtNote = Infinity;
    this.#begin();
    this.world.restart();
  }

  #begin(): void {
    const life = ++this.#life;
    const isAlive = (): boolean => life === this.#life;
    const send: Send = async (changed) => {
      if (!isAlive()) return new Promise(() => undefined);
      return this.fate(() => this.#take(changed));
    };
    const services: LabelledStore = { takeNamespaceLabels: send };
    this.pushes = new LabelPushes({
      clock: this.scheduler.clock(isAlive),
      recorder: { log: () => undefined },
      notes: {
        labelNote: () => {
          if (this.isUnreadable) throw new Error("the disk cannot be read");
          return this.note;
        },
        labelNoteSave: (note) => {
          if (!isAlive() || ++this.notes >= this.diesAtNote) throw new Error("the object is dead");
          this.note = note;
        },
      },
      namespaces: () => this.world.store,
      services: () => services,
      wakeBy: (atMs) => (this.alarmAt = atMs),
    });
    this.#extension = this.pushes.extension();
  }

  #take(changed: ToldNamespace[] | null): boolean {
    this.messages.push(changed);
    if (changed === null) this.known.clear();
    for (const { name, revision, labels } of changed ?? []) {
      if ((this.known.get(name)?.revision ?? 0) < revision) this.known.set(name, { revision, labels });
    }
    return this.isWanted;
  }

  put(name: string, labels: Labels, more: object = {}): Promise<{ ok: boolean }> {
    const namespace = { metadata: { name, labels, ...more } };
    return this.world.stored(name) ? this.world.update(namespace, { group: "" }) : this.world.create(namespace, { group: "" });
  }

  /** The alarm goes off, as long as there is one. */
  async alarms(): Promise<void> {
    for (let i = 0; i < 20 && this.alarmAt < Infinity; i++) {
      this.alarmAt = Infinity;
      await this.scheduler.run(this.pushes.tell());
    }
  }

  labelsOf(name: string): Labels | undefined {
    // The name is a label of every namespace.
    const { "kubernetes.io/metadata.name": _, ...labels } = this.known.get(name)?.labels ?? {};
    return this.known.has(name) ? labels : undefined;
  }
}

const lost = (): Promise<boolean> => Promise.reject(new Error("the call was lost"));

describe("what the store of Services is told", () => {
  it("nothing, and nothing is noted, until it asks", async () => {
    const told = new Told();
    await told.put("a", { tenant: "a" });
    expect([told.messages, told.notes, told.alarmAt]).toEqual([[], 0, Infinity]);
  });

  it("each change of labels, before the answer; no other change", async () => {
    const told = new Told();
    await told.put("a", { tenant: "a" });
    told.pushes.ask();
    await told.put("a", { tenant: "b" });
    expect(told.labelsOf("a")).toEqual({ tenant: "b" });
    const count = told.messages.length;
    await told.put("a", { tenant: "b" }, { annotations: { x: "y" } });
    expect(told.messages).toHaveLength(count);
    await told.put("new", {});
    await told.put("newer", { tenant: "c" });
    expect(told.labelsOf("newer")).toEqual({ tenant: "c" });
  });

  it("no more once it wants no more; a question since the message left counts", async () => {
    const told = new Told();
    told.pushes.ask();
    told.isWanted = false;
    await told.put("a", { tenant: "a" });
    expect(told.note?.isWanted).toBe(false);
    await told.put("a", { tenant: "b" });
    expect(told.messages).toHaveLength(1);
    told.pushes.ask();
    told.fate = (take) => {
      const answer = take();
      told.pushes.ask();
      return Promise.resolve(answer);
    };
    await told.put("a", { tenant: "c" });
    expect(told.note?.isWanted).toBe(true);
  });

  it("a store that does not answer: the client waits no longer than it must, and the alarm tells", async () => {
    const told = new Told();
    told.pushes.ask();
    told.fate = () => new Promise(() => undefined);
    const began = told.scheduler.now;
    expect(await told.put("a", { tenant: "a" })).toMatchObject({ ok: true });
    expect(told.scheduler.now - began).toBeLessThanOrEqual(LABELS_WAIT_MS);
    expect(told.alarmAt).toBeLessThan(Infinity);
    told.restart();
    told.fate = (take) => Promise.resolve(take());
    await told.alarms();
    expect(told.labelsOf("a")).toEqual({ tenant: "a" });
  });

  it("a lost answer: is told again, and changes nothing", async () => {
    const told = new Told();
    told.pushes.ask();
    told.fate = (take) => (take(), lost());
    await told.put("a", { tenant: "a" });
    told.fate = (take) => Promise.resolve(take());
    await told.alarms();
    expect(told.messages).toHaveLength(2);
    expect(told.messages[1]).toEqual(told.messages[0]);
  });

  it("a history that no longer reaches back: that it has to ask again", async () => {
    const told = new Told({ entriesMax: 3, sizeMax: 1_000_000, trimEntries: 1 });
    told.pushes.ask();
    told.fate = lost;
    for (let i = 0; i < 8; i++) await told.put("a", { tenant: String(i) });
    told.fate = (take) => Promise.resolve(take());
    await told.alarms();
    expect(told.messages.at(-1)).toBeNull();
  });

  it("a store that was brought back in time: that it has to ask again", async () => {
    const told = new Told();
    told.pushes.ask();
    told.pushes.beginAnew();
    await told.scheduler.run(told.pushes.tell());
    expect(told.messages).toEqual([null]);
  });
});

describe("a disk that cannot be read", () => {
  it("behind a return in time: nobody is left with a rejection, and the alarm tells", async () => {
    const told = new Told();
    told.pushes.ask();
    told.fate = () => {
      told.pushes.extension().turnLost?.();
      told.isUnreadable = true;
      return Promise.resolve(true);
    };
    told.pushes.beginAnew();
    await told.scheduler.run(expect(told.pushes.tell()).rejects.toThrow("the disk cannot be read"));
    expect(told.alarmAt).toBeLessThan(Infinity);
    told.isUnreadable = false;
    told.fate = (take) => Promise.resolve(take());
    await told.alarms();
    expect(told.messages).toEqual([null]);
  });
});

describe("the object dies", () => {
  it.each([
    ["when it has committed the change, before the message leaves", () => new Promise<boolean>(() => undefined)],
    ["when the message has arrived, before its answer comes", (take: () => boolean) => (take(), new Promise<boolean>(() => undefined))],
  ])("%s: the next life tells it by the alarm", async (_, fate) => {
    const told = new Told();
    await told.put("a", { tenant: "a" });
    told.pushes.ask();
    told.fate = fate;
    await told.put("a", { tenant: "b" });
    told.restart();
    expect(told.alarmAt).toBeLessThan(Infinity);
    told.fate = (take) => Promise.resolve(take());
    await told.alarms();
    expect(told.labelsOf("a")).toEqual({ tenant: "b" });
    expect(told.note?.told).toBe(told.world.store.revision);
  });

  it("when it notes what was told: the next life tells it again", async () => {
    const told = new Told();
    await told.put("a", { tenant: "a" });
    told.pushes.ask();
    // The first note is the change's own.
    told.diesAtNote = told.notes + 2;
    await told.put("a", { tenant: "b" });
    expect(told.messages).toHaveLength(1);
    told.restart();
    await told.alarms();
    expect(told.messages).toHaveLength(2);
    expect(told.labelsOf("a")).toEqual({ tenant: "b" });
    await told.alarms();
    expect(told.messages).toHaveLength(2);
  });
});
