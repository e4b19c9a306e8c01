/**
 * The endpoint part on one Node, from its start to its end. One pass after the other looks at the known Pods and does the next steps (pod-steps.ts).
 * Between passes only the Pods and the kept state are remembered, so an agent may die at any line.
 */
import { greatestOf, leastOf } from "../../../core/base/extremes";
import type { Pod } from "../../../api/meta/kubernetes";
import type { AgentPorts, HeldNode } from "../ports/agent-ports";
import type { ApiReply } from "../ports/api-client";
import type { EndpointEntry } from "./endpoint-entry";
import { drainSecondsOf, isCollected, isEnding, isOwn, isReleased, isTerminating, podOf, storedEntry } from "./endpoint-pod";
import type { EndpointSet } from "./endpoint-set";
import { KnownPods } from "./known-pods";
import type { ProbePorts } from "./machine-ports";
import { podAddresses } from "./pod-status";
import { nextSteps, podKey, podKeyOf, type Situation, type PodStep } from "./pod-steps";
import { PodTurns } from "./pod-turns";
import { Probers } from "./probers";

/** Pods that one line names. */
const NAMED_MAX = 5;

/** How long `stop` waits beyond the longest drain time for answers of the server. */
const GIVE_UP_MS = 10_000;
/** Timers of a platform are no longer than 24 days. */
const TIMER_MS_MAX = 86_400_000;
const CONFLICT = 409;
const NOT_FOUND = 404;

export class KeeperLife {
  readonly #addresses: readonly string[];
  readonly #known: KnownPods;
  readonly #probers: Probers;
  readonly #turns: PodTurns;
  readonly #unfollow: readonly (() => void)[];
  /** when each deleted Pod was first seen as such; steady ms, by uid */
  readonly #deletedAt = new Map<string, number>();
  /** uids of deleted Pods of which a watch has not told yet that they are gone: what their deletion means is settled */
  readonly #noticed = new Set<string>();
  /** uids of Pods of somebody else that have the name of an endpoint: told once */
  #inPlace: ReadonlySet<string> = new Set();
  #isDirty = false;
  #isAtWork = false;
  #isEnded = false;
  #isStopping = false;
  #isCutOff = false;
  #cancelTimer: () => void = () => undefined;
  #whenEmpty: () => void = () => undefined;

