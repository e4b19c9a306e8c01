/** The controller "garbage-collection". Every store pokes it after the turns that it may have to act upon, so it follows no resource. */
import type { Clock } from "../core/base/ports";
import { EventRecorder, type EventRecorderPorts } from "../api/events/event-recorder";
import { Controller, type ControllerPorts } from "./frame/controller";
import type { ControllerEntry } from "./controller-table";
import { garbageCollectionPass, type GarbageCollectionPassPorts } from "./garbage-collection/garbage-collection-pass";
import type { RowStorage } from "./followed/row-storage";
import type { GraphStorage } from "./garbage-collection/ports";

/** Upstream's component of its events. */
const REPORTER = "garbage-collector-controller";

export interface GarbageCollectionSetting extends ControllerPorts {
  /** id of the cluster */
  cluster: string;
  clock: Clock;
  /** every store of the cluster */
  peers: Pick<EventRecorderPorts, "events"> &
    Pick<GarbageCollectionPassPorts, "entered"> & { stores(): GarbageCollectionPassPorts["stores"] };
  tables: { graph: GraphStorage; rows: RowStorage };
}

export const garbageCollectionController: ControllerEntry<GarbageCollectionSetting, Controller> = {
  follows: [],
  upstream: "garbage-collector-controller",
  make(setting) {
    const { clock, cluster, recorder, peers, tables } = setting;
    const reporter = { controller: REPORTER, instance: `${REPORTER}-${cluster}` };
    const events = new EventRecorder(reporter, { clock, recorder, events: () => peers.events() });
    const { entered } = peers;
    const pass = garbageCollectionPass({ clock, recorder, events, entered, storage: tables.graph, stores: peers.stores() });
    return new Controller(setting, pass);
  },
};
