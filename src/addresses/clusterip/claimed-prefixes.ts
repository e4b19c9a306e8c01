/**
 * The prefixes that ServiceCIDRs own, as the ipaddresses store has last acknowledged them (rule 15). Inside them a client's IPAddress holds a row
 * at the owner.
 */
import { formatAddress, parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { type Prefix, prefixesIn } from "../../core/net/prefix";
import type { SeedPage, SeedPageRequest, SeedRow } from "../rpc/ip-addresses";
import { SEED_PAGE_OBJECTS } from "../rpc/limits";
import type { PrefixIndex } from "../topology/prefix-index";
import { rangeIndex } from "../topology/range-index";
import type { AddressLedger } from "../ledger/address-ledger";
import type { IPAddressStorage } from "./ip-address-storage";

export interface ClaimedPrefixesPorts {
  ledger: Pick<AddressLedger, "hold" | "tokenOf">;
  storage: Pick<IPAddressStorage, "claimsLoad" | "claimsSave" | "genGet">;
}

export class ClaimedPrefixes {
  #claims: { epoch: number; prefixes: PrefixIndex<Prefix> };

  constructor(private readonly ports: ClaimedPrefixesPorts) {
    this.#claims = this.#stored();
  }

  /** The Coordinator's epoch of the claims. */
  get epoch(): number {
    return this.#claims.epoch;
  }

  has(family: Family, address: bigint): boolean {
    return this.#claims.prefixes.containing(family, address).length > 0;
  }

  /** Memory after a lost transaction. */
  reload(): void {
    this.#claims = this.#stored();
  }

  /**
   * Persists the claims (in the turn) and answers a page of the objects inside that clients made. `objectsFrom` answers the stored objects from a
   * key on, in the order of keys.
   */
  claim(
    epoch: number,
    prefixes: readonly string[],
    page: SeedPageRequest,
    objectsFrom: (key: string) => Iterable<{ key: string; uid: string }>,
  ): SeedPage {
    if (epoch >= this.#claims.epoch) {
      this.ports.storage.claimsSave(epoch, prefixes);
      this.#claims = { epoch, prefixes: rangeIndex(prefixesIn(prefixes)) };
    }
    const within = rangeIndex(prefixesIn(page.within));
    const rows: SeedRow[] = [];
    let looked = 0;
    for (const { key, uid } of objectsFrom(page.after)) {
      if (looked++ === SEED_PAGE_OBJECTS) return { rows, next: key };
      const parsed = parseAddress(key);
      if (!parsed.ok || within.containing(parsed.value.family, parsed.value.value).length === 0) continue;
      const address = formatAddress(parsed.value.family, parsed.value.value);
      if (this.ports.storage.genGet(address)?.token) continue;
      const token = this.#hold(key, uid, { family: parsed.value.family, address });
      rows.push({ address, holder: { kind: "ipaddress", namespace: "", name: key, uid }, token });
    }
    return { rows, next: "" };
  }

  /**
   * From now on deleting the object releases the seeded row. An object that holds a row already, even one that went with its claim, keeps its token:
   * the deletion will release that one. Answers the token.
   */
  #hold(key: string, uid: string, { family, address }: { family: Family; address: string }): string {
    const held = this.ports.ledger.tokenOf(address);
    if (held !== undefined) return held;
    this.ports.ledger.hold(key, { family, address, token: uid, gen: { epoch: 0, counter: 0 } });
    return uid;
  }

  #stored(): { epoch: number; prefixes: PrefixIndex<Prefix> } {
    const { epoch, prefixes } = this.ports.storage.claimsLoad();
    return { epoch, prefixes: rangeIndex(prefixesIn(prefixes)) };
  }
}
