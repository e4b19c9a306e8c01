/** The store of one plain resource, named `<cluster>/<resource>.<group>`. A shell: the rules are in src/controllers/plain-store. */
import { EVENT_EXPIRY } from "../src/controllers/event-expiry";
import type { ExpiryRule } from "../src/controllers/object-expiry";
import { PlainStore, type PlainStorePeers } from "../src/controllers/plain-store";
import { clustersDefinition } from "../src/api/registry/clusters/definition";
import { eventsDefinition } from "../src/api/registry/events/definition";
import { leasesDefinition } from "../src/api/registry/leases/definition";
import { namespacesDefinition } from "../src/api/registry/namespaces/definition";
import { resourceQuotasDefinition } from "../src/api/registry/resource-quotas/definition";
import type { ResourceDefinition } from "../src/api/registry/resource";
import { qualifiedResource } from "../src/api/meta/status";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import type { ValuedStore } from "../src/api/rpc/object-values";
import type { LinkedStore } from "../src/api/rpc/object-links";
import type { PolicyRpc } from "../src/api/rpc/policy";
import type { LabelSource } from "../src/api/rpc/namespace-labels";
import type { LimitedStore, LimitSource } from "../src/api/rpc/quota";
import type { ExpiringStoreRpc } from "../src/api/rpc/store";
import { IDENTITY_EXPIRY } from "../src/leases/identity/identity-lease";
import type { Wipeable } from "../src/tenancy/rpc";
import { storeShellOf } from "./answers/store-shell";
import { CONTROLLERS } from "./platform/controllers";
import type { Env } from "./platform/env";
import { allStores, repairStub, servicesStore } from "./peers/peers";
import { clustersReadable } from "./peers/fleet";
import { rulesPorts } from "./rules-ports";
import { keptLabelNotes } from "./label-values";
import { keptQuotaMarks } from "./quota-values";
import { HISTORY_ROWS_SCHEMA, OBJECT_COUNTS_SCHEMA } from "./sql/store-sql";
import { followersOf, openStore, STORE_MIGRATIONS } from "./store-ports";

export const RESOURCE_STORE_MIGRATIONS = [...STORE_MIGRATIONS, { id: 2, sql: OBJECT_COUNTS_SCHEMA }, { id: 3, sql: HISTORY_ROWS_SCHEMA }];

/** The stores whose objects end by themselves. */
const EXPIRIES: ReadonlyMap<ResourceDefinition, ExpiryRule> = new Map([
  [eventsDefinition, EVENT_EXPIRY],
  [leasesDefinition, IDENTITY_EXPIRY],
]);

export class ResourceStore
  extends storeShellOf<PlainStore>()(
    "expire",
    "limitsHeld",
    "policySince",
    "ensureDefaults",
    "rulesChanging",
    "valuesSince",
    "tellNamespaceLabels",
    "alarm",
  )
  implements ExpiringStoreRpc, LabelSource, LimitedStore, LimitSource, LinkedStore, ObjectFeed, PolicyRpc, ValuedStore, Wipeable
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
    const quotaPushes = { marks: keptQuotaMarks(ctx.storage), stores: () => allStores(env, cluster) };
    const pushes = definition === resourceQuotasDefinition ? { quotaPushes } : {};
    const labelPushes = { notes: keptLabelNotes(ctx.storage), services: () => servicesStore(env, cluster), setAlarm: setting.setAlarm };
    const labels = definition === namespacesDefinition ? { labelPushes } : {};
    const expiry = EXPIRIES.get(definition);
    const reads = definition === clustersDefinition ? { readable: clustersReadable(env, cluster, ctx.storage) } : {};
    const further = { ...pushes, ...labels, ...reads, ...(expiry ? { expiry } : {}), ...rulesPorts(env, setting, ctx.storage) };
    super(ctx, env, new PlainStore({ ...setting, ...further, peers, isFollowed, filters, advertiseAddresses }));
  }
}
