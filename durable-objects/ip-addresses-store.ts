/** The ipaddresses store, named `<cluster>/ipaddresses.networking.k8s.io`. A shell: the rules are in src/addresses/clusterip/ip-addresses-store. */
import { IPAddressesStore as Brain } from "../src/addresses/clusterip/ip-addresses-store";
import type { IPAddressesRpc } from "../src/addresses/rpc/ip-addresses";
import type { AuditedStore, RepairedAddresses } from "../src/addresses/rpc/repair";
import type { ObjectFeed } from "../src/api/rpc/object-feed";
import type { LinkedStore } from "../src/api/rpc/object-links";
import type { MaintainedStore, StoreRpc } from "../src/api/rpc/store";
import type { Wipeable } from "../src/tenancy/rpc";
import { storeShellOf } from "./answers/store-shell";
import type { Env } from "./platform/env";
import { ledgerPorts } from "./ledger-ports";
import { IP_ADDRESSES_SCHEMA, sqlIPAddressStorage } from "./sql/ip-addresses-sql";
import { LEDGER_SCHEMA } from "./sql/ledger-sql";
import { HISTORY_ROWS_SCHEMA, OBJECT_COUNTS_SCHEMA } from "./sql/store-sql";
import { openStore, STORE_MIGRATIONS } from "./store-ports";

export const IP_ADDRESSES_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  { id: 2, sql: LEDGER_SCHEMA + IP_ADDRESSES_SCHEMA },
  { id: 3, sql: OBJECT_COUNTS_SCHEMA },
  { id: 4, sql: HISTORY_ROWS_SCHEMA },
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
  extends storeShellOf<Brain>()(...OWN_METHODS)
  implements StoreRpc, MaintainedStore, IPAddressesRpc, RepairedAddresses, AuditedStore, LinkedStore, ObjectFeed, Wipeable
{
  constructor(ctx: DurableObjectState, env: Env) {
    const ports = ledgerPorts(ctx, env, openStore(ctx, env, IP_ADDRESSES_MIGRATIONS));
    super(ctx, env, new Brain({ ...ports, ipAddresses: sqlIPAddressStorage(ctx.storage) }));
  }
}
