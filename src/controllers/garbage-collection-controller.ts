/** The controller "garbage-collection". Every store pokes it after the turns that it may have to act upon, so it follows no resource. */
import type { Clock } from "../core/base/ports";
import { Controller, type ControllerPorts } from "./controller";
import type { ControllerEntry } from "./controller-table";
import { garbageCollectionPass, type GarbageCollectionPassPorts } from "./garbage-collection/garbage-collection-pass";
import type { GraphStorage } from "./garbage-collection/ports";

export interface GarbageCollectionSetting extends ControllerPorts {
  clock: Clock;
  /** every store of the cluster */
  peers: { stores(): GarbageCollectionPassPorts["stores"] };
  tables: { graph: GraphStorage };
}

export const garbageCollectionController: ControllerEntry<GarbageCollectionSetting, Controller> = {
  follows: [],
  upstream: "garbage-collector-controller",
  make(setting) {
    const { clock, recorder, peers, tables } = setting;
    return new Controller(setting, garbageCollectionPass({ clock, recorder, storage: tables.graph, stores: peers.stores() }));
  },
};
