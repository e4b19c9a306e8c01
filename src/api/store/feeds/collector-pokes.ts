/**
 * Which turns of a store concern background work. The garbage collector is poked after turns that concern it. Cron makes up for a lost poke: it
 * hears of every cluster that had writes.
 */
import type { Clock } from "../../../core/base/ports";
import { throttled } from "../../../core/base/throttle";
import type { ControllerRpc } from "../../rpc/store";
import type { StoreObserver } from "../state/observer";
import { changesLinks } from "./object-links-reader";

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
  /** the store's newest revision */
  head(): number;
  /** A turn may leave something undone: the work of an extension, or what another observer causes. */
  leavesWork: boolean;
}

export function pokingCollector(ports: CollectorPokePorts): StoreObserver {
  const poke = throttled(ports.clock, COLLECTOR_POKE_INTERVAL_MS, () => {
    void ports
      .garbageCollector()
      ?.poke()
      .catch(() => undefined);
  });
  return {
    turnCommitted(changes) {
      const newest = changes.findLast(changesLinks);
      if (newest) ports.noteRelevant(newest.revision);
      const isWork = newest !== undefined && ports.garbageCollector() !== undefined;
      ports.noteBusy("hour");
      if (isWork || ports.leavesWork) ports.noteBusy("minute");
      if (isWork) poke();
    },
    // Some of the changes may be stored, and may matter.
    turnLost: () => ports.noteRelevant(ports.head()),
  };
}
