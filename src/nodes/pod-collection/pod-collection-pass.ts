/**
 * The pass of the Pod garbage collector. It keeps what it has to know of Pods and Nodes in rows of its own, and reads on in the histories of their
 * stores at most once in SCAN_PERIOD_MS, however much changes. Without rows it would have to read every Pod each time, on the thread that writes
 * statuses.
 *
 * A status of a living Pod asks for no pass: a filter in the Pods' store drops the change, in half a microsecond together with the evictor's filter.
 * The next pass, which some other change or cron asks for, reads such a status in 6 microseconds, by a search in its text.
 *
 * Everything follows from the stored objects. A crash loses nothing: the next poke, alarm or cron finds the same. There is an alarm only while a Pod
 * waits for a time.
 */
import { leastOf } from "../../core/base/extremes";
import { inParallel } from "../../core/base/in-parallel";
import type { Clock, Recorder } from "../../core/base/ports";
import type { Pod } from "../../api/meta/kubernetes";
import { readObject } from "../../api/meta/read-object";
import type { WriteRequest } from "../../api/rpc/store";
import { objectKey } from "../../api/store/state/keys";
import { type Pass, type PassResult, RETRY_MAX_MS } from "../../controllers/controller";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { FollowedStore } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import type { RowStorage } from "../../controllers/followed/row-storage";
import { type CollectedNodes, collectedNodes } from "./collected-nodes";
import { collectedPod, CollectedPods, isEnded } from "./collected-pods";
import { type CollectionClass, collectionOf, type CollectionSetting, isSamePod } from "./collection-rules";
import { MissingNodes } from "./missing-nodes";
import { disruptionCondition, podDeletion, statusPatch } from "../pods/pod-disruption";
import { type PodIdentity, PodWrites, type Written } from "../pods/pod-writes";
import { spacedPass } from "../pods/spaced-pass";
import { Watch } from "../pods/watch";

/** Upstream's gcCheckPeriod. It is also the longest time between two looks while a quarantine lasts. */
const SCAN_PERIOD_MS = 20_000;
/** After this time a pass reads no other page and begins no other deletion. */
const BUDGET_MS = 60_000;
const DELETED_AT_ONCE = 32;

const MANAGER = "pod-garbage-collector";
const ORPHANED = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };

export interface PodCollectionPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  storage: RowStorage;
  pods: WrittenStore;
  nodes: Pick<WrittenStore, "objectsSince" | "objectsAfter" | "objectsNamed">;
}

export function podCollectionPass(ports: PodCollectionPorts, setting: CollectionSetting): Pass {
  const collector = new PodCollector(ports, setting);
  return spacedPass(ports.clock, SCAN_PERIOD_MS, () => collector.run());
}

class PodCollector {
  readonly #rows: KeptRows;
  readonly #pods: CollectedPods;
  readonly #nodes: CollectedNodes;
  readonly #missing: MissingNodes;
  readonly #watch: Watch;
  readonly #writes: PodWrites;
  readonly #followed: readonly FollowedStore[];
  #isLoaded = false;

