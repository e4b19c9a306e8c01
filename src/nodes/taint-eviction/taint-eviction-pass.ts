/**
 * The pass of the taint eviction controller (upstream pkg/controller/tainteviction): Pods leave a Node with a NoExecute taint that they do not
 * tolerate, at once, or when the time for which they tolerate it is over.
 *
 * - The time counts from the moment in which this controller saw taint and Pod together. Timestamps in objects are ignored.
 * - An eviction keeps its time when the Pod's tolerations change, unless the Pod then tolerates the taints for ever, or not at all. It is cancelled
 *   when the taints or the Pod go, but not when the Node goes.
 * - Evictions are rows, so a controller that slept goes on with them. From WATCHED_MS before the next one there is a look every WATCH_MS. A look that
 *   is much too late shows that the server was away. Then every time counts anew, as after a restart of upstream's controller: so no Pod is evicted
 *   because the server itself was silent. A pass that takes long, or leaves work, is no absence.
 * - A Pod that is being deleted already is left alone. Upstream deletes it once more.
 *
 * Without tainted Nodes the Pods are not read.
 */
import { inParallel } from "../../core/base/in-parallel";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { EventReport } from "../../api/events/event-recorder";
import type { Pod } from "../../api/meta/kubernetes";
import { readObject } from "../../api/meta/read-object";
import { objectKey } from "../../api/store/state/keys";
import { type Pass, type PassResult, RETRY_MAX_MS } from "../../controllers/controller";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { FollowedStore } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import type { RowStorage } from "../../controllers/followed/row-storage";
import { evictedPods, tolerationsOf } from "./evicted-pods";
import { type Eviction, Evictions } from "./evictions";
import { disruptionCondition, podDeletion, statusPatch } from "../pods/pod-disruption";
import { PodWrites, type Written } from "../pods/pod-writes";
import { spacedPass } from "../pods/spaced-pass";
import { TaintedNodes } from "./tainted-nodes";
import { isIntolerant, toleratedSeconds } from "./tolerations";
import { Watch } from "../pods/watch";

/** Between two passes that pokes ask for. */
const SPACING_MS = 1_000;
/** How long before an eviction the looks begin, and the longest time between two of them. */
const WATCHED_MS = 5 * 60_000;
const WATCH_MS = 30_000;
/** How late a pass may be that names its next look while it goes on. */
const KEEP_MS = 5_000;
/** After this time a pass reads no other page and begins no other eviction. */
const BUDGET_MS = 60_000;
const EVICTED_AT_ONCE = 32;
/** How long a pass waits for its events to be written. */
const EVENTS_WAIT_MS = 1_000;

