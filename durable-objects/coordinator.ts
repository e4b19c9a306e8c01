/** The Coordinator of one cluster, named `<cluster>/coordinator`. A shell: the rules are in src/addresses/coordinator. */
import { CoordinatorStore } from "../src/addresses/coordinator/coordinator-store";
import type { CoordinatorRpc, RangesRpc } from "../src/addresses/rpc/topology";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import type { LinkedStore } from "../src/api/rpc/object-links";
import type { MaintainedStore, StoreRpc } from "../src/api/rpc/store";
import type { StoreIdentity } from "../src/api/store/list/list-copy";
import type { Wipeable } from "../src/tenancy/rpc";
import { storeResponse } from "./answers/store-response";
import type { Env } from "./platform/env";
import { eventsStore, ipAddressesStore, owner } from "./peers/peers";
import { shellOf, STORE_METHODS } from "./platform/shell";
import {
  CLOSED_OWNERS_SCHEMA,
  COORDINATOR_SCHEMA,
  coordinatorStorage,
  HANDOFF_SCHEMA,
  HANDOFFS_BY_TARGET_SCHEMA,
} from "./sql/coordinator-sql";
import { OBJECT_COUNTS_SCHEMA } from "./sql/store-sql";
import { openStore, STORE_MIGRATIONS } from "./store-ports";

export const COORDINATOR_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  { id: 2, sql: COORDINATOR_SCHEMA },
  { id: 3, sql: HANDOFF_SCHEMA },
  { id: 4, sql: HANDOFFS_BY_TARGET_SCHEMA },
  { id: 5, sql: CLOSED_OWNERS_SCHEMA },
  { id: 6, sql: OBJECT_COUNTS_SCHEMA },
];

function identify(name: string): StoreIdentity {
  return { cluster: name.slice(0, name.indexOf("/")), group: "networking.k8s.io", resource: "servicecidrs" };
}

const OWN_METHODS = ["topology", "countedTopology", "readyTopology", "ranges", "alarm"] as const;

export class Coordinator
  extends shellOf<CoordinatorStore>()(...STORE_METHODS, ...OWN_METHODS)
  implements StoreRpc, MaintainedStore, CoordinatorRpc, RangesRpc, LinkedStore, ObjectFeed, Wipeable
{
  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, COORDINATOR_MIGRATIONS, identify);
    const { cluster, config } = setting;
    const brain = new CoordinatorStore({
      ...setting,
      topology: coordinatorStorage(ctx.storage),
      settings: {
        defaultRanges: config.serviceRanges,
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

  override fetch(request: Request): Promise<Response> {
    return storeResponse(this.brain, request);
  }
}
