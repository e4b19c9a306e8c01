/** What `npm run simulate` plays for one seed. */
import { runQuotaHistory } from "./quota-history";
import { quotaSabotages } from "../sabotage/quota-sabotages";
import { sabotages } from "../sabotage/sabotages";
import { runWholeHistory, type WholeReport } from "./whole-history";

/** Every so many seeds play a history of quotas, too. */
const QUOTAS_EACH = 4;

/** A history of everything, and for some seeds one of quotas. `without`: the protection that is taken out; "" = none. */
export async function runSeed(seed: number, without: string): Promise<WholeReport> {
  const [missing, missingOfQuotas] = [sabotages[without]?.(), quotaSabotages[without]?.()];
  const whole = await runWholeHistory({ seed, ...(missing && { sabotage: missing }) });
  if (seed % QUOTAS_EACH > 0 && !missingOfQuotas) return whole;
  const { violations } = await runQuotaHistory({ seed, ...(missingOfQuotas && { sabotage: missingOfQuotas }) });
  return { ...whole, violations: [...whole.violations, ...violations.map((violation) => `quotas: ${violation}`)] };
}
