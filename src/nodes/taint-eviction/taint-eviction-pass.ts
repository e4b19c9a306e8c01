/**
 * The pass of the taint eviction controller (upstream pkg/controller/tainteviction). Pods leave a Node with a NoExecute taint that they do not
 * tolerate. They leave at once, or when the time for which they tolerate it is over.
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
import type { EventReport } from "../../api/events/event-recorder";
import type { Pod } from "../../api/meta/kubernetes";
import { readObject } from "../../api/meta/read-object";
import { objectKey } from "../../api/store/state/keys";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { FollowedStore } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import type { RowStorage } from "../../controllers/followed/row-storage";
import type { Pass } from "../../controllers/frame/controller";
import { Frame, type FramePorts } from "../../controllers/frame/frame";
import { isOver, type Outcome } from "../../controllers/frame/round";
import { Watch } from "../../controllers/frame/watch";
import { evictedPods, tolerationsOf } from "./evicted-pods";
import { type TimedEviction, Evictions } from "./evictions";
import { disruptionCondition, podDeletion, statusPatch } from "../pods/pod-disruption";
import { nameOfPod, writtenInOrder } from "../pods/pod-writes";
import { TaintedNodes } from "./tainted-nodes";
import { isIntolerant, toleratedSeconds } from "./tolerations";

/** Between two passes that pokes ask for. */
const SPACING_MS = 1_000;
/** How long before an eviction the looks begin, and the longest time between two of them. */
const WATCHED_MS = 5 * 60_000;
const WATCH_MS = 30_000;
const EVICTED_AT_ONCE = 32;

const MANAGER = "taint-eviction-controller";
const EVICTED = { reason: "DeletionByTaintManager", message: "Taint manager: deleting due to NoExecute taint" };

export interface TaintEvictionPorts extends FramePorts {
  storage: RowStorage;
  pods: WrittenStore;
  nodes: Pick<WrittenStore, "objectsSince" | "objectsAfter" | "objectsNamed">;
  events: { report(event: EventReport): void; flush(): Promise<void> };
}

type Waiting = TimedEviction & { readonly key: string };

export function taintEvictionPass({ storage, ...ports }: TaintEvictionPorts): Pass {
  const evictor = new TaintEvictor(ports, new KeptRows(storage));
  return evictor.frame.pass;
}

class TaintEvictor {
  readonly frame: Frame<Waiting>;
  readonly #nodes: TaintedNodes;
  readonly #pods: ReturnType<typeof evictedPods>;
  readonly #evictions: Evictions;
  readonly #nodeStore: FollowedStore;
  readonly #podStore: FollowedStore;

  constructor(
    private readonly ports: Omit<TaintEvictionPorts, "storage">,
    rows: KeptRows,
  ) {
    this.#nodes = new TaintedNodes(rows);
    this.#pods = evictedPods(rows);
    this.#evictions = new Evictions(rows);
    this.#nodeStore = new FollowedStore("nodes", ports.nodes, this.#nodes.reader, rows, ports.recorder);
    this.#podStore = new FollowedStore("pods", ports.pods, this.#pods.reader, rows, ports.recorder);
    const watch = new Watch(rows);
    this.frame = new Frame<Waiting>(ports, {
      rows,
      keeps: [this.#nodes, this.#evictions, watch],
      follows: () => this.#follows(),
      work: {
        plan: () => this.#plan(),
        write: (eviction) => this.#write(eviction),
        nameOf: nameOfPod,
        atOnce: EVICTED_AT_ONCE,
      },
      due: (isRefused) => this.#nextLook(isRefused),
      absence: { watch, isWaiting: () => this.#evictions.all.size > 0, away: (lateMs) => this.#countAnew(lateMs) },
      waiting: () => this.#evictions.all.size,
      events: ports.events,
      everyMs: SPACING_MS,
    });
  }

  *#follows(): Iterable<FollowedStore> {
    yield this.#nodeStore;
    if (this.#nodes.tainted.size + this.#evictions.all.size === 0) return;
    this.#pods.load();
    yield this.#podStore;
  }

  #countAnew(lateMs: number): void {
    const evictions = this.#evictions.all.size;
    this.ports.recorder.log("info", "evictions count anew after an absence", { evictions, lateMs });
    this.#evictions.dropAll();
  }

  get #waiting(): Waiting[] {
    return Array.from(this.#evictions.all, ([key, eviction]) => ({ key, ...eviction }));
  }

  #plan(): Waiting[] {
    const nowMs = this.ports.clock.now();
    for (const key of [...this.#evictions.all.keys()]) this.#reconsider(key);
    for (const name of this.#nodes.tainted) for (const key of this.#pods.on(name)) this.#consider(key, nowMs);
    return this.#waiting.filter(({ at }) => at <= nowMs);
  }

  async #write({ key }: Waiting): Promise<Outcome> {
    const outcome = await this.#evict(key);
    if (isOver(outcome)) this.#evictions.drop(key);
    return outcome;
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

  /** The Event comes first, once, as upstream. */
  async #evict(key: string): Promise<Outcome> {
    const { clock, pods } = this.ports;
    const eviction = this.#evictions.get(key);
    const [text] = await pods.objectsNamed([objectKey(key)]);
    if (text === null || !eviction) return "none";
    const pod = text === undefined ? undefined : readObject<Pod>(text);
    if (!pod) return "later";
    const { uid } = eviction;
    if (pod.metadata?.uid !== uid || pod.metadata.deletionTimestamp) return "none";
    if (!eviction.isTold) this.#tell(key, uid, `Marking for deletion Pod ${key}`);
    this.#evictions.set(key, { ...eviction, isTold: true });
    const condition = disruptionCondition(pod, EVICTED, clock.now());
    const marks = condition ? [statusPatch(pod, { conditions: [condition] }, MANAGER)] : [];
    return writtenInOrder(pods, [...marks, podDeletion(pod, undefined)]);
  }

  #tell(key: string, uid: string, note: string): void {
    const regarding = { apiVersion: "v1", kind: "Pod", ...objectKey(key), uid };
    this.ports.events.report({ regarding, type: "Normal", reason: "TaintManagerEviction", action: "Eviction", note });
  }

  /** When the next look is due; undefined = no eviction waits. Never in the past. */
  #nextLook(isRefused: (name: string) => boolean): number | undefined {
    if (this.#evictions.all.size === 0) return undefined;
    const nowMs = this.ports.clock.now();
    const tried = this.#waiting.filter((eviction) => !isRefused(nameOfPod(eviction)));
    const soonest = tried.reduce((least, { at }) => Math.min(least, at), Infinity);
    const look = soonest > nowMs + WATCHED_MS ? soonest - WATCHED_MS : Math.min(soonest, nowMs + WATCH_MS);
    return Math.max(nowMs, look);
  }
}
