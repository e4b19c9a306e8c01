/** The controller "ip-pools": gives claims their addresses from the pools of the cluster. */
import { qualifiedResource } from "../api/meta/status";
import { addressClaimsDefinition, poolAddressesDefinition, poolDefinitions } from "../api/registry/ipam/definitions";
import type { PoolBookRpc } from "../api/rpc/pool-book";
import { RPC_TIMEOUT_MS } from "../core/base/limits";
import type { Clock } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { type CalledPeers, gatheredStores } from "../controllers/followed/called-store";
import type { RowStorage } from "../controllers/followed/row-storage";
import type { ControllerEntry } from "../controllers/controller-table";
import { Controller, type ControllerPorts } from "../controllers/frame/controller";
import { isRootCluster } from "../tenancy/cluster-id";
import { poolsPass } from "./pools-pass";

export interface PoolsControllerSetting extends ControllerPorts {
  clock: Clock;
  /** makes a stub for one call */
  peers: CalledPeers & { poolBook(): PoolBookRpc };
  tables: { rows: RowStorage };
  /** id of the cluster */
  cluster: string;
}

export const poolsController: ControllerEntry<PoolsControllerSetting, Controller> = {
  follows: [addressClaimsDefinition, poolAddressesDefinition, ...Object.values(poolDefinitions)].map((one) => qualifiedResource(one)),
  hearsCreations: true,
  make(setting) {
    const { clock, recorder, peers, tables } = setting;
    const store = gatheredStores(setting);
    const pass = poolsPass({
      ...{ clock, recorder, storage: tables.rows },
      claims: store(addressClaimsDefinition),
      addresses: store(poolAddressesDefinition),
      pools: {
        InClusterIPPool: store(poolDefinitions.InClusterIPPool),
        GlobalInClusterIPPool: store(poolDefinitions.GlobalInClusterIPPool),
        InClusterPrefixPool: store(poolDefinitions.InClusterPrefixPool),
        GlobalInClusterPrefixPool: store(poolDefinitions.GlobalInClusterPrefixPool),
      },
      servedByRoot: !isRootCluster(setting.cluster),
      book: { askPools: (question) => withTimeout(clock, RPC_TIMEOUT_MS, peers.poolBook().askPools(question)) },
    });
    return new Controller(setting, pass);
  },
};
