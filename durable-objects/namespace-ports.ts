/** Further ports of the store of Namespaces: whom it tells labels, and in which store it makes the quotas that new namespaces start with. */
import type { KeptQuotas, OwedQuota, SeedNotes } from "../src/controllers/namespaces/quota-seeds";
import type { PlainStorePorts } from "../src/controllers/plain-store";
import { namespacesDefinition } from "../src/api/registry/namespaces/definition";
import { keptLabelNotes } from "./label-values";
import { clusterName, locationOf } from "../src/tenancy/cluster-id";
import { clusterRecord, resourceQuotasStore, servicesStore } from "./peers/peers";
import type { Env } from "./platform/env";
import type { StoreSetting } from "./store-ports";

const QUOTAS = "namespace-quotas";
const OWED = "owed-quota/";

/** Those of another store: none. */
export function namespacePorts(
  env: Env,
  { cluster, definition, setAlarm }: StoreSetting,
  storage: DurableObjectStorage,
): Pick<PlainStorePorts, "labelPushes" | "quotaSeeds" | "setAlarm"> {
  if (definition !== namespacesDefinition) return {};
  const record = (): ReturnType<typeof clusterRecord> => clusterRecord(env, clusterName(cluster), locationOf(cluster));
  return {
    labelPushes: { notes: keptLabelNotes(storage), services: () => servicesStore(env, cluster) },
    quotaSeeds: {
      notes: keptSeedNotes(storage),
      resourceQuotas: () => resourceQuotasStore(env, cluster),
      askRecord: () => record().carryOn(cluster),
    },
    setAlarm,
  };
}

/** Values beside the store's tables, in its transactions. */
function keptSeedNotes({ kv }: DurableObjectStorage): SeedNotes {
  return {
    quotas: () => kv.get<KeptQuotas>(QUOTAS),
    quotasSave: (quotas) => kv.put(QUOTAS, quotas),
    owed: () => [...kv.list<OwedQuota>({ prefix: OWED })].map(([key, owed]) => [key.slice(OWED.length), owed]),
    owe: (namespace, owed) => kv.put(OWED + namespace, owed),
    settle: (namespace) => void kv.delete(OWED + namespace),
  };
}
