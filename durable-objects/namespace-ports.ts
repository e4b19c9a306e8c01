/** Further ports of the store of Namespaces: whom it tells labels, and in which store it makes the quotas that new namespaces start with. */
import type { NamespaceQuotas } from "../src/api/rpc/namespace-quotas";
import type { SeedNotes } from "../src/controllers/namespaces/quota-seeds";
import type { PlainStorePorts } from "../src/controllers/plain-store";
import { namespacesDefinition } from "../src/api/registry/namespaces/definition";
import { keptLabelNotes } from "./label-values";
import { resourceQuotasStore, servicesStore } from "./peers/peers";
import type { Env } from "./platform/env";
import type { StoreSetting } from "./store-ports";

const QUOTAS = "namespace-quotas";
const OWED = "owed-quota/";

/** Those of another store: none. */
export function namespacePorts(
  env: Env,
  { cluster, definition, setAlarm }: StoreSetting,
  storage: DurableObjectStorage,
): Pick<PlainStorePorts, "labelPushes" | "quotaSeeds"> {
  if (definition !== namespacesDefinition) return {};
  return {
    labelPushes: { notes: keptLabelNotes(storage), services: () => servicesStore(env, cluster), setAlarm },
    quotaSeeds: { notes: keptSeedNotes(storage), resourceQuotas: () => resourceQuotasStore(env, cluster), setAlarm },
  };
}

/** Values beside the store's tables, in its transactions. */
function keptSeedNotes({ kv }: DurableObjectStorage): SeedNotes {
  return {
    quotas: () => kv.get<NamespaceQuotas>(QUOTAS),
    quotasSave: (quotas) => kv.put(QUOTAS, quotas),
    owed: (limit) => [...kv.list({ prefix: OWED, limit })].map(([key]) => key.slice(OWED.length)),
    owe: (namespace) => kv.put(OWED + namespace, true),
    settle: (namespace) => void kv.delete(OWED + namespace),
  };
}
