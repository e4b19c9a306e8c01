/**
 * The health of some nodes of a cluster, as load balancers ask for it: their last reports, and what of their Nodes decides about new connections.
 *
 * What must always hold
 * - A check writes nothing, but for what is new about the Node.
 * - What fails around this object turns no node red: while the store of Nodes does not answer, the last known state goes on.
 * - Only an alarm on time calls a node silent (judgement.ts).
 * - A start writes nothing, unless the alarm is lost: on a full disk every write ends the object, and its rows could not answer any more.
 */
import type { Node } from "../api/meta/kubernetes";
import { healthAnswer, type HealthAnswer, type HealthPath, isEligible, type NodeFacts, nodeFacts } from "../api/meta/proxy-health";
import type { Clock, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { PacedLog } from "../core/telemetry/paced-log";
import { type Absence, isOverdue, judge, type KeptReport, mayHaveMissedAll, silenceMs, silentFrom } from "./judgement";
import type { NodeStorage, Watch } from "./node-storage";
import type { Report } from "./report";
import type { NodeProxyRpc, ReportResult } from "./rpc";

/** A check asks for a Node that it has not asked for as long. So much later a taint is seen. */
export const CHECKED_NODE_AGE_MS = 5_000;
/** The same for a report: it only needs to know whether the Node is there. */
const REPORTED_NODE_AGE_MS = 60_000;
/** How long a check waits for the store of Nodes before the last known state goes on: load balancers give up after some seconds. */
const ASK_TIMEOUT_MS = 2_000;
/** The same where nothing is known that could go on. */
const ASK_UNKNOWN_TIMEOUT_MS = 10_000;
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

/** What was learned when a Node was last asked for. */
interface Asked {
  at: number;
  answered: boolean;
}

export class NodeProxy implements NodeProxyRpc {
  readonly #reports: Map<string, KeptReport>;
  /** of Nodes that were there when they were last asked for */
  readonly #facts: Map<string, NodeFacts>;
  /** of names with facts; their number is that of the rows */
  readonly #asked = new Map<string, Asked>();
  readonly #askedUnknown = new Map<string, Asked>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #unanswered: PacedLog;
  #watch: Watch;
  #isWaking = false;

  constructor(
    private readonly ports: NodeProxyPorts,
    private readonly setting: NodeProxySetting,
  ) {
    const { storage } = ports;
    // Every check may meet it.
    this.#unanswered = new PacedLog("warn", "the store of Nodes does not answer: the last known state of nodes goes on", ports);
    this.#reports = new Map(storage.reports());
    this.#facts = new Map(storage.facts());
    this.#watch = storage.watchLoad() ?? { alarmAt: 0, grantedAt: 0 };
    void this.#restoreAlarm();
  }

  async report(name: string, report: Report): Promise<ReportResult> {
    // A Node may have come since a check asked for it.
    await this.#learn(name, this.#facts.has(name) ? REPORTED_NODE_AGE_MS : 0);
    if (!this.#facts.has(name)) return { ok: false, reason: this.#askedOf(name)?.answered === false ? "unanswered" : "unknownNode" };
    const { storage, clock, recorder } = this.ports;
    const now = clock.now();
    if (this.#reports.get(name)?.isSilent) recorder.log("info", "the agent of a node reports again", { node: name });
    const kept: KeptReport = { report, reportedAt: now, isSilent: false };
    // The alarm may be set already: it then looks who is silent, and goes on with the others.
    const watch = this.#watch.alarmAt === 0 ? { ...this.#watch, alarmAt: now + silenceMs(this.setting.syncPeriodMs) } : this.#watch;
    storage.transaction(() => {
      storage.reportPut(name, kept);
      if (watch !== this.#watch) this.#keep(watch);
      else if (isOverdue(watch.alarmAt, now)) this.ports.wakeAt(now);
    });
    this.#watch = watch;
    this.#reports.set(name, kept);
    return { ok: true };
  }

  async health(name: string, path: HealthPath): Promise<HealthAnswer> {
    await this.#learn(name, CHECKED_NODE_AGE_MS);
    const now = this.ports.clock.now();
    this.#wakeIfOverdue(now);
    const { drainingTaints, drainsTerminatingNodes } = this.setting;
    const nodeEligible = !drainsTerminatingNodes || isEligible(this.#facts.get(name), drainingTaints);
    return healthAnswer(path, { ...judge(this.#reports.get(name), this.#absence(now), now), nodeEligible }, now);
  }

  /** The object's alarm. */
  alarm(): Promise<void> {
    const { storage, clock, recorder } = this.ports;
    const now = clock.now();
    const { alarmAt } = this.#watch;
    if (alarmAt === 0) return Promise.resolve();
    if (now < alarmAt) {
      this.ports.wakeAt(alarmAt);
      return Promise.resolve();
    }
    const waiting = [...this.#reports].filter(([, { isSilent }]) => !isSilent);
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
    const next = Math.min(...waiting.filter(([name]) => !names.has(name)).map(([, kept]) => silentFrom(kept, absence)));
    const watch = { alarmAt: next === Infinity ? 0 : next, grantedAt: absence.grantedAt };
    storage.transaction(() => {
      for (const [name, kept] of silent) storage.reportPut(name, kept);
      this.#keep(watch);
    });
    this.#watch = watch;
    for (const [name, kept] of silent) {
      this.#reports.set(name, kept);
      recorder.log("warn", "the agent of a node is silent", { node: name, lastReport: new Date(kept.reportedAt).toISOString() });
    }
    if (silent.length > 0) void this.#dropGone();
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

  /** An alarm may be lost also while the object lives. Once in its life a check sets it again, behind its answer. */
  #wakeIfOverdue(now: number): void {
    if (this.#isWaking || !isOverdue(this.#watch.alarmAt, now)) return;
    this.#isWaking = true;
    const { clock } = this.ports;
    clock.after(WAKE_DELAY_MS, () => {
      if (!isOverdue(this.#watch.alarmAt, clock.now())) {
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

  /** Forgets silent nodes whose Nodes are gone: nobody may ever check them again. One question at a time. Never rejects. */
  async #dropGone(): Promise<void> {
    for (const [name, { isSilent }] of [...this.#reports]) if (isSilent) await this.#learn(name, CHECKED_NODE_AGE_MS);
  }

  /** Part of a transaction. */
  #keep(watch: Watch): void {
    this.ports.storage.watchPut(watch);
    if (watch.alarmAt !== 0) this.ports.wakeAt(watch.alarmAt);
  }

  /** An alarm that is late shows an absence also before it goes off. */
  #absence(now: number): Absence {
    const { serverStartedAt, syncPeriodMs } = this.setting;
    const { alarmAt, grantedAt } = this.#watch;
    return { syncPeriodMs, serverStartedAt, grantedAt: isOverdue(alarmAt, now) ? now : grantedAt };
  }

  #askedOf(name: string): Asked | undefined {
    return this.#asked.get(name) ?? this.#askedUnknown.get(name);
  }

  /** Asks for the Node unless that was done of late. Those who ask together share one question. Never rejects. */
  async #learn(name: string, ageMaxMs: number): Promise<void> {
    const asked = this.#askedOf(name);
    const age = asked ? this.ports.clock.now() - asked.at : Infinity;
    // Without an answer and without a last known state the next one asks again.
    const isUseful = asked?.answered === true || this.#facts.has(name);
    if (isUseful && age >= 0 && age < ageMaxMs) return;
    let asking = this.#asking.get(name);
    if (!asking) {
      asking = this.#ask(name).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    await asking;
  }

  async #ask(name: string): Promise<void> {
    const { clock } = this.ports;
    const at = clock.now();
    let answered = true;
    try {
      const timeoutMs = this.#facts.has(name) ? ASK_TIMEOUT_MS : ASK_UNKNOWN_TIMEOUT_MS;
      this.#learned(name, await withTimeout(clock, timeoutMs, this.ports.node(name)));
    } catch (error) {
      answered = false;
      this.#unanswered.add(() => ({ node: name, error: String(error) }));
    }
    this.#asked.delete(name);
    this.#askedUnknown.delete(name);
    const isKnown = this.#facts.has(name);
    if (!isKnown && this.#askedUnknown.size >= ASKED_UNKNOWN_MAX) this.#askedUnknown.clear();
    (isKnown ? this.#asked : this.#askedUnknown).set(name, { at, answered });
  }

  #learned(name: string, object: string | null): void {
    const { storage } = this.ports;
    if (object === null) {
      // A Node that is gone is as one that was never seen. Whoever gets the name begins anew.
      if (this.#facts.has(name) || this.#reports.has(name)) storage.nodeDelete(name);
      this.#facts.delete(name);
      this.#reports.delete(name);
      return;
    }
    const facts = nodeFacts(JSON.parse(object) as Node);
    const known = this.#facts.get(name);
    if (known && JSON.stringify(known) === JSON.stringify(facts)) return;
    // What an earlier Node of the name reported says nothing about this one.
    const isAnother = known?.uid !== undefined && known.uid !== facts.uid;
    storage.transaction(() => {
      if (isAnother) storage.nodeDelete(name);
      storage.factsPut(name, facts);
    });
    this.#facts.set(name, facts);
    if (isAnother) this.#reports.delete(name);
  }
}
