/**
 * Which owner a request asks next. All requests of one turn that pass over the same owners share a draw. So a batch usually costs one call. An
 * owner that just had nothing to give is drawn only where no other has room in its dynamic bands.
 */
import type { Clock, Random } from "../../core/base/ports";
import type { Family } from "../../core/net/family";
import { OPEN_ZONE } from "../../core/net/zones";
import { ANY_ZONE } from "../rpc/service-cidr";
import type { Topology } from "../rpc/topology";
import { type Draw, drawInZone, drawOwner, ownerOf } from "../topology/route";
import type { FreeCounts } from "./free-counts";
import type { PassedOver } from "./take-step";

/** How long an owner rests: about as long as a lot of addresses is frozen. */
const RESTING_MS = 100;

export interface DrawPorts {
  clock: Clock;
  random: Random;
  counts: FreeCounts;
}

export class OwnerDraws {
  /** the draws of this turn, by family and by who is passed over */
  readonly #drawn = new Map<string, Draw>();
  /** until when each owner rests (ms since the epoch) */
  readonly #resting = new Map<string, number>();

  constructor(private readonly ports: DrawPorts) {}

  /**
   * The owner of the address (canonical text), or for "" any one that may have room; undefined = none is left.
   *
   * @param zone where zones are kept apart: the one that the address is to be in
   */
  draw(topology: Topology, { family, address }: { family: Family; address: string }, passed: PassedOver, zone?: string): Draw | undefined {
    if (address) {
      const ownerUid = ownerOf(topology, address);
      return ownerUid === undefined ? undefined : { ownerUid, band: "static", ...inZone(zone) };
    }
    if (zone !== undefined && zone !== OPEN_ZONE && zone !== ANY_ZONE) {
      return drawInZone(topology, zone, { random: this.ports.random, full: passed });
    }
    const draw = this.#drawOpen(topology, family, passed);
    return draw && zone !== undefined ? { ...draw, zone } : draw;
  }

  #drawOpen(topology: Topology, family: Family, passed: PassedOver): Draw | undefined {
    const key = family + keyOf(passed);
    const known = this.#drawn.get(key);
    if (known !== undefined) return known;
    const draw = this.#drawAny(topology, family, passed);
    if (draw !== undefined) {
      this.#drawn.set(key, draw);
      void this.ports.clock.nextTurn().then(() => this.#drawn.delete(key));
    }
    return draw;
  }

  rest(ownerUid: string): void {
    this.#resting.set(ownerUid, this.ports.clock.now() + RESTING_MS);
  }

  /** The counts have changed: what was drawn by the old ones does not hold. */
  forget(): void {
    this.#drawn.clear();
  }

  #drawAny(topology: Topology, family: Family, full: PassedOver): Draw | undefined {
    const { clock, random, counts } = this.ports;
    const freeOf = counts.freeOf.bind(counts);
    for (const [ownerUid, until] of this.#resting) if (until <= clock.now()) this.#resting.delete(ownerUid);
    if (this.#resting.size > 0) {
      const dynamic = new Set([...full.dynamic, ...this.#resting.keys()]);
      const draw = drawOwner(topology, family, { random, freeOf, full: { dynamic, static: full.static } });
      // A dynamic address that has to be waited for comes before a static one.
      if (draw?.band === "dynamic") return draw;
    }
    return drawOwner(topology, family, { random, freeOf, full });
  }
}

function inZone(zone: string | undefined): Pick<Draw, "zone"> {
  return zone === undefined ? {} : { zone };
}

/** Equal for those who pass over the same owners. */
function keyOf(passed: PassedOver): string {
  if (passed.dynamic.size === 0 && passed.static.size === 0) return "";
  return `${[...passed.dynamic].sort().join()}/${[...passed.static].sort().join()}`;
}
