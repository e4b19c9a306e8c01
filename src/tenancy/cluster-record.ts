/**
 * The record of one cluster name: whether the cluster exists, which life of the name it is, and a deletion under way.
 *
 *   absent ── open ──► active ── remove ──► deleting ── every object wiped, keys forgotten ──► absent, of the next life
 *
 * What must hold
 * - An object of a cluster is called only under the id of a life that this record has opened.
 * - A deletion ends. Its work is stored as rows; after a crash the object's alarm continues where it stopped. Each step may be repeated.
 * - A wiped object stays wiped: it refuses every call for ever, and the next life has objects of other names. So a deletion waits for no
 *   late call, and no late call brings data back.
 */
import { inParallel } from "../core/base/in-parallel";
import type { Clock, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { CLUSTER_GONE, DIRECTORY_SILENT, type ClusterRecordRpc, type ClusterState } from "./rpc";
import { clusterId } from "./cluster-id";
import type { ClusterObject, RecordRow, RecordStorage } from "./record-storage";

/** Objects wiped at the same time: enough to be quick, few enough for the connections that one invocation may have open. */
const WIPED_TOGETHER = 6;
/** Objects of one run, within the calls that one invocation may make; the alarm begins the next run. */
const WIPED_PER_RUN = 300;
/** How often an object may name further owners. Ranges that are made during the deletion have new ones. */
const LISTINGS_MAX = 20;
/** Dropping many rows takes longer than a usual call. */
const WIPE_TIMEOUT_MS = 30_000;
const DIRECTORY_TIMEOUT_MS = 5_000;
const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 30_000;

export interface RecordPorts {
  storage: RecordStorage;
  clock: Clock;
  recorder: Recorder;
  /** the object's alarm, durable with the writes of the turn */
  wakeAt(atMs: number): void;
  /** what a cluster consists of, besides owners */
  objects(): readonly ClusterObject[];
  /** `Wipeable.wipe` of one object */
  wipe(id: string, object: ClusterObject, listed: string[]): Promise<string[]>;
  /** removes what the directory has under the id, copies included */
  forget(id: string): Promise<void>;
  /** whether the directory knows a cluster of this id */
  isInDirectory(id: string): Promise<boolean>;
  /** lets cron visit the cluster soon; may be lost */
  noteBusy(id: string): void;
}

export class ClusterRecord implements ClusterRecordRpc {
  #attempt = 0;
  #running: Promise<void> | undefined;

  constructor(
    private readonly name: string,
    private readonly ports: RecordPorts,
  ) {}

  /** To be called when the object starts: a deletion continues, also without its alarm (rule 19). */
  resume(): void {
    if (this.ports.storage.load()?.phase === "deleting") this.ports.wakeAt(this.ports.clock.now());
  }

  async look(): Promise<ClusterState> {
    await this.#learn();
    return this.#stateOf(this.ports.storage.load());
  }

  async open(): Promise<{ state: ClusterState; opened: boolean }> {
    const { storage, clock } = this.ports;
    await this.#learn();
    const row = storage.load();
    const { name } = this;
    const opened = !row || row.phase === "absent";
    if (opened) storage.save({ name, life: row?.life ?? 1, phase: "active", createdAt: clock.now(), deletedAt: 0 });
    return { state: this.#stateOf(storage.load()), opened };
  }

  async remove(): Promise<ClusterState> {
    const { storage, clock } = this.ports;
    await this.#learn();
    const row = storage.load();
    if (row?.phase === "active") {
      const id = clusterId(this.name, row.life);
      storage.transaction(() => {
        storage.save({ ...row, phase: "deleting", deletedAt: clock.now() });
        storage.objectsAdd(this.ports.objects());
      });
      this.ports.wakeAt(clock.now());
      this.ports.noteBusy(id);
    }
    return this.#stateOf(storage.load());
  }

  async carryOn(id: string): Promise<void> {
    const row = this.ports.storage.load();
    const isLiving = row !== undefined && row.phase !== "absent" && clusterId(this.name, row.life) === id;
    if (!isLiving) await this.ports.forget(id);
    else if (row.phase === "deleting") this.ports.wakeAt(this.ports.clock.now());
  }

  /** The object's alarm: continues the deletion. Never rejects. */
  alarm(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** A cluster that is older than records gets its record at the first look. Rejects with DIRECTORY_SILENT while the directory does not answer. */
  async #learn(): Promise<void> {
    const { storage, clock } = this.ports;
    if (storage.load()) return;
    const asked = this.ports.isInDirectory(clusterId(this.name, 1));
    const entered = await withTimeout(clock, DIRECTORY_TIMEOUT_MS, asked).catch((error: unknown) => {
      throw new Error(`${DIRECTORY_SILENT}: ${String(error)}`, { cause: error });
    });
    if (entered && !storage.load()) storage.save({ name: this.name, life: 1, phase: "active", createdAt: clock.now(), deletedAt: 0 });
  }

  #stateOf(row: RecordRow | undefined): ClusterState {
    if (!row || row.phase === "absent") return { phase: "absent" };
    const { phase, createdAt, deletedAt } = row;
    const id = clusterId(this.name, row.life);
    if (phase === "active") return { phase, id, createdAt };
    return { phase, id, createdAt, deletedAt, ...this.ports.storage.objectCounts() };
  }

  async #run(): Promise<void> {
    const { storage, clock, recorder } = this.ports;
    const row = storage.load();
    if (row?.phase !== "deleting") return;
    const id = clusterId(this.name, row.life);
    let failures = 0;
    try {
      failures = await this.#wipeSome(id);
      if (failures === 0 && storage.objectsLeft(1).length === 0) {
        await withTimeout(clock, DIRECTORY_TIMEOUT_MS, this.ports.forget(id));
        storage.transaction(() => {
          storage.objectsClear();
          storage.save({ ...row, life: row.life + 1, phase: "absent", createdAt: 0, deletedAt: 0 });
        });
        recorder.log("info", "cluster deleted", { id });
        this.#attempt = 0;
        return;
      }
    } catch (error) {
      failures++;
      recorder.log("warn", "deletion of a cluster failed", { id, error: String(error) });
    }
    if (failures === 0) this.#attempt = 0;
    const delayMs = failures > 0 ? Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempt++) : 0;
    this.ports.wakeAt(clock.now() + delayMs);
    if (failures > 0) this.ports.noteBusy(id);
  }

  /** Wipes the objects in their order, a few at a time. A failure stops no other object. Answers the number of failures. */
  async #wipeSome(id: string): Promise<number> {
    const { storage, recorder } = this.ports;
    let failures = 0;
    await inParallel(storage.objectsLeft(WIPED_PER_RUN), WIPED_TOGETHER, async (object) => {
      try {
        await this.#wipeOne(id, object);
        storage.objectWiped(object);
      } catch (error) {
        failures++;
        recorder.log("warn", "an object could not be wiped", { id, kind: object.kind, name: object.name, error: String(error) });
      }
    });
    return failures;
  }

  async #wipeOne(id: string, object: ClusterObject): Promise<void> {
    const { storage, clock } = this.ports;
    for (let listing = 0; listing < LISTINGS_MAX; listing++) {
      let unlisted: string[];
      try {
        unlisted = await withTimeout(clock, WIPE_TIMEOUT_MS, this.ports.wipe(id, object, storage.objectsNamed("owner")));
      } catch (error) {
        if (String(error).includes(CLUSTER_GONE)) return;
        throw error;
      }
      // Durable before the next question to the only object that knows them.
      storage.objectsAdd(unlisted.map((name): ClusterObject => ({ kind: "owner", name })));
    }
    throw new Error("its owners of addresses keep growing in number");
  }
}
