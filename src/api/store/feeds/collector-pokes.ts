/**
 * Which turns of a store concern background work. The garbage collector is poked after turns that concern it. A lost poke is sent again with cron's next
 * visit (deliveries.ts).
 */
import type { Clock } from "../../../core/base/ports";
import { throttled } from "../../../core/turns/throttle";
import type { ControllerRpc, StoreNews } from "../../rpc/store";
import type { StoreObserver } from "../state/observer";
import type { Deliveries } from "./deliveries";
import { changesLinks } from "../state/link-changes";

/** Between two pokes of the garbage collector: a burst of deletions is one pass of it, not one per turn. */
const COLLECTOR_POKE_INTERVAL_MS = 250;

export interface CollectorPokePorts {
  clock: Clock;
  /** undefined = switched off: then nothing is work for it */
  garbageCollector(): ControllerRpc | undefined;
  /** Tells cron that the cluster has work in its jobs of this rhythm. May be lost. */
  noteBusy(rhythm: "minute" | "hour"): void;
  /** a change of this revision matters to the garbage collector */
  noteRelevant(revision: number): void;
  /** which store pokes, and its newest revision */
  news(): StoreNews;
  deliveries: Pick<Deliveries, "send" | "owe">;
  /** A turn may leave something undone: the work of an extension, or what another observer causes. */
  leavesWork: boolean;
}

export function pokingCollector(ports: CollectorPokePorts): StoreObserver {
  /** the newest change that matters */
  let revision = 0;
  const poke = throttled(ports.clock, COLLECTOR_POKE_INTERVAL_MS, () => {
    const collector = ports.garbageCollector();
    if (collector) ports.deliveries.send(() => collector.poke([{ ...ports.news(), revision }], true));
  });
  return {
    turnCommitted(changes) {
      const newest = changes.findLast(changesLinks);
      if (newest) ports.noteRelevant((revision = newest.revision));
      const isWork = newest !== undefined && ports.garbageCollector() !== undefined;
      ports.noteBusy("hour");
      if (isWork || ports.leavesWork) ports.noteBusy("minute");
      if (isWork) poke();
    },
    // Some of the changes may be stored, and may matter.
    turnLost() {
      ports.noteRelevant(ports.news().revision);
      ports.deliveries.owe();
    },
  };
}
