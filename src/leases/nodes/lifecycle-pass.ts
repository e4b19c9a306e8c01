/**
 * The pass of the controller "node-lifecycle-controller" (upstream pkg/controller/nodelifecycle).
 *
 * - It reads the Nodes that changed. Each period, while a Node is there that may become Unknown, it asks which Leases have been renewed.
 * - First the Nodes that were silent for the grace become Unknown. When that is done and read again, taints follow, and Pods lose Ready.
 * - Silence counts from look to look at the Leases. So the controller takes no outage of its stores for silence of the Nodes.
 * - Looks go on beside taints and marks, so neither many of them nor a call that hangs makes a look late.
 * - Nothing that it still has to do stands in memory alone: it follows from the stored Nodes and Pods, or from rows (known-nodes.ts, bound-pods.ts).
 * - It writes only what it has just read. What cannot be written is tried again in the next period, and holds up nothing else. A write that the store
 *   refuses is tried again later and later (refusals.ts).
 */
import { inParallel } from "../../core/base/in-parallel";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { EventReport, EventSubject } from "../../api/events/event-recorder";
import { referenceTo } from "../../api/events/event-recorder";
import type { Node, Pod } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import { podsDefinition } from "../../api/registry/pods/definition";
import type { StoreCursor } from "../../api/rpc/object-links";
import type { ValuedStore } from "../../api/rpc/object-values";
import { objectKey } from "../../api/store/keys";
import { type Pass, type PassResult, RETRY_BASE_MS } from "../../controllers/controller";
import type { WrittenStore } from "../../controllers/followed/called-store";
import { type Cursors, FollowedStore } from "../../controllers/followed/followed-store";
import { KeptRows } from "../../controllers/followed/kept-rows";
import { Refusals } from "../../controllers/followed/refusals";
import type { RowStorage } from "../../controllers/followed/row-storage";
import { BoundPods, PODS } from "./bound-pods";
import { isNotReady, KnownNodes } from "./known-nodes";
import { NodeProbes } from "./node-probes";
import { heartbeatOf, nodeState, type NodeState, readyOf } from "./node-state";
import { lacksEvictingTaint, type NoExecute, wantedTaints } from "./node-taints";
import { rewrite, type Rewritten } from "./rewrite";
import { unknownConditions } from "./unknown-conditions";
import { ZoneTurns } from "./zone-turns";

export const NODE_LEASES = "kube-node-lease";
const RENEW_TIME = { namespace: NODE_LEASES, path: ["spec", "renewTime"] };

/** Writes under way at once: they share the stores' commits, and leave room for clients. */
const WRITES_AT_ONCE = 16;
/** Between two passes that changes ask for, and between two looks of which the first failed. */
const POKED_APART_MS = 1_000;
/** After this time no round begins. */
const PASS_BUDGET_MS = 60_000;
/** How long a pass waits for its events to be written. */
const EVENTS_WAIT_MS = 1_000;
/** The longest wait after a write that a store refused. The first one is a period. */
const REFUSED_MAX_MS = 5 * 60_000;
/** The first wait after stores that could not be read; each further one is twice as long, up to the period. */
const UNREAD_WAIT_MS = 500;

export interface LifecyclePorts {
  clock: Clock;
  recorder: Recorder;
  storage: RowStorage;
  events: { report(event: EventReport): void; flush(): Promise<void> };
  nodes: WrittenStore;
  pods: WrittenStore;
  leases: ValuedStore;
  /** all in milliseconds */
  graceMs: number;
  startupGraceMs: number;
  periodMs: number;
}

export function lifecyclePass(ports: LifecyclePorts): Pass {
  const pass = new LifecyclePass(ports);
  return (isPoked) => pass.run(isPoked);
}