  constructor(
    private readonly ports: AgentPorts & ProbePorts,
    private readonly set: EndpointSet,
    private readonly node: HeldNode,
  ) {
    const { clock, random } = ports;
    this.#addresses = podAddresses(node.addresses);
    set.state.holdNode(node.uid);
    this.#turns = new PodTurns(clock, random);
    this.#known = new KnownPods((pod) => {
      this.#noticeDeletion(pod);
      this.#noticed.delete(uidOf(pod));
    });
    this.#probers = new Probers(ports, this.#addresses[0] ?? "", () => this.#wake());
    this.#unfollow = [this.#followPods(), set.follow(() => this.#wake())];
  }

  /** The Pods drain and go. Resolves when none is left, or at the time limit. */
  async stop(): Promise<void> {
    if (this.#isEnded) return;
    this.#isStopping = true;
    const own = this.#own();
    const longestMs = Math.max(0, greatestOf(own.map((pod) => drainSecondsOf(pod) * 1_000)));
    const limitMs = Math.min(longestMs + GIVE_UP_MS, TIMER_MS_MAX);
    this.#tellOfDrain(own, longestMs);
    await new Promise<void>((resolve) => {
      const cancel = this.ports.clock.after(limitMs, resolve);
      this.#whenEmpty = () => {
        cancel();
        resolve();
      };
      this.#wake();
    });
    const left = this.#own().length;
    if (!this.#isEnded && (left > 0 || !this.#known.isListed)) {
      this.ports.recorder.log("warn", "the agent ends before its Pods are gone", { pods: left });
    }
    this.end();
  }

  /** Whoever has pressed Ctrl-C wonders why the agent goes on. */
  #tellOfDrain(pods: readonly Pod[], drainMs: number): void {
    if (pods.length === 0) return;
    const names = pods.slice(0, NAMED_MAX).map(podKey).join(", ");
    const more = pods.length > NAMED_MAX ? ` and ${String(pods.length - NAMED_MAX)} more` : "";
    const event = "the endpoints drain; another Ctrl-C, a second later, ends the agent at once";
    this.ports.recorder.log("info", event, { pods: `${names}${more}`, seconds: drainMs / 1_000 });
  }

  /** At once; nothing is written any more. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    for (const unfollow of this.#unfollow) unfollow();
    this.#cancelTimer();
    this.#probers.stop();
    this.#whenEmpty();
  }

  #followPods(): () => void {
    const { api, recorder } = this.ports;
    return api.follow<Pod>({
      path: "/api/v1/pods",
      fieldSelector: `spec.nodeName=${this.node.name}`,
      onStep: (step) => {
        this.#isCutOff = false;
        this.#known.take(step);
        if (step.kind === "list") this.#forgetNoticed();
        this.#wake();
      },
      onError: (error) => {
        if (!this.#isCutOff) recorder.log("warn", "the node's Pods cannot be followed", { why: error.message });
        this.#isCutOff = true;
      },
    });
  }

  #wake(): void {
    this.#isDirty = true;
    if (!this.#isAtWork) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    while (this.#isDirty && !this.#isEnded) {
      this.#isDirty = false;
      const drainedAt = this.#look();
      // Before a Pod that a user has deleted is let go.
      await this.set.state.save();
      this.#beginSteps(drainedAt);
    }
    this.#isAtWork = false;
  }

  /** @param drainedAt when the first drain time is over; steady ms */
  #beginSteps(drainedAt: number): void {
    if (this.#isEnded || !this.#known.isListed) return;
    const situation = this.#situation();
    this.#tellOfPodsInPlace(situation);
    const steps = new Map(nextSteps(situation).map((step) => [this.#keyOf(step), step]));
    const { due, nextAt } = this.#turns.due([...steps.keys()]);
    this.#wakeAt(Math.min(nextAt, drainedAt));
    for (const key of due) {
      const step = steps.get(key);
      if (step) void this.#do(key, step);
    }
    if (this.#isStopping && this.#turns.busy === 0 && this.#own().length === 0) this.#whenEmpty();
  }

  async #do(key: string, step: PodStep): Promise<void> {
    this.#turns.begin(key);
    const reply = await this.#perform(step);
    const isBehind = step.kind !== "create" && reply.kind === "refused" && reply.code === CONFLICT;
    const asked = isBehind ? await this.ports.api.request<Pod>("GET", pathOf(step.pod)) : undefined;
    if (this.#isEnded) return;
    this.#take(key, step, reply);
    if (isBehind && asked?.kind === "done") this.#takeShown(step.pod, asked.object);
    this.#wake();
  }

  #tellOfPodsInPlace({ wanted, pods, node }: Situation): void {
    const inPlace = [...wanted.keys()].flatMap((key) => {
      const pod = pods.get(key);
      return pod && !isOwn(pod, node) ? [[key, uidOf(pod)] as const] : [];
    });
    for (const [pod, uid] of inPlace) {
      if (this.#inPlace.has(uid)) continue;
      const event = "a Pod of somebody else has the name of an endpoint: the endpoint waits until that Pod is gone";
      this.ports.recorder.log("error", event, { pod });
    }
    this.#inPlace = new Set(inPlace.map(([, uid]) => uid));
  }

  /** Takes up what the Pods say about probes, drain times and users. Answers when the first drain time is over; steady ms. */
  #look(): number {
    const { clock } = this.ports;
    const entries = this.#entriesByPod();
    const own = this.#own();
    this.#probers.retain(own.map((pod) => [pod, entries.get(podKey(pod))]));
    const deleted = own.filter(isTerminating);
    const uids = new Set(deleted.map(uidOf));
    for (const uid of this.#deletedAt.keys()) if (!uids.has(uid)) this.#deletedAt.delete(uid);
    for (const pod of deleted) {
      if (!this.#deletedAt.has(uidOf(pod))) this.#deletedAt.set(uidOf(pod), clock.steady());
      this.#noticeDeletion(pod);
    }
    return leastOf(deleted.map((pod) => this.#drainedAt(pod)).filter((at) => at > clock.steady()));
  }

  #wakeAt(at: number): void {
    const { clock } = this.ports;
    this.#cancelTimer();
    if (at < Infinity) this.#cancelTimer = clock.after(Math.min(at - clock.steady(), TIMER_MS_MAX), () => this.#wake());
  }

  /**
   * A client that deletes a Pod that the agent did not mark wants the endpoint of that time off. A change of the entry while the Pod drains switches
   * it on. The collector of Pods wants nothing: it cleans up after a Node.
   */
  #noticeDeletion(pod: Pod): void {
    if (this.#noticed.has(uidOf(pod))) return;
    this.#noticed.add(uidOf(pod));
    if (!isOwn(pod, this.node.name) || isEnding(pod) || isCollected(pod)) return;
    const entry = this.#entriesByPod().get(podKey(pod));
    const { state } = this.set;
    if (!entry || state.isOff(entry) || storedEntry(pod) !== JSON.stringify(entry)) return;
    state.switchOff(entry);
    this.ports.recorder.log("info", "an endpoint is off until its entry changes", { endpoint: entry.name });
  }

  /** After a list no watch tells of Pods that went before. */
  #forgetNoticed(): void {
    const uids = new Set([...this.#known.pods.values()].map(uidOf));
    for (const uid of this.#noticed) if (!uids.has(uid)) this.#noticed.delete(uid);
  }

  #situation(): Situation {
    const { clock } = this.ports;
    const entries = this.#entriesByPod();
    return {
      node: this.node.name,
      addresses: this.#addresses,
      pods: this.#known.pods,
      wanted: new Map(this.#isStopping ? [] : [...entries].filter(([, entry]) => !this.set.state.isOff(entry))),
      isReady: (pod) => this.#probers.isReady(pod, entries.get(podKey(pod))),
      isDrained: (pod) => clock.steady() >= this.#drainedAt(pod),
      now: clock.now(),
    };
  }

  /** The entries of the set by the key of their Pod. */
  #entriesByPod(): Map<string, EndpointEntry> {
    return new Map([...this.set.entries.values()].map((entry) => [podKeyOf(entry, this.node.name), entry]));
  }

  #drainedAt(pod: Pod): number {
    const since = this.#deletedAt.get(uidOf(pod)) ?? this.ports.clock.steady();
    return since + Number(pod.metadata?.deletionGracePeriodSeconds ?? 0) * 1_000;
  }

  /** The agent's Pods that it has not released. */
  #own(): Pod[] {
    return [...this.#known.pods.values()].filter((pod) => isOwn(pod, this.node.name) && !isReleased(pod));
  }

  #perform(step: PodStep): Promise<ApiReply<Pod>> {
    const { api } = this.ports;
    if (step.kind === "create") {
      return api.request<Pod>("POST", `/api/v1/namespaces/${step.entry.namespace}/pods`, podOf(step.entry, this.node.name));
    }
    const path = pathOf(step.pod);
    if (step.kind === "delete") {
      const preconditions = { uid: step.pod.metadata?.uid };
      return api.request<Pod>("DELETE", path, { gracePeriodSeconds: step.graceSeconds, preconditions });
    }
    return api.request<Pod>("PATCH", step.kind === "status" ? `${path}/status` : path, step.patch);
  }

  #take(key: string, step: PodStep, reply: ApiReply<Pod>): void {
    if (reply.kind === "done") {
      this.#turns.succeeded(key);
      if (step.kind === "delete" && !isStillThere(step.pod, step.graceSeconds, reply.object)) this.#known.forget(step.pod);
      else this.#known.put(reply.object);
      return;
    }
    const isNew = this.#turns.failed(key, reply.message);
    // Who follows the Pods says that the server is away.
    if (reply.kind === "unanswered") return;
    if (reply.code === NOT_FOUND && step.kind !== "create") this.#known.forget(step.pod);
    // Somebody else has written the Pod.
    const isUsual = step.kind !== "create" && (reply.code === CONFLICT || reply.code === NOT_FOUND);
    if (isUsual || !isNew) return;
    const name = `${step.kind} ${key}`;
    this.ports.recorder.log("error", "the server refuses a step of the agent", { step: name, code: reply.code, why: reply.message });
  }

  /** The Pod has changed since it was seen. Its watch may be mute; until it tells more, the Pod is as the server has just shown it. */
  #takeShown(seen: Pod, shown: Pod): void {
    if (shown.spec?.nodeName === this.node.name) this.#known.put(shown);
    else this.#known.forget(seen);
  }

  #keyOf(step: PodStep): string {
    return step.kind === "create" ? podKeyOf(step.entry, this.node.name) : podKey(step.pod);
  }
}

function pathOf({ metadata }: Pod): string {
  return `/api/v1/namespaces/${metadata?.namespace ?? ""}/pods/${metadata?.name ?? ""}`;
}

function uidOf({ metadata }: Pod): string {
  return metadata?.uid ?? "";
}

/** Whether a DELETE has only marked the Pod. The answer to one that removed it is its last state, or a Status. */
function isStillThere({ metadata }: Pod, graceSeconds: number, answer: Pod): boolean {
  const isMarked = answer.metadata?.uid === metadata?.uid && isTerminating(answer);
  return isMarked && (graceSeconds > 0 || (answer.metadata?.finalizers ?? []).length > 0);
}
