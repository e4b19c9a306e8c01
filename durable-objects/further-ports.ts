/** What some plain stores have besides, each by its resource. */
import { EVENT_EXPIRY } from "../src/controllers/event-expiry";
import type { ExpiryRule } from "../src/controllers/object-expiry";
import type { PlainStorePorts } from "../src/controllers/plain-store";
import { clustersDefinition } from "../src/api/registry/clusters/definition";
import { eventsDefinition } from "../src/api/registry/events/definition";
import { leasesDefinition } from "../src/api/registry/leases/definition";
import { resourceQuotasDefinition } from "../src/api/registry/resource-quotas/definition";
import type { ResourceDefinition } from "../src/api/registry/resource";
import { IDENTITY_EXPIRY } from "../src/leases/identity/identity-lease";
import { namespacePorts } from "./namespace-ports";
import { clustersReadable } from "./peers/fleet";
import { allStores } from "./peers/peers";
import type { Env } from "./platform/env";
import { poolPorts } from "./pool-ports";
import { keptQuotaMarks } from "./quota-values";
import { rulesPorts } from "./rules-ports";
import type { StoreSetting } from "./store-ports";

/** The stores whose objects end by themselves. */
const EXPIRIES: ReadonlyMap<ResourceDefinition, ExpiryRule> = new Map([
  [eventsDefinition, EVENT_EXPIRY],
  [leasesDefinition, IDENTITY_EXPIRY],
]);

export function furtherPorts({ storage }: DurableObjectState, env: Env, setting: StoreSetting): Partial<PlainStorePorts> {
  const { cluster, definition } = setting;
  const quotaPushes = { marks: keptQuotaMarks(storage), stores: () => allStores(env, cluster) };
  const expiry = EXPIRIES.get(definition);
  return {
    ...(definition === resourceQuotasDefinition && { quotaPushes }),
    ...namespacePorts(env, setting, storage),
    ...(definition === clustersDefinition && { readable: clustersReadable(env, cluster, storage) }),
    ...(expiry && { expiry }),
    ...rulesPorts(env, setting, storage),
    ...poolPorts(env, setting, storage),
  };
}
