/** The controller "clusters": makes, configures and deletes the clusters behind the Cluster objects of the cluster `default`. */
import type { Clock } from "../core/base/ports";
import { qualifiedResource } from "../api/meta/status";
import { clustersDefinition } from "../api/registry/clusters/definition";
import { addressClaimsDefinition, poolAddressesDefinition } from "../api/registry/ipam/definitions";
import type { ChangeFilter } from "../api/store/feeds/follower-pokes";
import { type CalledPeers, gatheredStores } from "../controllers/followed/called-store";
import type { RowStorage } from "../controllers/followed/row-storage";
import type { ControllerEntry } from "../controllers/controller-table";
import { Controller, type ControllerPorts } from "../controllers/frame/controller";
import { ClusterRanges } from "./cluster-ranges";
import { clustersPass, stepOf } from "./clusters-pass";
import type { FleetPorts } from "./ports";

export interface ClustersControllerSetting extends ControllerPorts {
  clock: Clock;
  /** makes a stub for one call */
  peers: CalledPeers & { fleet(): FleetPorts };
  tables: { rows: RowStorage };
}

const CLUSTERS = qualifiedResource(clustersDefinition);

/** Its own status writes need no pass. */
const needsStep: ChangeFilter = ({ after }) => after !== undefined && stepOf(after) !== "none";

export const clustersController: ControllerEntry<ClustersControllerSetting, Controller> = {
  follows: [CLUSTERS],
  filters: { [CLUSTERS]: needsStep },
  atRoot: true,
  make(setting) {
    const { clock, recorder, peers, tables } = setting;
    // Who wakes the controller has used the store: it has the cluster `default` from its first moment.
    const store = gatheredStores(setting);
    const { isUnused: _, ...clusters } = store(clustersDefinition);
    const ranges = new ClusterRanges({ claims: store(addressClaimsDefinition), addresses: store(poolAddressesDefinition) });
    return new Controller(setting, clustersPass({ clock, recorder, storage: tables.rows, clusters, ranges, fleet: peers.fleet() }));
  },
};
