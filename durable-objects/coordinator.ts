/** The Coordinator of one cluster, named `<cluster>/coordinator`. A shell: the rules are in src/addresses/coordinator. */
import { CoordinatorStore } from "../src/addresses/coordinator/coordinator-store";
import type { CoordinatorObject } from "../src/addresses/rpc/topology";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import type { LinkedStore } from "../src/api/rpc/object-links";
import type { MaintainedStore, StoreRpc } from "../src/api/rpc/store";
import type { StoreIdentity } from "../src/api/store/list/list-copy";
import type { RangedObject, Wipeable } from "../src/tenancy/rpc";
import { storeShellOf } from "./answers/store-shell";
import type { Env } from "./platform/env";
import { eventsStore, ipAddressesStore, owner } from "./peers/peers";
import { poolsBeside } from "./pool-ports";
import {
  CLOSED_OWNERS_SCHEMA,
  COORDINATOR_SCHEMA,
  coordinatorStorage,
  HANDOFF_SCHEMA,
  HANDOFFS_BY_TARGET_SCHEMA,
} from "./sql/coordinator-sql";
import { HISTORY_ROWS_SCHEMA, OBJECT_COUNTS_SCHEMA } from "./sql/store-sql";
import { ownRanges } from "./own-ranges";
import { openStore, STORE_MIGRATIONS } from "./store-ports";

export const COORDINATOR_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  { id: 2, sql: COORDINATOR_SCHEMA },
  { id: 3, sql: HANDOFF_SCHEMA },
  { id: 4, sql: HANDOFFS_BY_TARGET_SCHEMA },
  { id: 5, sql: CLOSED_OWNERS_SCHEMA },
  { id: 6, sql: OBJECT_COUNTS_SCHEMA },
  { id: 7, sql: HISTORY_ROWS_SCHEMA },
];

function identify(name: string): StoreIdentity {
  return { cluster: name.slice(0, name.indexOf("/")), group: "networking.k8s.io", resource: "servicecidrs" };
}

const OWN_METHODS = [
  "topology",
  "countedTopology",
  "readyTopology",
  "ranges",
  "rangesSince",
  "serviceRanges",
  "beginWith",
  "alarm",
] as const;

export class Coordinator
  extends storeShellOf<CoordinatorStore>()(...OWN_METHODS)
  implements StoreRpc, MaintainedStore, CoordinatorObject, LinkedStore, ObjectFeed, RangedObject, Wipeable
{
  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, COORDINATOR_MIGRATIONS, identify);
    const { cluster, config } = setting;
    const brain = new CoordinatorStore({
      ...setting,
      topology: coordinatorStorage(ctx.storage),
      ranges: ownRanges(ctx.storage, config),
      pools: poolsBeside(env, setting),
      settings: {
        ...(config.onlyRanges ? { onlyRanges: config.onlyRanges } : {}),
        staticBands: config.featureGates.ServiceIPStaticSubrange,
      },
      peers: {
        ...setting.peers,
        owner: (uid) => owner(env, cluster, uid),
        ipAddresses: () => ipAddressesStore(env, cluster),
        events: () => eventsStore(env, cluster),
      },
    });
    super(ctx, env, brain);
  }
}