class LifecyclePass {
  readonly #rows: KeptRows;
  readonly #probes: NodeProbes;
  readonly #known: KnownNodes;
  readonly #bound: BoundPods;
  readonly #turns: ZoneTurns;
  readonly #nodes: FollowedStore;
  readonly #pods: FollowedStore;
  readonly #cursors = new MemoryCursors();
  readonly #refusals: Refusals;
  #silencing: Promise<Made> | undefined;
  #leases: StoreCursor | undefined;
  #isLoaded = false;
  #endedAt = -Infinity;
  /** when the pass after the last one is due without being asked for */
  #dueAt: number | undefined;
  /** Somebody has asked for a pass since the Pods were last read. */
  #isAsked = true;
  #unread = 0;

  constructor(private readonly ports: LifecyclePorts) {
    const { clock, recorder, graceMs, periodMs } = ports;
    const now = (): number => clock.now();
    const rows = (this.#rows = new KeptRows(ports.storage));
    this.#probes = new NodeProbes(rows, { graceMs, periodMs });
    this.#bound = new BoundPods(rows);
    this.#turns = new ZoneTurns(rows);
    this.#refusals = new Refusals(ports, { first: periodMs, longest: REFUSED_MAX_MS });
    this.#known = new KnownNodes(rows, now, {
      registered: (node) => this.#tellNode(node, "RegisteredNode", `Node ${node.name} event: Registered Node ${node.name} in Controller`),
      removed: (name, uid) => {
        this.#probes.forget(name);
        for (const write of [statusOf(name), taintsOf(name)]) this.#refusals.forget(write);
        this.#tellNode({ name, uid }, "RemovingNode", `Node ${name} event: Removing Node ${name} from Controller`);
      },
      leftReady: (node) => this.#tellNode(node, "NodeNotReady", `Node ${node.name} status is now: NodeNotReady`),
      seen: (node) => this.#probes.seen(node, now()),
    });
    // Every start reads all Nodes: what it needs of them is more than a row should hold.
    this.#nodes = new FollowedStore("nodes", ports.nodes, this.#known.reader, this.#cursors, recorder);
    this.#pods = new FollowedStore(PODS, ports.pods, this.#bound.reader, rows, recorder);
  }

  async run(isPoked: boolean): Promise<PassResult> {
    const { clock, events } = this.ports;
    this.#load();
    const waitMs = this.#endedAt + POKED_APART_MS - clock.now();
    if (isPoked && waitMs > 0) await clock.sleep(Math.min(waitMs, POKED_APART_MS));
    const begunAt = clock.now();
    this.#isAsked ||= isPoked || !this.#isDue(begunAt);
    let result;
    do result = await this.#round();
    while (result === "again" && clock.now() - begunAt < PASS_BUDGET_MS);
    await withTimeout(clock, EVENTS_WAIT_MS, events.flush()).catch(() => undefined);
    this.#endedAt = clock.now();
    this.#dueAt = result === "again" ? this.#endedAt : result;
    return { left: false, againAt: this.#dueAt };
  }

  /** Whether a pass that begins now is the one that the last pass asked for. Otherwise cron has asked, or somebody during the last pass. */
  #isDue(nowMs: number): boolean {
    if (this.#dueAt === undefined) return false;
    const lateMs = nowMs - Math.max(this.#dueAt, this.#endedAt + RETRY_BASE_MS);
    return lateMs >= 0 && lateMs < this.ports.periodMs;
  }

  #load(): void {
    if (this.#isLoaded) return;
    this.#rows.load();
    this.#known.load();
    this.#bound.load();
    this.#turns.load();
    this.#probes.load(this.#known.names);
    this.#isLoaded = true;
  }

  /** Answers when the next pass is due (undefined = when something changes), or `again` because there is more to do, or to read first. */
  async #round(): Promise<number | "again" | undefined> {
    if (!(await this.#look())) {
      this.#save();
      return this.#nextAt(true);
    }
    const work = this.#work();
    await this.#lookBeside(work);
    const { written, failed, isCut } = await work;
    const hasFailed = !this.#save() || failed > 0;
    return (written > 0 || isCut) && !hasFailed ? "again" : this.#nextAt(hasFailed);
  }

  /** Reads the Nodes, and then the Leases if that is due. False: the Nodes cannot be read. */
  async #look(): Promise<boolean> {
    const hasNodes = await this.#nodes.pull(() => true);
    const isListening = hasNodes && (await this.#listen());
    this.#unread = isListening ? 0 : this.#unread + 1;
    return hasNodes;
  }

  /** Goes on to look, and to make silent Nodes Unknown, while the work of the round is under way. */
  async #lookBeside(work: Promise<Made>): Promise<void> {
    const { clock } = this.ports;
    let isOver = false;
    const over = work.then(
      () => (isOver = true),
      () => (isOver = true),
    );
    for (;;) {
      const now = clock.now();
      const waitMs = Math.max(this.#probes.nextLook(now) - now, POKED_APART_MS);
      await withTimeout(clock, waitMs, over).catch(() => undefined);
      if (isOver) break;
      if (await this.#look()) void this.#silenced();
      this.#save();
    }
    await this.#silencing;
  }

  /** What the last look asks for. Writes that the next round has to read count as written: what follows from them is its. */
  async #work(): Promise<Made> {
    const silenced = await this.#silenced();
    if (silenced.written > 0) return { ...silenced, failed: 0 };
    const tainted = await this.#taint(this.#unread === 0);
    const marked = await this.#markPods();
    return {
      written: this.#unread === 0 ? tainted.written : 0,
      failed: silenced.failed + tainted.failed + marked.failed,
      isCut: tainted.isCut || marked.isCut,
    };
  }

  #nextAt(hasFailed: boolean): number | undefined {
    const { clock, periodMs } = this.ports;
    const now = clock.now();
    const times = [...(hasFailed ? [now + periodMs] : []), this.#refusals.nextAt() ?? []].flat();
    if (this.#unread > 0) times.push(now + Math.min(periodMs, UNREAD_WAIT_MS * 2 ** (this.#unread - 1)));
    else {
      times.push(...this.#waiting.flatMap(({ zone }) => this.#turns.turnAt(zone) ?? []));
      if (this.#watched.length > 0) times.push(this.#probes.nextLook(now));
    }
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** The Nodes that may become Unknown. */
  get #watched(): NodeState[] {
    return this.#known.states.filter((node) => readyOf(node) !== "Unknown");
  }

  /** The Nodes that wait for a NoExecute taint, those first that have waited longest. One that refused its taints lets the others go first. */
  get #waiting(): NodeState[] {
    return this.#known.notReady.filter((node) => lacksEvictingTaint(node) && this.#refusals.mayTry(taintsOf(node.name)));
  }

  /** Asks which Leases have been renewed, if that is due. False: the Leases cannot be read, and no silence counts. */
  async #listen(): Promise<boolean> {
    const { clock, leases, recorder } = this.ports;
    const askedAt = clock.now();
    if (this.#watched.length === 0 || this.#probes.nextLook(askedAt) > askedAt) return true;
    try {
      const { values, cursor } = await leases.valuesSince(RENEW_TIME, this.#leases);
      for (const [key, renewTime, revision] of values) this.#probes.renewed(objectKey(key).name, { renewTime, revision }, askedAt);
      this.#probes.looked(askedAt, { leases: cursor.revision, nodes: this.#cursors.cursor("nodes")?.revision ?? 0 });
      this.#leases = cursor;
    } catch (error) {
      recorder.log("warn", "the node lifecycle controller could not read the Leases", { error: String(error) });
      return false;
    }
    this.#probes.noteSilent(this.#watched.map(({ name }) => name));
    return true;
  }

  /** Makes the Nodes Unknown that were silent for the grace. A call while that is under way joins it. */
  #silenced(): Promise<Made> {
    return (this.#silencing ??= this.#makeUnknown().finally(() => (this.#silencing = undefined)));
  }

  #makeUnknown(): Promise<Made> {
    const { clock, nodes } = this.ports;
    const now = clock.now();
    const silent = this.#watched.filter((node) => this.#probes.silence(node.name) > this.#graceMs(node));
    const untilAll = Infinity;
    return this.#each(silent, untilAll, async (node) => {
      if (!this.#refusals.mayTry(statusOf(node.name))) return "none";
      const rewritten = await rewrite<Node>(nodes, node.name, "status", (stored) => {
        const state = nodeState(stored);
        // A sign of life since: the next round reads it.
        if (state.uid !== node.uid || heartbeatOf(state) !== heartbeatOf(node)) return undefined;
        const conditions = unknownConditions(state.conditions, stored.metadata?.creationTimestamp ?? "", now);
        return conditions && { ...stored, status: { ...stored.status, conditions } };
      });
      return this.#outcome(statusOf(node.name), rewritten);
    });
  }

  #graceMs(node: NodeState): number {
    return readyOf(node) === undefined ? this.ports.startupGraceMs : this.ports.graceMs;
  }

  /** Brings the taints of all Nodes in line. A Node gets a NoExecute taint when it is its turn, and only while the controller listens. */
  async #taint(isListening: boolean): Promise<Made> {
    const { clock } = this.ports;
    const now = clock.now();
    const turns = this.#turns;
    if (turns.judge(this.#known.states, now)) this.#probes.beginAnew(now);
    const mustClear = turns.mustClear;
    const adding = new Map<string, NodeState>();
    for (const node of isListening ? this.#waiting : []) {
      const turnAt = turns.turnAt(node.zone);
      if (turnAt !== undefined && turnAt <= now && !this.#known.isNew(node.name) && !adding.has(node.zone)) adding.set(node.zone, node);
    }
    const decided = (node: NodeState): NoExecute =>
      mustClear || this.#known.isNew(node.name) ? "remove" : adding.get(node.zone) === node ? "add" : "follow";
    const made = await this.#each(this.#known.states, this.#cutAt, (node) => this.#taintOne(node, decided(node)));
    const isAnyRefused = this.#known.states.some(({ name }) => !this.#refusals.mayTry(taintsOf(name)));
    if (mustClear && made.failed === 0 && !made.isCut && !isAnyRefused) turns.cleared();
    return made;
  }

  async #taintOne(node: NodeState, noExecute: NoExecute): Promise<Outcome> {
    const { clock, nodes } = this.ports;
    const now = clock.now();
    const write = taintsOf(node.name);
    let result: Outcome = "none";
    if (wantedTaints(node, noExecute, now)) {
      if (!this.#refusals.mayTry(write)) return "none";
      const rewritten = await rewrite<Node>(nodes, node.name, "", (stored) => {
        const state = nodeState(stored);
        // It changed since: the next round judges it anew.
        if (state.uid !== node.uid || readyOf(state) !== readyOf(node)) return undefined;
        const taints = wantedTaints(state, noExecute, now);
        return taints && { ...stored, spec: { ...stored.spec, taints } };
      });
      result = this.#outcome(write, rewritten);
      if (rewritten.result === "refused") return result;
      // What was to be done is not done before it is read.
      if (result === "none") result = "failed";
    }
    if (result === "failed") return result;
    if (noExecute === "add" && result === "written") this.#turns.tainted(node.zone, now);
    if (this.#known.isNew(node.name) && this.#known.get(node.name)?.uid === node.uid) this.#known.settled(node.name);
    return result;
  }

  /** A refused write is no failure that the next period mends. */
  #outcome(write: string, rewritten: Rewritten<unknown>): Outcome {
    if (rewritten.result === "refused") {
      this.#refusals.refused(write, rewritten.status);
      return "none";
    }
    if (rewritten.result !== "failed") this.#refusals.forget(write);
    return rewritten.result;
  }

  /** Takes Ready from the Pods of Nodes that left Ready, and from those that came to a Node that is not ready. */
  async #markPods(): Promise<Made> {
    const draining = this.#known.draining;
    const mayTry = ({ key }: { key: string }): boolean => this.#refusals.mayTry(statusOf(key));
    if (draining.length === 0 && !this.#known.states.some(isNotReady)) return NOTHING;
    if (draining.length === 0 && !this.#isAsked && !this.#bound.due.some(mayTry)) return NOTHING;
    if (!(await this.#pods.pull(() => true))) return { ...NOTHING, failed: 1 };
    this.#isAsked = false;
    // From here on each Pod has a row of its own: what fails is repeated alone, and a Ready that its writer gives back stays.
    for (const node of draining) {
      if (!this.#known.drained(node)) continue;
      for (const key of this.#bound.readyOn(node)) this.#bound.mustLoseReady(key);
    }
    const isToMark = ({ node, isReady }: { node: string; isReady: boolean }): boolean => isReady && this.#isNotReady(node);
    const due = this.#bound.due;
    for (const pod of due) if (!isToMark(pod)) this.#settle(pod.key);
    const now = due.filter((pod) => isToMark(pod) && mayTry(pod));
    return this.#each(now, this.#cutAt, ({ key, node }) => this.#mark(key, node));
  }

  #isNotReady(nodeName: string): boolean {
    const node = this.#known.get(nodeName);
    return node !== undefined && isNotReady(node);
  }

  #settle(key: string): void {
    this.#refusals.forget(statusOf(key));
    this.#bound.settled(key);
  }

  async #mark(key: string, nodeName: string): Promise<Outcome> {
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
    return this.#outcome(statusOf(key), rewritten);
  }

  /** Behind this time, taints or marks that begin now go on in the next round: it sees what has changed meanwhile. */
  get #cutAt(): number {
    return this.ports.clock.now() + this.ports.periodMs;
  }

  /** Begins nothing from `cutAtMs` on. */
  async #each<T>(items: readonly T[], cutAtMs: number, work: (item: T) => Promise<Outcome>): Promise<Made> {
    const made = { written: 0, failed: 0, isCut: false };
    await inParallel(items, WRITES_AT_ONCE, async (item) => {
      if ((made.isCut ||= this.ports.clock.now() >= cutAtMs)) return;
      const result = await work(item);
      if (result !== "none") made[result]++;
    });
    return made;
  }

  #tellNode({ name, uid }: Pick<NodeState, "name" | "uid">, reason: string, note: string): void {
    const regarding: EventSubject = { apiVersion: "v1", kind: "Node", name, uid };
    this.ports.events.report({ regarding, type: "Normal", reason, action: "NodeLifecycle", note });
  }

  #save(): boolean {
    try {
      this.#rows.save();
      return true;
    } catch (error) {
      // The disk may be the one that refuses renewals, too.
      this.#probes.beginAnew(this.ports.clock.now());
      this.ports.recorder.log("warn", "the node lifecycle controller could not store what it learned", { error: String(error) });
      return false;
    }
  }
}

type Outcome = "written" | "none" | "failed";

interface Made {
  readonly written: number;
  readonly failed: number;
  /** The time was over before everything had begun. */
  readonly isCut: boolean;
}

const NOTHING: Made = { written: 0, failed: 0, isCut: false };

/** Names of writes in the refusals, by storage key. */
const statusOf = (key: string): string => `status of ${key}`;
const taintsOf = (key: string): string => `taints of ${key}`;

class MemoryCursors implements Cursors {
  readonly #cursors = new Map<string, StoreCursor>();

  cursor(store: string): StoreCursor | undefined {
    return this.#cursors.get(store);
  }

  moveCursor(store: string, cursor: StoreCursor): void {
    this.#cursors.set(store, cursor);
  }
}
