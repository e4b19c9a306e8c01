/** The store of one plain resource, named `<cluster>/<resource>.<group>`. A shell: the rules are in src/controllers/plain-store. */
import { PlainStore, type PlainStorePeers, type PlainStoreRpc } from "../src/controllers/plain-store";
import { qualifiedResource } from "../src/api/meta/status";
import type { Wipeable } from "../src/tenancy/rpc";
import { storeShellOf } from "./answers/store-shell";
import { CONTROLLERS } from "./platform/controllers";
import type { Env } from "./platform/env";
import { furtherPorts } from "./further-ports";
import { allStores, repairStub } from "./peers/peers";
import { HISTORY_ROWS_SCHEMA, OBJECT_COUNTS_SCHEMA } from "./sql/store-sql";
import { followersOf, openStore, STORE_MIGRATIONS } from "./store-ports";

export const RESOURCE_STORE_MIGRATIONS = [...STORE_MIGRATIONS, { id: 2, sql: OBJECT_COUNTS_SCHEMA }, { id: 3, sql: HISTORY_ROWS_SCHEMA }];

export class ResourceStore
  extends storeShellOf<PlainStore>()(
    "expire",
    "limitsHeld",
    "policySince",
    "askPools",
    "askBalancers",
    "askFleet",
    "ensureDefaults",
    "rulesChanging",
    "valuesSince",
    "tellNamespaceLabels",
    "setNamespaceQuotas",
    "alarm",
  )
  implements PlainStoreRpc, Wipeable
{
  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, RESOURCE_STORE_MIGRATIONS);
    const { cluster, config, definition, switches } = setting;
    const { advertiseAddresses } = config;
    const peers: PlainStorePeers = {
      ...setting.peers,
      followers: followersOf(env, setting),
      stores: () => allStores(env, cluster),
      entered: () => repairStub(env, cluster).entered(),
      endsNamespaces: () => switches.isOn("namespaces"),
    };
    const resource = qualifiedResource(definition);
    const isFollowed = CONTROLLERS.followersOf(resource).some((name) => CONTROLLERS.runsWith(name, config));
    const filters = CONTROLLERS.filtersOf(resource);
    const further = furtherPorts(ctx, env, setting);
    super(ctx, env, new PlainStore({ ...setting, ...further, peers, isFollowed, filters, advertiseAddresses }));
  }
}
