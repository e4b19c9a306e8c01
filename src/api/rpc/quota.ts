/**
 * How the limits of quotas come to the stores, and what the stores use. The store of ResourceQuotas tells the others: no create calls another object.
 *
 * A message tells what has changed behind a revision of the quotas' store, or all quotas. A store takes only what is newer than what it has, so a
 * message may come late, twice, or not at all: the store that tells asks for the answer, and begins again where that stands.
 */

export interface QuotaLimits {
  /** storage key of the ResourceQuota */
  key: string;
  /** name -> quantity, of the names that the store counts; null = the quota limits nothing here any more */
  hard: Record<string, string> | null;
}

export interface QuotaMessage {
  /** incarnation of the quotas' store */
  source: string;
  /** the message tells of the changes behind this revision; null = of all quotas that there are */
  since: number | null;
  /** the newest revision of which it tells */
  through: number;
  quotas: QuotaLimits[];
}

export interface UsageQuestion {
  namespace: string;
  /** names that the store counts */
  names: string[];
}

export interface LimitedStore {
  /** Answers the revision up to which the store has the limits, persisted; a lower one than `through` = it needs all of them. */
  takeQuotas(message: QuotaMessage): Promise<number>;
  /** what each namespace uses of each name */
  quotaUsage(questions: UsageQuestion[]): Promise<number[][]>;
}
