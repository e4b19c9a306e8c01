/** Further ports of the stores that take addresses, on the real platform. */
import type { LedgerPeers, LedgerStorePorts } from "../src/addresses/ledger/ledger-store";
import { topologyCopyKey } from "../src/addresses/topology/topology-copy";
import type { Env } from "./platform/env";
import { controller, coordinator, owner } from "./peers/peers";
import { sqlLedgerStorage } from "./sql/ledger-sql";
import type { StoreSetting } from "./store-ports";

export function ledgerPorts<Setting extends StoreSetting>(
  { storage }: DurableObjectState,
  env: Env,
  setting: Setting,
): Setting & LedgerStorePorts {
  const { cluster } = setting;
  const peers: LedgerPeers = {
    ...setting.peers,
    coordinator: () => coordinator(env, cluster),
    owner: (uid) => owner(env, cluster, uid),
    repair: () => controller(env, cluster, "repair"),
  };
  return {
    ...setting,
    peers,
    ledger: sqlLedgerStorage(storage),
    topologyCopy: async () => {
      const bytes = await env.DIRECTORY.get(topologyCopyKey(cluster), "arrayBuffer");
      return bytes ? new Uint8Array(bytes) : undefined;
    },
  };
}