const MANAGER = "taint-eviction-controller";
const EVICTED = { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" };

export interface TaintEvictionPorts {
  clock: Clock;
  recorder: Recorder;
  storage: RowStorage;
  pods: WrittenStore;
  nodes: Pick<WrittenStore, "objectsSince" | "objectsAfter" | "objectsNamed">;
  events: { report(event: EventReport): void; flush(): Promise<void> };
}

export function taintEvictionPass(ports: TaintEvictionPorts): Pass {
  const evictor = new TaintEvictor(ports);
  return spacedPass(ports.clock, SPACING_MS, () => evictor.run());
}

class TaintEvictor {
  readonly #rows: KeptRows;
  readonly #nodes: TaintedNodes;
  readonly #pods: ReturnType<typeof evictedPods>;
  readonly #evictions: Evictions;
  readonly #watch: Watch;
  readonly #writes: PodWrites;
  readonly #nodeStore: FollowedStore;
  readonly #podStore: FollowedStore;
  #isLoaded = false;

  constructor(private readonly ports: TaintEvictionPorts) {
    const rows = (this.#rows = new KeptRows(ports.storage));
    this.#nodes = new TaintedNodes(rows);
    this.#pods = evictedPods(rows);
    this.#evictions = new Evictions(rows);
    this.#watch = new Watch(rows);
    this.#writes = new PodWrites(ports);
    this.#nodeStore = new FollowedStore("nodes", ports.nodes, this.#nodes.reader, rows, ports.recorder);
    this.#podStore = new FollowedStore("pods", ports.pods, this.#pods.reader, rows, ports.recorder);
  }

  async run(): Promise<PassResult> {
    const { clock, events } = this.ports;
    this.#load();
    this.#noteAbsence();
    const endsAt = clock.now() + BUDGET_MS;
    const mayGoOn = (): boolean => {
      this.#keepWatch();
      return clock.now() < endsAt;
    };
    // Rows that lack the latest changes are no reason to evict a Pod.
    const isDone = (await this.#pull(mayGoOn)) && (await this.#look(mayGoOn));
    const againAt = this.#nextLook();
    // The loop's own alarm asks for what is left.
    this.#watch.set(isDone || againAt === undefined ? againAt : clock.now() + RETRY_MAX_MS);
    this.#rows.save();
    await withTimeout(clock, EVENTS_WAIT_MS, events.flush()).catch(() => undefined);
    return isDone ? { left: false, againAt } : { left: true };
  }

  #load(): void {
    if (this.#isLoaded) return;
    this.#rows.load();
    this.#nodes.load();
    this.#evictions.load();
    this.#watch.load();
    this.#isLoaded = true;
  }

  #noteAbsence(): void {
    const lateMs = this.#watch.absenceMs(this.ports.clock.now());
    if (lateMs === undefined) return;
    const evictions = this.#evictions.all.size;
    this.ports.recorder.log("info", "evictions count anew after an absence", { evictions, lateMs });
    this.#evictions.dropAll();
  }

  /** A pass that takes long is not away. A save that fails here is made at its end. */
  #keepWatch(): void {
    const nowMs = this.ports.clock.now();
    if (this.#watch.lateMs(nowMs) <= KEEP_MS) return;
    this.#watch.set(nowMs + RETRY_MAX_MS);
    try {
      this.#rows.save();
    } catch {
      // as said above
    }
  }

  async #pull(mayGoOn: () => boolean): Promise<boolean> {
    if (!(await this.#nodeStore.pull(mayGoOn))) return false;
    if (this.#nodes.tainted.size + this.#evictions.all.size === 0) return true;
    this.#pods.load();
    return this.#podStore.pull(mayGoOn);
  }

  get #waiting(): (Eviction & { key: string })[] {
    return Array.from(this.#evictions.all, ([key, eviction]) => ({ key, ...eviction }));
  }

  /** Whether every Pod that was due has been evicted, except those whose writes were refused. */
  async #look(mayGoOn: () => boolean): Promise<boolean> {
    const nowMs = this.ports.clock.now();
    for (const key of [...this.#evictions.all.keys()]) this.#reconsider(key);
    for (const name of this.#nodes.tainted) for (const key of this.#pods.on(name)) this.#consider(key, nowMs);
    this.#writes.keep(this.#waiting);
    const due = this.#waiting.filter((eviction) => eviction.at <= nowMs && this.#writes.mayTry(eviction)).map(({ key }) => key);
    let isDone = true;
    await inParallel(due, EVICTED_AT_ONCE, async (key) => {
      const written = mayGoOn() ? await this.#evict(key) : "failed";
      if (written === "done") this.#evictions.drop(key);
      isDone &&= written !== "failed";
    });
    return isDone;
  }

  /** Ends an eviction that waits when its Pod is gone or being deleted, or its Node has no taints. */
  #reconsider(key: string): void {
    const eviction = this.#evictions.get(key);
    const pod = this.#pods.get(key);
    if (pod && pod.uid === eviction?.uid) {
      if (pod.isDeleting) this.#evictions.drop(key);
      else if (this.#nodes.get(pod.node)?.length === 0) this.#cancel(key);
    } else this.#cancel(key);
  }

  /** A Pod on a Node with taints (upstream processPodOnNode). */
  #consider(key: string, nowMs: number): void {
    const pod = this.#pods.get(key);
    if (!pod || pod.isDeleting) return;
    const taints = this.#nodes.get(pod.node) ?? [];
    const tolerations = tolerationsOf(pod);
    const waiting = this.#evictions.get(key);
    const { uid } = pod;
    if (isIntolerant(taints, tolerations)) {
      if (waiting && waiting.at <= nowMs) return;
      this.#cancel(key);
      this.#evictions.set(key, { uid, since: nowMs, at: nowMs });
      return;
    }
    const seconds = toleratedSeconds(taints, tolerations);
    if (seconds === Infinity) this.#cancel(key);
    else if (!waiting) this.#evictions.set(key, { uid, since: nowMs, at: nowMs + seconds * 1_000 });
  }

  #cancel(key: string): void {
    const eviction = this.#evictions.get(key);
    if (!eviction) return;
    this.#evictions.drop(key);
    this.#tell(key, eviction.uid, `Cancelling deletion of Pod ${key}`);
  }

  /** The Event comes first, once, as upstream. Never rejects. */
  async #evict(key: string): Promise<Written> {
    const { clock, pods } = this.ports;
    const eviction = this.#evictions.get(key);
    try {
      const [text] = await pods.objectsNamed([objectKey(key)]);
      if (text === null || !eviction) return "done";
      const pod = text === undefined ? undefined : readObject<Pod>(text);
      if (!pod) return "failed";
      const { uid } = eviction;
      if (pod.metadata?.uid !== uid || pod.metadata.deletionTimestamp) return "done";
      if (!eviction.isTold) this.#tell(key, uid, `Marking for deletion Pod ${key}`);
      this.#evictions.set(key, { ...eviction, isTold: true });
      const condition = disruptionCondition(pod, EVICTED, clock.now());
      const marks = condition ? [statusPatch(pod, { conditions: [condition] }, MANAGER)] : [];
      return await this.#writes.inOrder({ key, uid }, [...marks, podDeletion(pod, undefined)]);
    } catch {
      return "failed";
    }
  }

  #tell(key: string, uid: string, note: string): void {
    const regarding = { apiVersion: "v1", kind: "Pod", ...objectKey(key), uid };
    this.ports.events.report({ regarding, type: "Normal", reason: "TaintManagerEviction", action: "Eviction", note });
  }

  /** When the next look is due; undefined = no eviction waits. Never in the past. */
  #nextLook(): number | undefined {
    if (this.#evictions.all.size === 0) return undefined;
    const nowMs = this.ports.clock.now();
    const tried = this.#waiting.filter((eviction) => !this.#writes.isRefused(eviction));
    const soonest = tried.reduce((least, { at }) => Math.min(least, at), Infinity);
    const look = soonest > nowMs + WATCHED_MS ? soonest - WATCHED_MS : Math.min(soonest, nowMs + WATCH_MS);
    return Math.max(nowMs, Math.min(look, this.#writes.nextAt() ?? Infinity));
  }
}
