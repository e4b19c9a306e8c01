/**
 * The last reports of agents, and the alarm that finds silent ones (judgement.ts).
 *
 * What must always hold
 * - Only an alarm on time calls a node silent.
 * - A start writes nothing, unless the alarm is lost: on a full disk every write ends the object, and its rows could not answer any more.
 */
import { leastOf } from "../core/base/extremes";
import type { Clock, Recorder } from "../core/base/ports";
import {
  type Absence,
  absenceAt,
  familyStates,
  isOverdue,
  judge,
  type KeptReport,
  mayHaveMissedAll,
  notAfter,
  type ProxyJudgement,
  silenceMs,
  silentFrom,
} from "./judgement";
import type { NodeStorage, NodeWatch } from "./node-storage";
import { type FamilyStates, joinedFamilies, type NodeStates } from "./pushed/health-tally";
import type { Report } from "./report";

/** A check that finds the alarm lost sets it so much later, behind its answer: a write that fails ends the object. */
const WAKE_DELAY_MS = 1_000;

export interface ReportsPorts {
  storage: Pick<NodeStorage, "transaction" | "reports" | "reportPut" | "watchLoad" | "watchPut">;
  clock: Clock;
  recorder: Recorder;
  /** the object's alarm, durable with the writes of the turn */
  wakeAt(atMs: number): void;
  /** for when the object's alarm is set; null = there is none */
  alarmAt(): Promise<number | null>;
}

export interface ReportsSetting {
  /** between two reports of an agent; twice as long is too long */
  syncPeriodMs: number;
  /** start of the server in ms since the epoch; 0 = not known */
  serverStartedAt: number;
}

export class Reports {
  readonly #kept: Map<string, KeptReport>;
  #watch: NodeWatch;
  #isWaking = false;

  constructor(
    private readonly ports: ReportsPorts,
    private readonly setting: ReportsSetting,
  ) {
    this.#kept = new Map(ports.storage.reports());
    this.#watch = ports.storage.watchLoad() ?? { alarmAt: 0, grantedAt: 0 };
    void this.#restoreAlarm();
  }

  /** by the name of the node */
  get all(): ReadonlyMap<string, KeptReport> {
    return this.#kept;
  }

  /** Keeps the report in place of the one before: both are durable together with the alarm that waits for the next. */
  put(name: string, report: Report): void {
    const { storage, clock, recorder } = this.ports;
    const now = clock.now();
    if (this.#kept.get(name)?.isSilent) recorder.log("info", "the agent of a node reports again", { node: name });
    const kept: KeptReport = { report, reportedAt: now, isSilent: false };
    // The alarm may be set already: it then looks who is silent, and goes on with the others.
    const watch = this.#watch.alarmAt === 0 ? { ...this.#watch, alarmAt: now + silenceMs(this.setting.syncPeriodMs) } : this.#watch;
    storage.transaction(() => {
      storage.reportPut(name, kept);
      if (watch !== this.#watch) this.#keep(watch);
      else if (this.#isOverdue(now)) this.ports.wakeAt(now);
    });
    this.#watch = watch;
    this.#kept.set(name, kept);
  }

  /** How the proxy of a node is. A node that never had an agent is judged as a proxy at its start. */
  judge(name: string): ProxyJudgement {
    const now = this.ports.clock.now();
    this.#wakeIfOverdue(now);
    return judge(this.#kept.get(name), this.#absence(now), now);
  }

  /** How the nodes are that have an agent. */
  states(): NodeStates {
    const now = this.ports.clock.now();
    const absence = this.#absence(now);
    const states = { healthy: 0, late: 0, silent: 0 };
    for (const kept of this.#kept.values()) states[kept.isSilent ? "silent" : judge(kept, absence, now).healthy ? "healthy" : "late"]++;
    return states;
  }

  /** How the families are of the nodes whose agents are not silent. */
  families(): FamilyStates {
    const now = this.ports.clock.now();
    const absence = this.#absence(now);
    const living = [...this.#kept.values()].filter(({ isSilent }) => !isSilent);
    return living.map((kept) => familyStates(kept, absence, now)).reduce(joinedFamilies, {});
  }

  /** Forgets reports whose rows are gone. Answers whether there were any. */
  forget(names: readonly string[]): boolean {
    return names.filter((name) => this.#kept.delete(name)).length > 0;
  }

  /** The object's alarm. */
  alarm(): void {
    const { storage, clock, recorder } = this.ports;
    const now = clock.now();
    const { alarmAt } = this.#watch;
    if (alarmAt === 0) return;
    if (now < alarmAt && !this.#isOverdue(now)) {
      this.ports.wakeAt(alarmAt);
      this.#isWaking = false;
      return;
    }
    const waiting = [...this.#kept].filter(([, { isSilent }]) => !isSilent).map(([name, kept]) => [name, notAfter(now, kept)] as const);
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
    const changed = [...waiting.filter(([name, kept]) => kept !== this.#kept.get(name)), ...silent];
    storage.transaction(() => {
      for (const [name, kept] of changed) storage.reportPut(name, kept);
      this.#keep(watch);
    });
    this.#watch = watch;
    this.#isWaking = false;
    for (const [name, kept] of changed) this.#kept.set(name, kept);
    for (const [name, kept] of silent) {
      recorder.log("warn", "the agent of a node is silent", { node: name, lastReport: new Date(kept.reportedAt).toISOString() });
    }
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
  #keep(watch: NodeWatch): void {
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
}
