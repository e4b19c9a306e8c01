/**
 * The pass of the Pod garbage collector. Rows of its own have what it must know of Pods and Nodes. It reads on in the histories of their stores at most
 * once in SCAN_PERIOD_MS, however much changes. Without rows it would have to read every Pod each time, on the thread that writes
 * statuses.
 *
 * A status of a living Pod asks for no pass: a filter in the Pods' store drops the change, in half a microsecond together with the evictor's filter.
 * The next pass, which some other change or cron asks for, reads such a status in 6 microseconds, by a search in its text.
 *
 * There is an alarm only while a Pod waits for a time.
 */
import { leastOf } from "../../core/base/extremes";
import type { Pod } from "../../api/meta/kubernetes";
import { readObject } from "../../api/meta/read-object";
import type { WriteRequest } from "../../api/rpc/store";
import { objectKey } from "../../api/store/state/keys";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { FollowedStore } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import type { RowStorage } from "../../controllers/followed/row-storage";
import type { Pass } from "../../controllers/frame/controller";
import { Frame, type FramePorts } from "../../controllers/frame/frame";
import { isOver, type Outcome } from "../../controllers/frame/round";
import { Watch } from "../../controllers/frame/watch";
import { collectedNodes } from "./collected-nodes";
import { collectedPod, CollectedPods, isEnded } from "./collected-pods";
import { type CollectionClass, collectionOf, type CollectionSetting, isSamePod } from "./collection-rules";
import { MissingNodes } from "./missing-nodes";
import { disruptionCondition, podDeletion, statusPatch } from "../pods/pod-disruption";
import { nameOfPod, writtenInOrder } from "../pods/pod-writes";

/** Upstream's gcCheckPeriod. It is also the longest time between two looks while a quarantine lasts. */
const SCAN_PERIOD_MS = 20_000;
const DELETED_AT_ONCE = 32;

const MANAGER = "pod-garbage-collector";
const ORPHANED = { reason: "DeletionByPodGC", message: "PodGC: node no longer exists" };

export interface PodCollectionPorts extends FramePorts {
  storage: RowStorage;
  pods: WrittenStore;
  nodes: Pick<WrittenStore, "objectsSince" | "objectsAfter" | "objectsNamed">;
}

type Collected = readonly [key: string, why: CollectionClass];

export function podCollectionPass({ storage, ...ports }: PodCollectionPorts, setting: CollectionSetting): Pass {
  const { clock, recorder } = ports;
  const rows = new KeptRows(storage);
  const pods = new CollectedPods(rows);
  const nodes = collectedNodes(rows);
  const missing = new MissingNodes(rows);
  const watch = new Watch(rows);
  // Pods first: a Node that was there before its Pods is known with them.
  const stores = [
    new FollowedStore("pods", ports.pods, pods.reader, rows, recorder),
    new FollowedStore("nodes", ports.nodes, nodes.reader, rows, recorder),
  ];
  /** of this pass */
  let counts: Partial<Record<CollectionClass, number>> = {};
  let ripeAt: number | undefined;

  async function plan(): Promise<Iterable<Collected>> {
    const goneNodes = await missingForLong();
    const { due, againAt } = collectionOf({ pods, nodes, goneNodes }, setting, clock.now());
    ripeAt = againAt;
    return due;
  }

  /** The Nodes that have been missing for the quarantine, and of which their store has none now. */
  async function missingForLong(): Promise<string[]> {
    const names = [...pods.nodes].filter((name) => !nodes.get(name));
    missing.set(new Set(names), clock.now());
    const asked = missing.outOfQuarantine(clock.now());
    const texts = asked.length > 0 ? await ports.nodes.objectsNamed(asked.map((name) => ({ namespace: "", name }))) : [];
    return asked.filter((name, i) => {
      if (texts[i]) missing.startAnew(name, clock.now());
      return texts[i] === null;
    });
  }

  /** A Pod that was changed meanwhile is judged anew by the next pass. */
  async function remove(key: string, why: CollectionClass): Promise<Outcome> {
    const [text] = await ports.pods.objectsNamed([objectKey(key)]);
    if (text === null) return "none";
    const pod = text === undefined ? undefined : readObject<Pod>(text);
    if (!pod || !isSamePod(collectedPod(pod), pods.get(key))) return "later";
    const failed = isEnded(pod.status?.phase ?? "") ? [] : [failedPatch(pod, why, clock.now())];
    return writtenInOrder(ports.pods, [...failed, podDeletion(pod, 0)]);
  }

  return new Frame<Collected>(ports, {
    rows,
    keeps: [pods, nodes, missing, watch],
    follows: () => stores,
    work: {
      plan,
      async write([key, why]) {
        const outcome = await remove(key, why);
        if (isOver(outcome)) counts[why] = (counts[why] ?? 0) + 1;
        return outcome;
      },
      nameOf: ([key]) => nameOfPod({ key, uid: pods.get(key)?.uid ?? "" }),
      atOnce: DELETED_AT_ONCE,
    },
    due() {
      const nowMs = clock.now();
      const end = missing.nextEnd(nowMs);
      const times = [ripeAt, end && Math.min(end, nowMs + SCAN_PERIOD_MS)].filter((at) => at !== undefined);
      return times.length > 0 ? leastOf(times) : undefined;
    },
    ended() {
      if (Object.keys(counts).length > 0) recorder.log("info", "pods were collected", counts);
      counts = {};
    },
    absence: { watch, isWaiting: () => !missing.isEmpty, away: () => missing.startAllAnew(clock.now()) },
    everyMs: SCAN_PERIOD_MS,
  }).pass;
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
