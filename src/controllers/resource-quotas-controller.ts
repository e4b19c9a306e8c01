/** The controller "resource-quotas": keeps the status of ResourceQuotas. Stores poke it when a namespace with limits uses more or less. */
import type { Clock } from "../core/base/ports";
import { type EnteredNames, UsedStores } from "./followed/used-stores";
import { Controller, type ControllerPorts } from "./frame/controller";
import type { ControllerEntry } from "./controller-table";
import { quotaStatusPass, type QuotaStatusPorts } from "./quotas/quota-status-pass";

export interface ResourceQuotasSetting extends ControllerPorts {
  clock: Clock;
  /** Objects of the cluster; each function makes a stub for one call. */
  peers: {
    /** every store of the cluster */
    stores(): QuotaStatusPorts["stores"];
    quotas: QuotaStatusPorts["quotas"];
    /** who was ever used; absent = every store may be */
    entered?: EnteredNames;
  };
}

export const resourceQuotasController: ControllerEntry<ResourceQuotasSetting, Controller> = {
  follows: ["resourcequotas"],
  hearsCreations: true,
  upstream: "resourcequota-controller",
  make(setting) {
    const { clock, recorder, peers } = setting;
    const used = new UsedStores(clock, peers.entered);
    const isUnused = (name: string): Promise<boolean> => used.isUnused(name);
    return new Controller(setting, quotaStatusPass({ clock, recorder, quotas: () => peers.quotas(), stores: peers.stores(), isUnused }));
  },
};
