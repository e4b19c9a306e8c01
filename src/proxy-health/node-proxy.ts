/**
 * The health of some nodes of a cluster, as load balancers ask for it: their last reports, and what of their Nodes decides about new connections.
 *
 * What must always hold
 * - A check writes nothing, but for a Node that it is the first to find.
 * - What fails around this object turns no node red: while the controller or the store of Nodes does not answer, the last known state goes on.
 * - Only an alarm on time calls a node silent (judgement.ts).
 * - A start writes nothing, unless the alarm is lost: on a full disk every write ends the object, and its rows could not answer any more.
 */
import { leastOf } from "../core/base/extremes";
import type { Node } from "../api/meta/kubernetes";
import { healthAnswer, type HealthPath, isEligible, nodeFacts, serviceHealthAnswer } from "../api/meta/proxy-health";
import type { Clock, Recorder } from "../core/base/ports";
import type { Family } from "../core/net/family";
import { withTimeout } from "../core/base/timeout";
import { PacedLog } from "../core/telemetry/paced-log";
import { type FamilyStates, joinedFamilies, type NodeStates } from "./pushed/health-tally";
import {
  type Absence,
  absenceAt,
  familyStates,
  isOverdue,
  judge,
  type KeptReport,
  mayHaveMissedAll,
  notAfter,
  silenceMs,
  silentFrom,
} from "./judgement";
import type { NodeStorage, Watch } from "./node-storage";
import type { Cursor, ShardChange } from "./pushed/shard-change";
import type { Report } from "./report";
import { type NodeAnswer, type NodeProxyRpc, NOTHING_KNOWN, type ReportResult } from "./rpc";
import { type AskedService, ToldNodes } from "./told-nodes";

/** A check of a name that nobody told of asks the store of Nodes, unless one has asked for as long. */
export const ASKED_NODE_AGE_MS = 5_000;
/** How long a check or a report waits for the store of Nodes: nothing is known that could go on. */
const FIND_TIMEOUT_MS = 10_000;
/** The same where something is known: of a Node that was found and that the controller has not told of, or of a name without one. Load balancers give up after some seconds. */
const CONFIRM_TIMEOUT_MS = 2_000;
/** A check asks the controller for what it did not tell, unless it has told or answered anything for as long. A lost push costs so much. */
export const HEARD_AGE_MS = 30_000;
/** The same after a question without an answer, and while nobody has told of checks. */
const ASK_AGAIN_MS = 5_000;
/** How long a question may take. Nobody waits for its answer. */
const ASK_TIMEOUT_MS = 5_000;
/** The controller may not have heard for so long of a Node that was found in its store. */
const UNTOLD_MS = 60_000;
/** Such Nodes whose store is asked at once whether they are still there. */
const CONFIRMED_AT_ONCE = 8;
/** A Node is asked for so often in a row: each push that comes meanwhile may be newer than the answer. */
const FINDS_MAX = 3;
/** Names without a Node that are remembered with the time of their last question; beyond it that memory starts over. */
const ASKED_UNKNOWN_MAX = 1_000;
/** A check that finds the alarm lost sets it so much later, behind its answer: a write that fails ends the object. */
const WAKE_DELAY_MS = 1_000;

export interface NodeProxyPorts {
  storage: NodeStorage;
  clock: Clock;
  recorder: Recorder;
  /** the Node as its store has it; null = there is none */
  node(name: string): Promise<string | null>;
  /** The controller's answer: what this object lacks that knows as much as `known`; null = nothing, or neither knows anything. */
  state(known: Cursor | null): Promise<ShardChange | null>;
  /** the object's alarm, durable with the writes of the turn */
  wakeAt(atMs: number): void;
  /** for when the object's alarm is set; null = there is none */
  alarmAt(): Promise<number | null>;
}

export interface NodeProxySetting {
  /** between two reports of an agent; twice as long is too long */
  syncPeriodMs: number;
  /** start of the server in ms since the epoch; 0 = not known */
  serverStartedAt: number;
  /** keys of taints that say that a node is about to go, besides the autoscaler's */
  drainingTaints: readonly string[];
  /** the gate KubeProxyDrainingTerminatingNodes: off = every node is eligible */
  drainsTerminatingNodes: boolean;
}

/** The questions for a Node so far. */
interface Asked {
  /** when the last one was put that had an answer; -Infinity = none had */
  answeredAt: number;
  /** the last one had none */
  isUnanswered: boolean;
}

