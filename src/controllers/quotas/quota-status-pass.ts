/**
 * The status of ResourceQuotas: the limits in force, and what is used of them (upstream pkg/controller/resourcequota). Used amounts come from the
 * stores that count. A status is written only when it says something else than before.
 */
import { parseJson } from "../../core/encoding/exact-json";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { semanticEqual } from "../../api/meta/equality";
import type { ResourceQuota } from "../../api/meta/kubernetes";
import { qualifiedResource } from "../../api/meta/status";
import { limitsFor, limitsOf, usageRules } from "../../api/registry/resource-quotas/usage";
import { type ObjectFeed, pagesOf } from "../../api/rpc/object-feed";
import type { StoreRpc } from "../../api/rpc/store";
import { isMethodMissing } from "../../api/rpc/older-release";
import type { HeldLimits, LimitedStore, LimitSource, UsageAnswer, UsageQuestion } from "../../api/rpc/quota";
import { quantityOf } from "../../api/schema/quantity";
import { PAGE_ENTRIES } from "../followed/followed-store";
import { updateRequest } from "../followed/write-requests";
import type { Pass } from "../frame/controller";
import { Frame } from "../frame/frame";
import { type Outcome, outcomeOf, type Round } from "../frame/round";
import type { CountingStore } from "./quota-pushes";

/** Counting the Pods of a large namespace for the first time takes longer than a usual call. */
const CALL_TIMEOUT_MS = 60_000;
/** Reading what is used takes several such calls. */
const BUDGET_MS = 5 * CALL_TIMEOUT_MS;

const WRITER = { manager: "kube-controller-manager", group: "" };

/** A store of the cluster; `store` makes a stub for one call. */
export interface CountedStore {
  definition: CountingStore["definition"];
  store(): Pick<LimitedStore, "quotaReport" | "quotaUsage">;
}

export interface QuotaStatusPorts {
  clock: Clock;
  recorder: Recorder;
  /** a stub of the store of ResourceQuotas for one call */
  quotas(): Pick<StoreRpc, "write"> & Pick<ObjectFeed, "objectsAfter"> & LimitSource;
  /** every store of the cluster */
  stores: readonly CountedStore[];
  /** see UsedStores; absent = every store may be used */
  isUnused?(name: string): Promise<boolean>;
}

/** namespace -> name -> amount */
type Usage = Map<string, Map<string, number>>;

export function quotaStatusPass(ports: QuotaStatusPorts): Pass {
  return new Frame<ResourceQuota>(ports, {
    work: {
      plan: (round) => quotasToWrite(ports, round),
      write: (quota) => writeStatus(ports, quota),
      // One that was written anew since is another: its first try waits for nothing.
      nameOf: ({ metadata }) =>
        `status of the quota ${metadata?.namespace ?? ""}/${metadata?.name ?? ""} ${metadata?.uid ?? ""} ${metadata?.resourceVersion ?? ""}`,
      atOnce: 1,
    },
    budgetMs: BUDGET_MS,
  }).pass;
}

/** The quotas whose status says something else than what is used now, each with its new status. */
async function quotasToWrite(ports: QuotaStatusPorts, round: Round): Promise<ResourceQuota[]> {
  const quotas = await readQuotas(ports);
  if (quotas.length === 0) return [];
  const { usage, held, isWhole } = await readUsage(ports, quotas);
  const isHeard = await tellHeld(ports, held);
  if (!isWhole || !isHeard) round.leave();
  return quotas.filter(hasLimits).flatMap((quota) => {
    const status = statusOf(quota, usage);
    return semanticEqual(status, quota.status) ? [] : [{ ...quota, status }];
  });
}

/** Whether the quota limits something, or says that it does. */
function hasLimits({ spec, status }: ResourceQuota): boolean {
  return !semanticEqual(spec?.hard, undefined) || !semanticEqual(status?.hard, undefined);
}

async function readQuotas({ clock, quotas }: QuotaStatusPorts): Promise<ResourceQuota[]> {
  const found: ResourceQuota[] = [];
  for await (const { objects } of pagesOf((after) => withTimeout(clock, CALL_TIMEOUT_MS, quotas().objectsAfter(after, PAGE_ENTRIES)))) {
    for (const object of objects) found.push(parseJson(object) as ResourceQuota);
  }
  return found;
}

