/** The services store, named `<cluster>/services`. A shell: the rules are in src/addresses/clusterip/services-store. */
import { ServicesStore as Brain, type ServicesStorePorts } from "../src/addresses/clusterip/services-store";
import type { AuditedStore, RepairedServices } from "../src/addresses/rpc/repair";
import { qualifiedResource } from "../src/api/meta/status";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import type { LinkedStore } from "../src/api/rpc/object-links";
import type { LabelledStore } from "../src/api/rpc/namespace-labels";
import type { LimitedStore } from "../src/api/rpc/quota";
import type { ServicesStoreRpc } from "../src/api/rpc/store";
import type { RangedObject, Wipeable } from "../src/tenancy/rpc";
import { enterCluster } from "./peers/busy";
import { storeShellOf } from "./answers/store-shell";
import { CONTROLLERS } from "./platform/controllers";
import type { Env } from "./platform/env";
import { ledgerPorts } from "./ledger-ports";
import { serviceAddresses } from "./balancer-ports";
import { coordinator, ipAddressesStore, namespacesStore } from "./peers/peers";
import { ALLOCATION_COUNTS_SCHEMA, sqlAllocationCountStorage } from "./sql/allocation-counts-sql";
import { FREE_COUNTS_SCHEMA, sqlFreeCountStorage } from "./sql/free-counts-sql";
import { LEDGER_SCHEMA } from "./sql/ledger-sql";
import { NODE_PORTS_SCHEMA, sqlNodePortStorage } from "./sql/node-ports-sql";
import { HISTORY_ROWS_SCHEMA, OBJECT_COUNTS_SCHEMA } from "./sql/store-sql";
import { ownRanges } from "./own-ranges";
import { followersOf, openStore, STORE_MIGRATIONS } from "./store-ports";

export const SERVICES_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  { id: 2, sql: LEDGER_SCHEMA },
  { id: 3, sql: NODE_PORTS_SCHEMA },
  { id: 4, sql: FREE_COUNTS_SCHEMA },
  { id: 5, sql: ALLOCATION_COUNTS_SCHEMA },
  { id: 6, sql: OBJECT_COUNTS_SCHEMA },
  { id: 7, sql: HISTORY_ROWS_SCHEMA },
];

const OWN_METHODS = [
  ...["ensureBootstrapped", "allocations", "nodePortAllocations", "makeWhole", "giveUp", "auditAll", "alarm"],
  ...["makeServicesWhole", "makeNodePortsWhole", "leakedNodePorts", "settleNodePorts", "nodePortRows", "takeNamespaceLabels", "beginWith"],
  ...["expectBalancerPools", "roomInPools"],
] as const;

export class ServicesStore
  extends storeShellOf<Brain>()(...OWN_METHODS)
  implements ServicesStoreRpc, RepairedServices, AuditedStore, LabelledStore, LimitedStore, LinkedStore, ObjectFeed, RangedObject, Wipeable
{
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, new Brain(portsOf(ctx, env)));
  }
}

function portsOf(ctx: DurableObjectState, env: Env): ServicesStorePorts {
  const { storage } = ctx;
  const setting = openStore(ctx, env, SERVICES_MIGRATIONS);
  const ports = ledgerPorts(ctx, env, setting);
  const { cluster, config } = setting;
  return {
    ...ports,
    ranges: ownRanges(storage, config),
    filters: CONTROLLERS.filtersOf(qualifiedResource(setting.definition)),
    nodePorts: sqlNodePortStorage(storage),
    freeCounts: sqlFreeCountStorage(storage),
    allocationCounts: sqlAllocationCountStorage(storage),
    balancers: serviceAddresses(env, setting, storage),
    peers: {
      ...ports.peers,
      followers: followersOf(env, setting),
      coordinator: () => coordinator(env, cluster),
      labelSource: () => namespacesStore(env, cluster),
      ipAddresses: () => ipAddressesStore(env, cluster),
    },
    directory: {
      has: async (key) => (await env.DIRECTORY.get(key)) !== null,
      // That `has` did not find the key may be an old answer. So what stands beside it is written again.
      add: (key) => enterCluster(env, key, setting.switches.facts),
    },
  };
}
