/** The controller "clusterrole-aggregation-controller": aggregated ClusterRoles have the rules of those that they select. */
import type { Clock } from "../core/base/ports";
import { qualifiedResource } from "../api/meta/status";
import { clusterRolesDefinition } from "../api/registry/roles/definition";
import { aggregationPass } from "./cluster-roles/aggregation-pass";
import { Controller, type ControllerPorts } from "./frame/controller";
import { type ControllerEntry, decidesByRoles } from "./controller-table";
import { type CalledPeers, gatheredStores } from "./followed/called-store";
import type { RowStorage } from "./followed/row-storage";

export interface ClusterRolesControllerSetting extends ControllerPorts {
  clock: Clock;
  /** makes a stub for one call */
  peers: CalledPeers;
  tables: { rows: RowStorage };
}

export const clusterRolesController: ControllerEntry<ClusterRolesControllerSetting, Controller> = {
  follows: [qualifiedResource(clusterRolesDefinition)],
  hearsCreations: true,
  upstream: "clusterrole-aggregation-controller",
  runsWith: decidesByRoles,
  make(setting) {
    const { clock, recorder, tables } = setting;
    const roles = gatheredStores(setting)(clusterRolesDefinition);
    return new Controller(setting, aggregationPass({ clock, recorder, storage: tables.rows, roles }));
  },
};
