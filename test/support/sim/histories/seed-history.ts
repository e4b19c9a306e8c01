/** What `npm run simulate` plays for one seed. */
import { runPoolHistory } from "../pools/pool-history";
import { runQuotaHistory } from "./quota-history";
import { quotaSabotages } from "../sabotage/quota-sabotages";
import { poolSabotages } from "../sabotage/pool-sabotages";
import { sabotages } from "../sabotage/sabotages";
import { runWholeHistory, type WholeReport } from "./whole-history";

/** Every so many seeds play a history of quotas, or of pools, too. */
const QUOTAS_EACH = 4;
const POOLS_EACH = 8;

/** A history of everything, and for some seeds one of quotas or pools. `without`: the protection that is taken out; "" = none. */
export async function runSeed(seed: number, without: string): Promise<WholeReport> {
  const [missing, missingOfQuotas, missingOfPools] = [sabotages[without]?.(), quotaSabotages[without]?.(), poolSabotages[without]?.()];
  const whole = await runWholeHistory({ seed, ...(missing && { sabotage: missing }) });
  const violations = [...whole.violations];
  if (seed % QUOTAS_EACH === 0 || missingOfQuotas) {
    const report = await runQuotaHistory({ seed, ...(missingOfQuotas && { sabotage: missingOfQuotas }) });
    violations.push(...report.violations.map((violation) => `quotas: ${violation}`));
  }
  if (seed % POOLS_EACH === 0 || missingOfPools) {
    const report = await runPoolHistory({ seed, ...(missingOfPools && { sabotage: missingOfPools }) });
    violations.push(...report.violations.map((violation) => `pools: ${violation}`));
  }
  return { ...whole, violations };
}
