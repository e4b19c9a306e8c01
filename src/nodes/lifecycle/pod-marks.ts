/**
 * Takes Ready from the Pods of Nodes that left Ready, and from those that came to a Node that is not ready. Some Pods keep Ready
 * when their Node turns out not to be ready: those that came before the Node had a condition Ready, or before the controller knew the Node.
 * Upstream: pkg/controller/nodelifecycle, tryUpdateNodeHealth and processPod.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import { type EventReport, referenceTo } from "../../api/events/event-recorder";
import type { Pod } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import { podsDefinition } from "../../api/registry/pods/definition";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { FollowedStore } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";
import { BoundPods, PODS } from "./bound-pods";
import { isNotReady, type KnownNodes } from "./known-nodes";
import { type LifecycleWrites, type Made, NOTHING, type LifecycleOutcome, statusOf } from "./lifecycle-writes";
import { rewrite } from "./rewrite";

export interface MarkPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  events: { report(event: EventReport): void };
  pods: WrittenStore;
}

export class PodMarks {
  readonly #bound: BoundPods;
  readonly #store: FollowedStore;
  /** Somebody has asked for a pass since the Pods were last read. */
  #isAsked = true;

  constructor(
    private readonly ports: MarkPorts,
    rows: KeptRows,
    private readonly known: KnownNodes,
    private readonly writes: LifecycleWrites,
  ) {
    this.#bound = new BoundPods(rows);
    this.#store = new FollowedStore(PODS, ports.pods, this.#bound.reader, rows, ports.recorder);
  }

  load(): void {
    this.#bound.load();
  }

  /** Something may have changed: the next call of `mark` reads the Pods if some Node is not ready. */
  ask(): void {
    this.#isAsked = true;
  }

  async mark(): Promise<Made> {
    const { draining, sparing } = this.known;
    const mayTry = ({ key }: { key: string }): boolean => this.writes.mayTry(statusOf(key));
    if (draining.length === 0 && !this.known.states.some(isNotReady)) return NOTHING;
    if (draining.length + sparing.length === 0 && !this.#isAsked && !this.#bound.due.some(mayTry)) return NOTHING;
    if (!(await this.#store.pull(() => true))) return { ...NOTHING, failed: 1 };
    this.#isAsked = false;
    this.#spare(sparing);
    // From here on each Pod has a row of its own: what fails is repeated alone, and a Ready that its writer gives back stays.
    for (const node of draining) {
      if (!this.known.drained(node)) continue;
      for (const key of this.#bound.readyOn(node)) this.#bound.mustLoseReady(key);
    }
    const isToMark = ({ node, isReady }: { node: string; isReady: boolean }): boolean => isReady && this.#isNotReady(node);
    const due = this.#bound.due;
    for (const pod of due) if (!isToMark(pod)) this.#settle(pod.key);
    const now = due.filter((pod) => isToMark(pod) && mayTry(pod));
    return this.writes.eachInPeriod(now, ({ key, node }) => this.#markOne(key, node));
  }

  /** @param nodes those that spared their Pods before the Pods were read. Nodes that began meanwhile may have Pods that are still unread. */
  #spare(nodes: readonly string[]): void {
    const sparing = new Set(this.known.sparing);
    for (const { key, node } of this.#bound.due) if (sparing.has(node)) this.#settle(key);
    for (const node of nodes) this.known.spared(node);
  }

  #isNotReady(nodeName: string): boolean {
    const node = this.known.get(nodeName);
    return node !== undefined && isNotReady(node);
  }

  #settle(key: string): void {
    this.writes.forget(statusOf(key));
    this.#bound.settled(key);
  }

  async #markOne(key: string, nodeName: string): Promise<LifecycleOutcome> {
    const { clock, pods, events } = this.ports;
    const rewritten = await rewrite<Pod>(pods, key, "status", (pod) => {
      const conditions = pod.status?.conditions ?? [];
      const ready = conditions.find(({ type }) => type === "Ready");
      if (!this.#isNotReady(nodeName) || pod.spec?.nodeName !== nodeName || !ready || ready.status === "False") return undefined;
      const unready = { ...ready, status: "False", lastTransitionTime: rfc3339Seconds(clock.now()) };
      return { ...pod, status: { ...pod.status, conditions: conditions.map((one) => (one === ready ? unready : one)) } };
    });
    if (rewritten.result === "written") {
      const regarding = referenceTo(podsDefinition, rewritten.object);
      events.report({ regarding, type: "Warning", reason: "NodeNotReady", action: "MarkPodNotReady", note: "Node is not ready" });
    }
    if (rewritten.result === "written" || rewritten.result === "none") this.#bound.settled(key);
    return this.writes.outcome(statusOf(key), rewritten);
  }
}
