/**
 * How many addresses each owner has given out, by family and band, as its last answer showed. The free ones are the size that the topology gives the
 * owner now, less these. So a range that is added or taken away counts at once, before its owner is asked again.
 *
 * Hints: they steer the draw of an owner, and "full" is answered only after the Coordinator has asked the owners (address-supply.ts). Those on disk
 * differ from what is known by an eighth of what is free, and are written again when they differ by more. So the one owner with room is found at once
 * after a restart, too, and most creates write no count.
 */
import { parseAddress } from "../../core/net/address";
import { FAMILIES, type Family } from "../../core/net/family";
import type { Topology } from "../rpc/topology";
import type { AllocateAnswer, FreeCount } from "../rpc/service-cidr";
import { bandOf, isOf, sizesOf } from "../topology/route";

/** Addresses of one owner that are taken, by family and band. */
export interface OwnerTakenCounts {
  ownerUid: string;
  IPv4: FreeCount;
  IPv6: FreeCount;
}

export interface FreeCountStorage {
  takenCountsLoad(): OwnerTakenCounts[];
  takenCountsSave(counts: OwnerTakenCounts): void;
  takenCountsDelete(ownerUid: string): void;
}

const BANDS = ["dynamic", "static"] as const;
/** What the counts on disk may differ by: one part in so many of what is free. */
const PARTS = 8;

interface KnownCounts {
  taken: OwnerTakenCounts;
  /** as on disk, or as the next commit writes them; undefined = not there */
  kept: OwnerTakenCounts | undefined;
  /** place of the newest fact in the order in which facts came */
  at: number;
}

export class FreeCounts {
  readonly #known = new Map<string, KnownCounts>();
  readonly #unsaved = new Set<string>();
  /** of the last `save`, whose transaction may still be lost */
  #saved: string[] = [];
  #sequence = 0;

  /** `storage` is given where draws are made that a restart should go on with. */
  constructor(private readonly storage?: FreeCountStorage) {
    for (const taken of storage?.takenCountsLoad() ?? []) this.#known.set(taken.ownerUid, { taken, kept: copyOf(taken), at: 0 });
  }

  /** Grows with each note. An answer that was requested after a note is newer than the note. */
  get now(): number {
    return this.#sequence;
  }

  /** What an owner answered. Ignored unless the answer was given under the configuration that `topology` is about. */
  note(topology: Topology, ownerUid: string, { epoch, free }: Pick<AllocateAnswer, "epoch" | "free">): void {
    if (isOf(topology, ownerUid, epoch)) this.#set(topology, ownerUid, free);
  }

  /** The owner has freed the address (canonical text). */
  released(topology: Topology, ownerUid: string, address: string): void {
    const known = this.#known.get(ownerUid);
    const parsed = parseAddress(address);
    if (!known || !parsed.ok) return;
    const band = bandOf(topology, parsed.value.family, parsed.value.value);
    const taken = known.taken[parsed.value.family];
    if (band === undefined || taken[band] === 0) return;
    taken[band]--;
    known.at = ++this.#sequence;
    this.#keep(topology, known);
  }

  /** The counts that came with a topology: of owners about which nothing is known here. Owners that are gone are forgotten. */
  adopt(topology: Topology): void {
    for (const { ownerUid, ...free } of topology.free) if (!this.#known.has(ownerUid)) this.#set(topology, ownerUid, free);
    const owners = new Set(topology.claims.map((claim) => claim.ownerUid));
    for (const ownerUid of this.#known.keys()) {
      if (owners.has(ownerUid)) continue;
      this.#known.delete(ownerUid);
      this.#unsaved.add(ownerUid);
    }
  }

  /** The counts of a topology whose owners were asked after `since`: they replace all that is not newer. */
  replace(topology: Topology, since: number): void {
    for (const { ownerUid, ...free } of topology.free) {
      if ((this.#known.get(ownerUid)?.at ?? 0) <= since) this.#set(topology, ownerUid, free);
    }
  }

  /** Free addresses by band of an owner that may give out `size` of them; an owner that nothing is known of counts as empty. */
  freeOf(ownerUid: string, family: Family, size: FreeCount): FreeCount {
    const taken = this.#known.get(ownerUid)?.taken[family];
    if (!taken) return size;
    return { dynamic: Math.max(0, size.dynamic - taken.dynamic), static: Math.max(0, size.static - taken.static) };
  }

  /** Writes what differs by too much; inside a transaction of the store, after which `lost` is called if it did not take place. */
  save(): void {
    const { storage } = this;
    if (!storage) return;
    this.#saved = [...this.#unsaved];
    this.#unsaved.clear();
    for (const ownerUid of this.#saved) {
      const known = this.#known.get(ownerUid);
      if (!known) storage.takenCountsDelete(ownerUid);
      else storage.takenCountsSave((known.kept = copyOf(known.taken)));
    }
  }

  /** The writes of the last `save` are lost: the next one repeats them. */
  lost(): void {
    for (const ownerUid of this.#saved) this.#unsaved.add(ownerUid);
    this.#saved = [];
  }

  #set(topology: Topology, ownerUid: string, free: AllocateAnswer["free"]): void {
    const taken: OwnerTakenCounts = { ownerUid, IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } };
    for (const family of FAMILIES) {
      const size = sizesOf(topology, ownerUid, family);
      taken[family].dynamic = Math.max(0, size.dynamic - free[family].dynamic);
      taken[family].static = Math.max(0, size.static - free[family].static);
    }
    const known = { taken, kept: this.#known.get(ownerUid)?.kept, at: ++this.#sequence };
    this.#known.set(ownerUid, known);
    this.#keep(topology, known);
  }

  /** Has the counts of an owner written if those on disk are too far off. An owner without counts on disk would count as empty. */
  #keep(topology: Topology, { taken, kept }: KnownCounts): void {
    const isFar = FAMILIES.some((family) => {
      const free = this.freeOf(taken.ownerUid, family, sizesOf(topology, taken.ownerUid, family));
      return BANDS.some((band) => Math.abs(taken[family][band] - (kept?.[family][band] ?? 0)) * PARTS > free[band]);
    });
    if (isFar) this.#unsaved.add(taken.ownerUid);
  }
}

function copyOf({ ownerUid, IPv4, IPv6 }: OwnerTakenCounts): OwnerTakenCounts {
  return { ownerUid, IPv4: { ...IPv4 }, IPv6: { ...IPv6 } };
}
