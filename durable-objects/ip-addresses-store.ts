/** The ipaddresses store, named `<cluster>/ipaddresses.networking.k8s.io`. A shell: the rules are in src/addresses/clusterip/ip-addresses-store. */
import { IPAddressesStore as Brain } from "../src/addresses/clusterip/ip-addresses-store";
import type { IPAddressesRpc } from "../src/addresses/rpc/ip-addresses";
import type { AuditedStore, RepairedAddresses } from "../src/addresses/rpc/repair";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import type { LinkedStore } from "../src/api/rpc/object-links";
import type { MaintainedStore, StoreRpc } from "../src/api/rpc/store";
import type { Wipeable } from "../src/tenancy/rpc";
import { storeResponse } from "./answers/store-response";
import type { Env } from "./platform/env";
import { ledgerPorts } from "./ledger-ports";
import { shellOf, STORE_METHODS } from "./platform/shell";
import { IP_ADDRESSES_SCHEMA, sqlIPAddressStorage } from "./sql/ip-addresses-sql";
import { LEDGER_SCHEMA } from "./sql/ledger-sql";
import { OBJECT_COUNTS_SCHEMA } from "./sql/store-sql";
import { openStore, STORE_MIGRATIONS } from "./store-ports";

export const IP_ADDRESSES_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  { id: 2, sql: LEDGER_SCHEMA + IP_ADDRESSES_SCHEMA },
  { id: 3, sql: OBJECT_COUNTS_SCHEMA },
];

const OWN_METHODS = [
  "createMany",
  "deleteMany",
  "restoreMany",
  "writersOf",
  "pendingReleases",
  "makeHeld",
  "claimPrefixes",
  "auditAll",
  "alarm",
] as const;

export class IPAddressesStore
  extends shellOf<Brain>()(...STORE_METHODS, ...OWN_METHODS)
  implements StoreRpc, MaintainedStore, IPAddressesRpc, RepairedAddresses, AuditedStore, LinkedStore, ObjectFeed, Wipeable
{
  constructor(ctx: DurableObjectState, env: Env) {
    const ports = ledgerPorts(ctx, env, openStore(ctx, env, IP_ADDRESSES_MIGRATIONS));
    super(ctx, env, new Brain({ ...ports, ipAddresses: sqlIPAddressStorage(ctx.storage) }));
  }

  override fetch(request: Request): Promise<Response> {
    return storeResponse(this.brain, request);
  }
}