export class NodeProxy implements NodeProxyRpc {
  readonly #reports: Map<string, KeptReport>;
  readonly #nodes: ToldNodes;
  /** of names that nobody told of */
  readonly #asked = new Map<string, Asked>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #unanswered: PacedLog;
  readonly #untold: PacedLog;
  #asksAt = -Infinity;
  #question: Promise<void> | undefined;
  #watch: Watch;
  #isWaking = false;

  constructor(
    private readonly ports: NodeProxyPorts,
    private readonly setting: NodeProxySetting,
  ) {
    const { storage } = ports;
    // Every check may meet it.
    this.#unanswered = new PacedLog("warn", "the store of Nodes does not answer: the last known state of nodes goes on", ports);
    this.#untold = new PacedLog(
      "warn",
      "the controller of the health of nodes does not answer: the last known state of nodes goes on",
      ports,
    );
    this.#reports = new Map(storage.reports());
    this.#nodes = new ToldNodes(storage);
    this.#watch = storage.watchLoad() ?? { alarmAt: 0, grantedAt: 0 };
    void this.#restoreAlarm();
  }

  async report(name: string, report: Report): Promise<ReportResult> {
    // A Node may have come since a check asked for it.
    await this.#find(name, 0);
    if (!this.#nodes.factsOf(name)) return { ok: false, reason: this.#asked.get(name)?.isUnanswered ? "unanswered" : "unknownNode" };
    const { storage, clock, recorder } = this.ports;
    const now = clock.now();
    if (this.#reports.get(name)?.isSilent) recorder.log("info", "the agent of a node reports again", { node: name });
    const kept: KeptReport = { report, reportedAt: now, isSilent: false };
    // The alarm may be set already: it then looks who is silent, and goes on with the others.
    const watch = this.#watch.alarmAt === 0 ? { ...this.#watch, alarmAt: now + silenceMs(this.setting.syncPeriodMs) } : this.#watch;
    storage.transaction(() => {
      storage.reportPut(name, kept);
      if (watch !== this.#watch) this.#keep(watch);
      else if (this.#isOverdue(now)) this.ports.wakeAt(now);
    });
    this.#watch = watch;
    this.#reports.set(name, kept);
    return { ok: true };
  }

  async health(name: string, path: HealthPath): Promise<NodeAnswer> {
    void this.#askController();
    await this.#find(name, ASKED_NODE_AGE_MS);
    const facts = this.#nodes.factsOf(name);
    if (!facts && !this.#isKnownAbsent(name)) throw new Error(NOTHING_KNOWN);
    const now = this.ports.clock.now();
    this.#wakeIfOverdue(now);
    const { drainingTaints, drainsTerminatingNodes } = this.setting;
    const nodeEligible = !drainsTerminatingNodes || isEligible(facts, drainingTaints);
    const answer = healthAnswer(path, { ...judge(this.#reports.get(name), this.#absence(now), now), nodeEligible }, now);
    return { ...answer, isOfNode: facts !== undefined };
  }

  /** How the nodes are that have an agent. */
  protected states(): NodeStates {
    const now = this.ports.clock.now();
    const absence = this.#absence(now);
    const states = { healthy: 0, late: 0, silent: 0 };
    for (const kept of this.#reports.values()) states[kept.isSilent ? "silent" : judge(kept, absence, now).healthy ? "healthy" : "late"]++;
    return states;
  }

  /** How the families are of the nodes whose agents are not silent. */
  protected families(): FamilyStates {
    const now = this.ports.clock.now();
    const absence = this.#absence(now);
    const living = [...this.#reports.values()].filter(({ isSilent }) => !isSilent);
    return living.map((kept) => familyStates(kept, absence, now)).reduce(joinedFamilies, {});
  }

  /** Called when nodes with an agent are no Nodes any more. */
  protected agentsGone(): void {
    // Nobody counts here.
  }

  async serviceHealth(node: string, service: AskedService, family: Family | null): Promise<NodeAnswer | null> {
    const question = this.#askController();
    if (!this.#nodes.knowsChecks) await question;
    // An answer would say that no Service has a check.
    if (!this.#nodes.knowsChecks) throw new Error(NOTHING_KNOWN);
    const check = this.#nodes.checkOf(service);
    const asked = family ?? check?.families[0];
    if (!check || !asked || !check.families.includes(asked)) return null;
    const now = this.ports.clock.now();
    this.#wakeIfOverdue(now);
    const localEndpoints = this.#nodes.countOf(node, check, asked);
    const answer = serviceHealthAnswer({ ...check, localEndpoints }, judge(this.#reports.get(node), this.#absence(now), now).healthy);
    return { ...answer, isOfNode: this.#nodes.factsOf(node) !== undefined };
  }

  push(change: ShardChange): Promise<Cursor | null> {
    this.#take(change, false);
    return Promise.resolve(this.#nodes.cursor ?? null);
  }

  /** The object's alarm. */
  alarm(): Promise<void> {
    const { storage, clock, recorder } = this.ports;
    const now = clock.now();
    const { alarmAt } = this.#watch;
    if (alarmAt === 0) return Promise.resolve();
    if (now < alarmAt && !this.#isOverdue(now)) {
      this.ports.wakeAt(alarmAt);
      this.#isWaking = false;
      return Promise.resolve();
    }
    const waiting = [...this.#reports].filter(([, { isSilent }]) => !isSilent).map(([name, kept]) => [name, notAfter(now, kept)] as const);
    const before = this.#absence(now);
    const hasMissedAll = mayHaveMissedAll(
      waiting.map(([, kept]) => kept),
      before,
      now,
    );
    const absence = hasMissedAll ? { ...before, grantedAt: now } : before;
    const silent = waiting
      .filter(([, kept]) => silentFrom(kept, absence) <= now)
      .map(([name, kept]) => [name, { ...kept, isSilent: true }] as const);
    const names = new Set(silent.map(([name]) => name));
    const next = leastOf(waiting.filter(([name]) => !names.has(name)).map(([, kept]) => silentFrom(kept, absence)));
    const watch = { alarmAt: next === Infinity ? 0 : next, grantedAt: absence.grantedAt };
    const changed = [...waiting.filter(([name, kept]) => kept !== this.#reports.get(name)), ...silent];
    storage.transaction(() => {
      for (const [name, kept] of changed) storage.reportPut(name, kept);
      this.#keep(watch);
    });
    this.#watch = watch;
    this.#isWaking = false;
    for (const [name, kept] of changed) this.#reports.set(name, kept);
    for (const [name, kept] of silent) {
      recorder.log("warn", "the agent of a node is silent", { node: name, lastReport: new Date(kept.reportedAt).toISOString() });
    }
    return Promise.resolve();
  }

  /** Sets the alarm again if it is lost before its time. Whoever starts asks (rule 19). Never rejects. */
  async #restoreAlarm(): Promise<void> {
    const { alarmAt } = this.#watch;
    const { clock } = this.ports;
    // One that is due may be going off. wakeIfOverdue looks after the others.
    if (alarmAt <= clock.now()) return;
    try {
      const setAt = (await this.ports.alarmAt()) ?? Infinity;
      if (setAt > alarmAt && this.#watch.alarmAt === alarmAt && alarmAt > clock.now()) this.ports.wakeAt(alarmAt);
    } catch (error) {
      this.#unset(error);
    }
  }

  /** An alarm may be lost also while the object lives. A check sets it again, behind its answer: once, until an alarm has gone off and was kept. */
  #wakeIfOverdue(now: number): void {
    if (this.#isWaking || !this.#isOverdue(now)) return;
    this.#isWaking = true;
    const { clock } = this.ports;
    clock.after(WAKE_DELAY_MS, () => {
      if (!this.#isOverdue(clock.now())) {
        this.#isWaking = false;
        return;
      }
      try {
        this.ports.wakeAt(clock.now());
      } catch (error) {
        this.#unset(error);
      }
    });
  }

  #unset(error: unknown): void {
    this.ports.recorder.log("warn", "the alarm of the health of nodes cannot be set", { error: String(error) });
  }

  /** Part of a transaction. */
  #keep(watch: Watch): void {
    this.ports.storage.watchPut(watch);
    if (watch.alarmAt !== 0) this.ports.wakeAt(watch.alarmAt);
  }

  #isOverdue(now: number): boolean {
    return isOverdue(this.#watch.alarmAt, now, this.setting.syncPeriodMs);
  }

  /** An alarm that is late shows an absence also before it goes off. */
  #absence(now: number): Absence {
    return absenceAt(now, this.#watch.alarmAt, { ...this.setting, grantedAt: this.#watch.grantedAt });
  }

  #take(change: ShardChange, isAnswer: boolean): void {
    const ended = this.#nodes.take(change, this.#reports, this.ports.clock.now(), isAnswer);
    if (!ended) {
      // Whoever tells may have no answer from here in time, and so may not know. The next check asks.
      this.#asksAt = -Infinity;
      return;
    }
    // A Node that is gone is as one that was never seen. Whoever gets the name begins anew.
    this.#forget(ended);
    this.#heard();
  }

  /** The controller has told or answered something. */
  #heard(): void {
    this.#asksAt = this.ports.clock.now() + (this.#nodes.knowsChecks ? HEARD_AGE_MS : ASK_AGAIN_MS);
    this.#confirm();
  }

  /** Asks the store for some of those Nodes that the controller should have told of by now: they may be gone. */
  #confirm(): void {
    const due = this.#nodes.untold.filter((name) => this.#isDue(name, UNTOLD_MS));
    for (const name of due.slice(0, CONFIRMED_AT_ONCE)) void this.#find(name, UNTOLD_MS);
  }

  /** Asks the controller, unless it was heard of late. Those who ask together share one question. A check of a node does not wait for it. Never rejects. */
  #askController(): Promise<void> {
    const now = this.ports.clock.now();
    // A clock that was set back keeps nobody waiting.
    if (now < this.#asksAt && this.#asksAt <= now + HEARD_AGE_MS) return this.#question ?? Promise.resolve();
    return (this.#question ??= this.#askOnce());
  }

  async #askOnce(): Promise<void> {
    const { clock, state } = this.ports;
    this.#asksAt = clock.now() + ASK_AGAIN_MS;
    const before = this.#nodes.cursor;
    try {
      // Whoever knows of no checks has nothing that the controller could build on.
      const change = await withTimeout(clock, ASK_TIMEOUT_MS, state((this.#nodes.knowsChecks && before) || null));
      // A push that came meanwhile may be newer than the answer.
      if (change && this.#nodes.cursor === before) this.#take(change, true);
      else this.#heard();
    } catch (error) {
      this.#untold.add(() => ({ error: String(error) }));
    } finally {
      this.#question = undefined;
    }
  }

  /** Looks for a Node that nobody told of in its store, unless that was done of late. Those who ask together share one question. Never rejects. */
  async #find(name: string, ageMaxMs: number): Promise<void> {
    if (this.#nodes.isTold(name) || !this.#isDue(name, ageMaxMs)) return;
    let asking = this.#asking.get(name);
    if (!asking) {
      asking = this.#ask(name).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    await asking;
  }

  /** Whether no answer about the name is of late. */
  #isDue(name: string, ageMaxMs: number): boolean {
    const age = this.ports.clock.now() - (this.#asked.get(name)?.answeredAt ?? -Infinity);
    return age < 0 || age >= ageMaxMs;
  }

  async #ask(name: string): Promise<void> {
    const { clock } = this.ports;
    const asked: Asked = { answeredAt: clock.now(), isUnanswered: false };
    const timeoutMs = this.#nodes.factsOf(name) || this.#isKnownAbsent(name) ? CONFIRM_TIMEOUT_MS : FIND_TIMEOUT_MS;
    try {
      for (let finds = 1; finds <= FINDS_MAX; finds++) {
        const before = this.#nodes.cursor;
        const object = await withTimeout(clock, timeoutMs, this.ports.node(name));
        // The controller may have told of it meanwhile, and later news.
        if (this.#nodes.isTold(name)) break;
        // Or that it is gone: the answer may be older.
        if (this.#nodes.cursor !== before && finds < FINDS_MAX) continue;
        this.#found(name, object);
        break;
      }
    } catch (error) {
      asked.answeredAt = this.#asked.get(name)?.answeredAt ?? -Infinity;
      asked.isUnanswered = true;
      this.#unanswered.add(() => ({ node: name, error: String(error) }));
    }
    this.#asked.delete(name);
    if (this.#nodes.isTold(name)) return;
    if (this.#asked.size >= ASKED_UNKNOWN_MAX) this.#asked.clear();
    this.#asked.set(name, asked);
  }

  /** The controller tells every Node at once, so one that it did not name is not there. */
  #isKnownAbsent(name: string): boolean {
    return this.#nodes.cursor !== undefined || (this.#asked.get(name)?.answeredAt ?? -Infinity) > -Infinity;
  }

  #found(name: string, object: string | null): void {
    if (object !== null) {
      const facts = nodeFacts(JSON.parse(object) as Node);
      if (this.#nodes.found(name, facts, this.#reports.get(name), this.ports.clock.now())) this.#forget([name]);
    } else if (this.#nodes.factsOf(name)) {
      this.#nodes.lost(name);
      this.#forget([name]);
    }
  }

  #forget(names: readonly string[]): void {
    if (names.filter((name) => this.#reports.delete(name)).length > 0) this.agentsGone();
  }
}
