/**
 * The server's judgement of a node by its last report.
 *
 * An agent that has reported reports every sync period. It is silent after two without a report, and its node is then not healthy: a node without power
 * must not get traffic. Silence is judged by an alarm of the node's object, because a check must not write and an object sleeps between checks.
 *
 * The server may have been away itself, and no node is called silent for that. A node has a full period from its last report and from the start of
 * the server. It also has one from an alarm that came late, or that found several agents and no recent report of any. Until it reports again, a
 * change that waited counts as it stood in the report.
 */
import { type FamilyHealth, isLate } from "./rules/health-answer";
import { FAMILIES, type Family } from "../core/net/family";
import type { FamilyStates } from "./pushed/health-tally";
import type { Report } from "./report";

/** After so long without a report an agent is silent; a change that waits as long is late. Agents report every sync period. */
export function silenceMs(syncPeriodMs: number): number {
  return 2 * syncPeriodMs;
}

/** An alarm that is later than this says that the server was away. */
const ALARM_LATE_MS = 5_000;

/** All times are ms since the epoch, of the server's clock. */
export interface KeptReport {
  readonly report: Report;
  readonly reportedAt: number;
  readonly isSilent: boolean;
}

/** When the server was last away: it may have missed every report before this time. */
export interface Absence {
  /** between two reports of an agent */
  readonly syncPeriodMs: number;
  /** start of the server; 0 = not known */
  readonly serverStartedAt: number;
  /** an alarm granted a period at this time; 0 = none has */
  readonly grantedAt: number;
}

/** The report as it counts at `now`: none is of the future, although the clock may have been set back since. */
export function notAfter(now: number, kept: KeptReport): KeptReport {
  return kept.reportedAt > now ? { ...kept, reportedAt: now } : kept;
}

/** From when on a node is silent unless it reports. */
export function silentFrom({ reportedAt }: Pick<KeptReport, "reportedAt">, absence: Absence): number {
  return Math.max(reportedAt, absence.serverStartedAt, absence.grantedAt) + silenceMs(absence.syncPeriodMs);
}

/**
 * Whether an alarm at `now` grants a period, because the server may have kept all reports away. Several agents wait, and none has reported for a sync
 * period. It grants once: then only a report says that the server is there.
 */
export function mayHaveMissedAll(waiting: readonly Pick<KeptReport, "reportedAt">[], absence: Absence, now: number): boolean {
  const newest = waiting.reduce((latest, { reportedAt }) => Math.max(latest, reportedAt), 0);
  return waiting.length > 1 && newest <= now - absence.syncPeriodMs && newest > Math.max(absence.serverStartedAt, absence.grantedAt);
}

/**
 * Whether an alarm that should have gone off at `alarmAt` has not done so in time. 0 = there is no alarm. One that stands far ahead was set before the
 * clock was set back.
 */
export function isOverdue(alarmAt: number, now: number, syncPeriodMs: number): boolean {
  return alarmAt !== 0 && (now - alarmAt > ALARM_LATE_MS || isFarAhead(alarmAt - silenceMs(syncPeriodMs), now, syncPeriodMs));
}

/** Whether this time of the past cannot be: the clock was set back since. Where it was by less, silence is noticed later by as much. */
function isFarAhead(time: number, now: number, syncPeriodMs: number): boolean {
  return time - now > silenceMs(syncPeriodMs);
}

/** The absence that an alarm at `now` judges by. `alarmAt`: when it should have gone off. */
export function absenceAt(now: number, alarmAt: number, kept: Absence): Absence {
  const { syncPeriodMs, serverStartedAt, grantedAt } = kept;
  return {
    syncPeriodMs,
    serverStartedAt: isFarAhead(serverStartedAt, now, syncPeriodMs) ? 0 : serverStartedAt,
    grantedAt: isOverdue(alarmAt, now, syncPeriodMs) ? now : grantedAt,
  };
}

export interface ProxyJudgement {
  readonly healthy: boolean;
  readonly families: Readonly<Partial<Record<Family, FamilyHealth>>>;
}

/** The health of a node's proxy. undefined = the node never had an agent: it is judged as a proxy at its start. */
export function judge(kept: KeptReport | undefined, absence: Absence, now: number): ProxyJudgement {
  if (!kept) return { healthy: true, families: {} };
  const { report, reportedAt, isSilent } = notAfter(now, kept);
  const wasAway = Math.max(absence.serverStartedAt, absence.grantedAt) > reportedAt;
  const families: Partial<Record<Family, FamilyHealth>> = {};
  for (const family of FAMILIES) {
    const said = report[family];
    if (!said) continue;
    const lastUpdated = said.appliedAgoMs === undefined ? undefined : reportedAt - said.appliedAgoMs;
    // Queued and never applied: upstream does not count such a family.
    if (lastUpdated === undefined && said.healthy === undefined) continue;
    const queuedSince = said.queuedForMs === undefined ? undefined : reportedAt - said.queuedForMs;
    const isWaitingLong = isLate({ lastUpdated, queuedSince }, wasAway ? reportedAt : now, silenceMs(absence.syncPeriodMs));
    const late = said.healthy === undefined ? isWaitingLong : !said.healthy;
    families[family] = { lastUpdated, healthy: !isSilent && !late };
  }
  const healthy = !isSilent && Object.values(families).every((family) => family.healthy);
  return { healthy, families };
}

/** What one report says for the metrics of all. */
export function familyStates(kept: KeptReport, absence: Absence, now: number): FamilyStates {
  const { families } = judge(kept, absence, now);
  const { report, reportedAt } = notAfter(now, kept);
  const states = FAMILIES.flatMap((family) => {
    const health = families[family];
    if (!health) return [];
    const { queuedForMs } = report[family] ?? {};
    const { lastUpdated } = health;
    const times = {
      ...(queuedForMs !== undefined && { queuedSince: reportedAt - queuedForMs }),
      ...(lastUpdated !== undefined && { syncedAt: lastUpdated }),
    };
    return [[family, { late: Number(!health.healthy), ...times }] as const];
  });
  return Object.fromEntries(states);
}
