/** What each zone has in one segment: the open one always, others where they have a part. */
import { OPEN_ZONE } from "../../core/net/zones";

export class ZonesHere<Zone> {
  readonly open: Zone;
  /** undefined = no other zone has a part here */
  #others: Map<string, Zone> | undefined;

  /** @param empty makes a zone that has nothing yet */
  constructor(private readonly empty: () => Zone) {
    this.open = empty();
  }

  /** Forgets all zones but the open one. */
  clear(): void {
    this.#others = undefined;
  }

  /** undefined = the zone has no part here. */
  find(zone: string): Zone | undefined {
    return zone === OPEN_ZONE ? this.open : this.#others?.get(zone);
  }

  /** Makes the zone unless it is there. */
  get(zone: string): Zone {
    let known = this.find(zone);
    if (!known) (this.#others ??= new Map()).set(zone, (known = this.empty()));
    return known;
  }

  all(): Zone[] {
    return [this.open, ...(this.#others?.values() ?? [])];
  }
}