/** Asks each store that some quota is about, once for all namespaces. One that nobody ever used has nothing, and is not asked. */
async function readUsage(
  { clock, isUnused, recorder, stores }: QuotaStatusPorts,
  quotas: readonly ResourceQuota[],
): Promise<{ usage: Usage; held: HeldLimits[]; isWhole: boolean }> {
  const usage: Usage = new Map();
  const held: HeldLimits[] = [];
  let isWhole = true;
  const ask = async ({ definition, store }: CountedStore): Promise<void> => {
    const rules = usageRules(definition);
    const asked = new Map<string, Set<string>>();
    for (const quota of rules ? quotas : []) {
      const names = Object.keys((rules && limitsFor(rules, limitsOf(quota))) ?? {});
      const namespace = quota.metadata?.namespace ?? "";
      if (names.length > 0) asked.set(namespace, new Set([...(asked.get(namespace) ?? []), ...names]));
    }
    if (asked.size === 0) return;
    const questions = [...asked].map(([namespace, names]) => ({ namespace, names: [...names] }));
    try {
      const none = (await isUnused?.(qualifiedResource(definition))) ? noneOf(questions) : undefined;
      const answer = none ?? (await withTimeout(clock, CALL_TIMEOUT_MS, reportOf(store, questions)));
      if (answer.held) held.push({ resource: qualifiedResource(definition), ...answer.held });
      for (const [i, { namespace, names }] of questions.entries()) {
        const amounts = usage.get(namespace) ?? new Map<string, number>();
        for (const [j, name] of names.entries()) amounts.set(name, answer.amounts[i]?.[j] ?? 0);
        usage.set(namespace, amounts);
      }
    } catch (error) {
      isWhole = false;
      recorder.log("warn", "a store did not say what its namespaces use", { store: qualifiedResource(definition), error: String(error) });
    }
  };
  await Promise.all(stores.map(ask));
  return { usage, held, isWhole };
}

function noneOf(questions: readonly UsageQuestion[]): Pick<UsageAnswer, "amounts"> & Partial<UsageAnswer> {
  return { amounts: questions.map(({ names }) => names.map(() => 0)) };
}

/** A store of the release before does not say what it holds. */
async function reportOf(
  store: CountedStore["store"],
  questions: UsageQuestion[],
): Promise<Pick<UsageAnswer, "amounts"> & Partial<UsageAnswer>> {
  try {
    return await store().quotaReport(questions);
  } catch (error) {
    if (!isMethodMissing(error, "quotaReport")) throw error;
    return { amounts: await store().quotaUsage(questions) };
  }
}

/** The store of quotas compares what stores hold with what it has told them. Answers whether it did. */
async function tellHeld({ clock, recorder, quotas }: QuotaStatusPorts, held: HeldLimits[]): Promise<boolean> {
  if (held.length === 0) return true;
  try {
    await withTimeout(clock, CALL_TIMEOUT_MS, quotas().limitsHeld(held));
    return true;
  } catch (error) {
    recorder.log("warn", "the store of quotas did not hear which limits stores hold", { error: String(error) });
    return false;
  }
}

/** What nobody here counts keeps what is said of it, as upstream leaves it to others. */
function statusOf(quota: ResourceQuota, usage: Usage): NonNullable<ResourceQuota["status"]> {
  const hard = quota.spec?.hard ?? {};
  const amounts = usage.get(quota.metadata?.namespace ?? "");
  const limits = limitsOf(quota);
  const used: Record<string, string> = {};
  for (const name of Object.keys(hard).sort()) {
    const amount = Object.hasOwn(limits, name) ? amounts?.get(name) : undefined;
    const told = amount === undefined ? quota.status?.used?.[name] : quantityOf(amount);
    if (told !== undefined) used[name] = told;
  }
  return { hard: { ...hard }, used };
}

/** A quota that is gone needs no status. */
async function writeStatus({ clock, quotas }: QuotaStatusPorts, quota: ResourceQuota): Promise<Outcome> {
  return outcomeOf(await withTimeout(clock, CALL_TIMEOUT_MS, quotas().write(updateRequest(quota, WRITER, "status"))));
}
