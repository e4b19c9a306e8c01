/** The store of one plain resource, named `<cluster>/<resource>.<group>`. A shell: the rules are in src/controllers/plain-store. */
import { PlainStore, type PlainStorePeers } from "../src/controllers/plain-store";
import { resourceQuotasDefinition } from "../src/api/registry/resource-quotas/definition";
import { qualifiedResource } from "../src/api/meta/status";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import type { LinkedStore } from "../src/api/rpc/object-links";
import type { LimitedStore } from "../src/api/rpc/quota";
import type { EventsStoreRpc } from "../src/api/rpc/store";
import type { Wipeable } from "../src/tenancy/rpc";
import { collectionResponse } from "./collection-response";
import { CONTROLLERS } from "./controllers";
import type { Env } from "./env";
import { allStores } from "./peers";
import { keptQuotaMarks } from "./quota-values";
import { shellOf, STORE_METHODS } from "./shell";
import { OBJECT_COUNTS_SCHEMA } from "./sql/store-sql";
import { followersOf, openStore, STORE_MIGRATIONS } from "./store-ports";

export const RESOURCE_STORE_MIGRATIONS = [...STORE_MIGRATIONS, { id: 2, sql: OBJECT_COUNTS_SCHEMA }];

export class ResourceStore
  extends shellOf<PlainStore>()(...STORE_METHODS, "expire")
  implements EventsStoreRpc, LimitedStore, LinkedStore, ObjectFeed, Wipeable
{
  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, RESOURCE_STORE_MIGRATIONS);
    const { cluster, config, definition, switches } = setting;
    const { advertiseAddresses } = config;
    const peers: PlainStorePeers = {
      ...setting.peers,
      followers: followersOf(env, setting),
      stores: () => allStores(env, cluster),
      endsNamespaces: () => switches.isOn("namespaces"),
    };
    const isFollowed = CONTROLLERS.followersOf(qualifiedResource(definition)).length > 0;
    const quotaPushes = { marks: keptQuotaMarks(ctx.storage), stores: () => allStores(env, cluster) };
    const pushes = definition === resourceQuotasDefinition ? { quotaPushes } : {};
    super(ctx, env, new PlainStore({ ...setting, ...pushes, peers, isFollowed, advertiseAddresses }));
  }

  override fetch(request: Request): Promise<Response> {
    return collectionResponse(this.brain, request);
  }
}
