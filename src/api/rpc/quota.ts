/**
 * How the limits of quotas come to the stores, and what the stores use. The store of ResourceQuotas tells the others: no create calls another object.
 * It tells those that were ever used. A store asks before its first write, when the list of used stores knows it (controllers/plain-store.ts).
 *
 * A message tells what has changed behind a revision of the quotas' store, or all quotas. A store takes only what is newer than what it has, so a
 * message may come late, twice, or not at all. The sending store asks for the answer, and begins again where the answer stands.
 *
 * Point-in-time recovery may bring one of the two back alone. So a store says what it holds, both when it reports its use and when it refuses a
 * write. If that does not agree with what the store of quotas remembers, the store of quotas sends everything again.
 */

export interface QuotaLimits {
  /** storage key of the ResourceQuota */
  key: string;
  /** name -> quantity, of the names that the store counts; null = the quota limits nothing here any more */
  hard: Record<string, string> | null;
}

export interface QuotaMessage {
  /** who tells: the quotas' store, another one after it has lost what it had told */
  source: string;
  /** the message tells of the changes behind this revision, to a store that stands just there; null = of all quotas that there are */
  since: number | null;
  /** the state of the quotas at that revision; an older release tells none */
  base?: string;
  /** the newest revision of which it tells */
  through: number;
  /** the state of the quotas at that revision: each change of limits makes another one. After point-in-time recovery revisions repeat, states do not */
  state?: string;
  quotas: QuotaLimits[];
}

export interface UsageQuestion {
  namespace: string;
  /** names that the store counts */
  names: string[];
}

/** Whose limits a store holds, and up to which revision; source "" = nobody has told any. */
export interface QuotaProgress {
  source: string;
  through: number;
  /** see QuotaMessage */
  state?: string;
}

export interface HeldLimits extends QuotaProgress {
  /** of the store: `pods`, `leases.coordination.k8s.io` */
  resource: string;
}

export interface UsageAnswer {
  /** what each namespace uses of each name */
  amounts: number[][];
  held: QuotaProgress;
}

export interface LimitedStore {
  /** Answers the revision up to which the store has the limits, persisted; a lower one than `through` = it needs all of them. */
  takeQuotas(message: QuotaMessage): Promise<number>;
  quotaReport(questions: UsageQuestion[]): Promise<UsageAnswer>;
  /** The amounts of `quotaReport` alone: what the release before asks and answers. */
  quotaUsage(questions: UsageQuestion[]): Promise<number[][]>;
}

/** The store of ResourceQuotas. */
export interface LimitSource {
  /**
   * Stores say what they hold. Resolves when those that do not hold what they should have been told, or have failed.
   *
   * @returns whether each of them has all limits now; an older release answers nothing, and tells every store, used or not
   */
  limitsHeld(held: HeldLimits[]): Promise<boolean | undefined>;
}
