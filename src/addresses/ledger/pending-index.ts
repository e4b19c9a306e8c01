/** Which releases are pending, in memory: a question costs the same with one row as with PENDING_RELEASES_MAX. */
import { parseAddress } from "../../core/net/address";
import { type Family, familyOfText } from "../../core/net/family";
import type { Topology } from "../rpc/topology";
import { bandOf } from "../topology/route";
import type { PendingRelease } from "./release-storage";

type PendingAddress = Pick<PendingRelease, "token" | "address">;

/** The rows whose address a range of the topology gives out, counted by family. */
interface GivenOut extends Record<Family, number> {
  topology: Topology;
}

export class PendingIndex {
  readonly #addressOf = new Map<string, string>();
  readonly #tokensOf = new Map<string, Set<string>>();
  /** of the topology that was asked for last */
  #givenOut: GivenOut | undefined;

  constructor(
    rows: Iterable<PendingAddress>,
    private readonly isGivenOut: (topology: Topology, address: string) => boolean = isInRange,
  ) {
    for (const row of rows) this.add(row);
  }

  get size(): number {
    return this.#addressOf.size;
  }

  has(token: string): boolean {
    return this.#addressOf.has(token);
  }

  /** A row that is known already changes nothing. */
  add({ token, address }: PendingAddress): void {
    if (this.#addressOf.has(token)) return;
    this.#addressOf.set(token, address);
    const tokens = this.#tokensOf.get(address);
    if (tokens) tokens.add(token);
    else this.#tokensOf.set(address, new Set([token]));
    this.#count(address, 1);
  }

  delete(token: string): void {
    const address = this.#addressOf.get(token);
    if (address === undefined) return;
    this.#addressOf.delete(token);
    const tokens = this.#tokensOf.get(address);
    tokens?.delete(token);
    if (tokens?.size === 0) this.#tokensOf.delete(address);
    this.#count(address, -1);
  }

  /** The tokens of the rows of an address (canonical text). */
  tokensOf(address: string): readonly string[] {
    return [...(this.#tokensOf.get(address) ?? [])];
  }

  /** Whether a pending address meets the test. Looks at every row. */
  someAddress(test: (address: string) => boolean): boolean {
    for (const address of this.#addressOf.values()) if (test(address)) return true;
    return false;
  }

  /** Whether an address of the family is pending that a range of the topology gives out. The first question about a topology looks at every row. */
  hasGivenOut(topology: Topology, family: Family): boolean {
    if (this.#givenOut?.topology !== topology) {
      this.#givenOut = { topology, IPv4: 0, IPv6: 0 };
      for (const address of this.#addressOf.values()) this.#count(address, 1);
    }
    return this.#givenOut[family] > 0;
  }

  #count(address: string, change: 1 | -1): void {
    const known = this.#givenOut;
    if (known && this.isGivenOut(known.topology, address)) known[familyOfText(address)] += change;
  }
}

function isInRange(topology: Topology, address: string): boolean {
  const parsed = parseAddress(address);
  return parsed.ok && bandOf(topology, parsed.value.family, parsed.value.value) !== undefined;
}
