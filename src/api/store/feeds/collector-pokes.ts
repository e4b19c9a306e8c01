/**
 * Which turns of a store concern background work. The garbage collector is poked after turns that concern it. Cron makes up for a lost poke: it
 * hears of every cluster that had writes.
 */
import type { Clock } from "../../../core/base/ports";
import { throttled } from "../../../core/base/throttle";
import type { ControllerRpc } from "../../rpc/store";
import type { StoreExtension } from "../state/extension";
import { changesLinks } from "./object-links-reader";
import { observed } from "./observed";

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
  /** A turn may leave something half done; that of a store without an extension does not. */
  leavesWork: boolean;
}

/** `extension` with pokes after the turns that concern the garbage collector. */
export function pokingCollector<Supply>(ports: CollectorPokePorts, extension: StoreExtension<Supply>): StoreExtension<Supply> {
  const poke = throttled(ports.clock, COLLECTOR_POKE_INTERVAL_MS, () => {
    void ports
      .garbageCollector()
      ?.poke()
      .catch(() => undefined);
  });
  let changed = false;
  let relevant = false;
  return observed(extension, {
    committed: (change) => {
      changed = true;
      if (!changesLinks(change)) return;
      relevant = true;
      ports.noteRelevant(change.revision);
    },
    turnCommitted: () => {
      relevant &&= ports.garbageCollector() !== undefined;
      if (changed) ports.noteBusy("hour");
      if (relevant || (changed && ports.leavesWork)) ports.noteBusy("minute");
      if (relevant) poke();
      changed = relevant = false;
    },
    turnLost: () => {
      changed = relevant = false;
    },
  });
}