  constructor(
    private readonly ports: PodCollectionPorts,
    private readonly setting: CollectionSetting,
  ) {
    const rows = (this.#rows = new KeptRows(ports.storage));
    this.#pods = new CollectedPods(rows);
    this.#nodes = collectedNodes(rows);
    this.#missing = new MissingNodes(rows);
    this.#watch = new Watch(rows);
    this.#writes = new PodWrites(ports);
    // Pods first: a Node that was there before its Pods is known with them.
    this.#followed = [
      new FollowedStore("pods", ports.pods, this.#pods.reader, rows, ports.recorder),
      new FollowedStore("nodes", ports.nodes, this.#nodes.reader, rows, ports.recorder),
    ];
  }

  async run(): Promise<PassResult> {
    const { clock } = this.ports;
    this.#load();
    if (this.#watch.absenceMs(clock.now()) !== undefined) this.#missing.startAllAnew(clock.now());
    const endsAt = clock.now() + BUDGET_MS;
    const mayGoOn = (): boolean => clock.now() < endsAt;
    const isCurrent = await this.#pull(mayGoOn);
    // Rows that lack the latest changes are no reason to delete a Pod.
    const result = isCurrent ? await this.#collect(mayGoOn) : { left: true };
    const nextAt = result.left ? clock.now() + RETRY_MAX_MS : result.againAt;
    this.#watch.set(this.#missing.isEmpty ? undefined : nextAt);
    this.#rows.save();
    return result;
  }

  #load(): void {
    if (this.#isLoaded) return;
    this.#rows.load();
    this.#pods.load();
    this.#nodes.load();
    this.#missing.load();
    this.#watch.load();
    this.#isLoaded = true;
  }

  async #pull(mayGoOn: () => boolean): Promise<boolean> {
    for (const store of this.#followed) if (!(await store.pull(mayGoOn))) return false;
    return true;
  }

  async #collect(mayGoOn: () => boolean): Promise<PassResult> {
    const { clock, recorder } = this.ports;
    const goneNodes = await this.#goneNodes();
    const { due, againAt } = collectionOf({ pods: this.#pods, nodes: this.#nodes, goneNodes }, this.setting, clock.now());
    const counts: Partial<Record<CollectionClass, number>> = {};
    let isLeft = false;
    const identityOf = (key: string): PodIdentity => ({ key, uid: this.#pods.get(key)?.uid ?? "" });
    this.#writes.keep(Array.from(due.keys(), identityOf));
    const tried = [...due].filter(([key]) => this.#writes.mayTry(identityOf(key)));
    await inParallel(tried, DELETED_AT_ONCE, async ([key, why]) => {
      const written = mayGoOn() ? await this.#delete(key, why) : "failed";
      if (written === "done") counts[why] = (counts[why] ?? 0) + 1;
      isLeft ||= written === "failed";
    });
    if (Object.keys(counts).length > 0) recorder.log("info", "pods were collected", counts);
    if (isLeft) return { left: true };
    const ends = [againAt, this.#nextLook(), this.#writes.nextAt()].filter((at) => at !== undefined);
    return ends.length > 0 ? { left: false, againAt: leastOf(ends) } : { left: false };
  }

  /** undefined = no Node is in quarantine */
  #nextLook(): number | undefined {
    const nowMs = this.ports.clock.now();
    const end = this.#missing.nextEnd(nowMs);
    return end === undefined ? undefined : Math.min(end, nowMs + SCAN_PERIOD_MS);
  }

  /** The Nodes that have been missing for the quarantine, and of which their store has none now. */
  async #goneNodes(): Promise<string[]> {
    const { clock, nodes } = this.ports;
    const names = [...this.#pods.nodes].filter((name) => !this.#nodes.get(name));
    this.#missing.set(new Set(names), clock.now());
    const asked = this.#missing.outOfQuarantine(clock.now());
    const texts = asked.length > 0 ? await nodes.objectsNamed(asked.map((name) => ({ namespace: "", name }))) : [];
    return asked.filter((name, i) => {
      if (texts[i]) this.#missing.startAnew(name, clock.now());
      return texts[i] === null;
    });
  }

  /** A Pod that was changed meanwhile is judged anew by the next pass. Never rejects. */
  async #delete(key: string, why: CollectionClass): Promise<Written> {
    const { clock, pods } = this.ports;
    try {
      const [text] = await pods.objectsNamed([objectKey(key)]);
      if (text === null) return "done";
      const pod = text === undefined ? undefined : readObject<Pod>(text);
      if (!pod || !isSamePod(collectedPod(pod), this.#pods.get(key))) return "failed";
      const requests: WriteRequest[] = [podDeletion(pod, 0)];
      if (!isEnded(pod.status?.phase ?? "")) requests.unshift(failedPatch(pod, why, clock.now()));
      return await this.#writes.inOrder({ key, uid: pod.metadata?.uid ?? "" }, requests);
    } catch {
      return "failed";
    }
  }
}

/** A Pod whose end nobody will report has failed (upstream markFailedAndDeletePodWithCondition). */
function failedPatch(pod: Pod, why: CollectionClass, nowMs: number): WriteRequest {
  const condition = why === "orphaned" ? disruptionCondition(pod, ORPHANED, nowMs) : undefined;
  const observedGeneration = pod.metadata?.generation;
  const status = {
    phase: "Failed",
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(condition ? { conditions: [condition] } : {}),
  };
  return statusPatch(pod, status, MANAGER);
}
