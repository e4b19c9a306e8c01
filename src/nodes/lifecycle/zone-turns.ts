/**
 * Which Nodes get a NoExecute taint now: one of a zone at a time, at the zone's rate. While every zone is fully disrupted, no Node gets one, and
 * existing ones are removed. Rates and the time of the last taint are rows, so no restart makes evictions faster.
 */
import type { KeptRows } from "../../controllers/followed/kept-rows";
import type { NodeState } from "./node-state";
import { isAllDisrupted, taintIntervalMs, zonesOf } from "./zones";

const KIND_ZONE = "zones";
const KIND_DISRUPTION = "disruption";

interface ZoneTurn {
  /** the last taint, or when the rate rose from nothing; milliseconds since the epoch */
  readonly at: number;
  /** The zone gets taints. */
  readonly isRunning: boolean;
}

interface FullDisruption {
  /** The taints of Nodes from before the disruption are gone. */
  readonly isCleared: boolean;
}

export class ZoneTurns {
  readonly #turns = new Map<string, ZoneTurn>();
  #intervals = new Map<string, number | undefined>();
  #disruption: FullDisruption | undefined;

  constructor(private readonly rows: Pick<KeptRows, "saved" | "put" | "delete">) {}

  load(): void {
    for (const [zone, turn] of this.rows.saved<ZoneTurn>(KIND_ZONE)) this.#turns.set(zone, turn);
    for (const [, disruption] of this.rows.saved<FullDisruption>(KIND_DISRUPTION)) this.#disruption = disruption;
  }

  /** Every zone is fully disrupted, and NoExecute taints from before have to be removed. */
  get mustClear(): boolean {
    return this.#disruption?.isCleared === false;
  }

  cleared(): void {
    this.#setDisruption({ isCleared: true });
  }

  /** Looks at all Nodes. Answers whether the cluster has just left the full disruption of all its zones. */
  judge(nodes: readonly NodeState[], nowMs: number): boolean {
    const zones = zonesOf(nodes);
    const isAll = isAllDisrupted(zones);
    const hasLeft = this.#disruption !== undefined && !isAll && zones.size > 0;
    if (isAll && !this.#disruption) this.#setDisruption({ isCleared: false });
    else if (hasLeft) this.#setDisruption(undefined);
    const intervalOf = (zone: string): number | undefined => (this.#disruption ? undefined : taintIntervalMs(zones.get(zone)));
    this.#intervals = new Map(nodes.map(({ zone }) => [zone, intervalOf(zone)]));
    for (const [zone, interval] of this.#intervals) this.#switch(zone, interval !== undefined, nowMs);
    for (const zone of [...this.#turns.keys()]) if (!this.#intervals.has(zone)) this.#forget(zone);
    return hasLeft;
  }

  /** When the zone's next Node has its turn; undefined = never while this disruption lasts. */
  turnAt(zone: string): number | undefined {
    const interval = this.#intervals.get(zone);
    return interval === undefined ? undefined : (this.#turns.get(zone)?.at ?? -Infinity) + interval;
  }

  /** A Node of the zone got its taint. */
  tainted(zone: string, nowMs: number): void {
    this.#set(zone, { at: nowMs, isRunning: true });
  }

  /** A zone whose taints begin again waits for its first one (upstream SwapLimiter drains the new limiter). */
  #switch(zone: string, isRunning: boolean, nowMs: number): void {
    const turn = this.#turns.get(zone);
    // The clock was set back.
    const at = Math.min(turn?.at ?? -Infinity, nowMs);
    if (turn && turn.isRunning === isRunning && turn.at === at) return;
    if (!turn && isRunning) return;
    this.#set(zone, { at: isRunning && !turn?.isRunning ? nowMs : at === -Infinity ? 0 : at, isRunning });
  }

  #set(zone: string, turn: ZoneTurn): void {
    this.#turns.set(zone, turn);
    this.rows.put(KIND_ZONE, zone, turn);
  }

  #forget(zone: string): void {
    this.#turns.delete(zone);
    this.rows.delete(KIND_ZONE, zone);
  }

  #setDisruption(disruption: FullDisruption | undefined): void {
    this.#disruption = disruption;
    if (disruption) this.rows.put(KIND_DISRUPTION, "", disruption);
    else this.rows.delete(KIND_DISRUPTION, "");
  }
}
