/**
 * What a store keeps of quotas: the limits that it was told, and how far the store of ResourceQuotas has told the others. The values stand beside the
 * store's tables, in its transactions; a release without them leaves them alone.
 */
import type { QuotaStorage } from "../src/api/store/quota/quota-guard";
import type { QuotaMarks } from "../src/controllers/quotas/quota-pushes";

const PROGRESS = "quota-progress";
const LIMITS = "quota-limits/";
const MARKS = "quota-marks/";
const STATES = "quota-states/";

/** The QuotaStorage port. */
export function keptQuotas({ kv }: DurableObjectStorage): QuotaStorage {
  return {
    quotaProgress: () => kv.get(PROGRESS),
    quotaProgressSave: (progress) => kv.put(PROGRESS, progress),
    quotaLoad: () =>
      [...kv.list<Record<string, string>>({ prefix: LIMITS })].map(([key, hard]) => ({ key: key.slice(LIMITS.length), hard })),
    quotaPut: (key, hard) => kv.put(LIMITS + key, hard),
    quotaDelete: (key) => void kv.delete(LIMITS + key),
  };
}

/** The QuotaMarks port in the store of ResourceQuotas. */
export function keptQuotaMarks({ kv }: DurableObjectStorage): QuotaMarks {
  return {
    markGet: (name) => kv.get<number>(MARKS + name) ?? 0,
    markSet: (name, revision) => kv.put(MARKS + name, revision),
    stateGet: (name) => kv.get<string>(STATES + name) ?? "",
    stateSet: (name, state) => kv.put(STATES + name, state),
  };
}
