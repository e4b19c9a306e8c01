/**
 * Which rows at owners the services store has given back already. A release deletes the IPAddress here before the owner's row (rule 4). So this
 * store need not ask the services store, and may not (rule 18).
 */
import type { AddressRow } from "../rpc/service-cidr";
import { compareGens, type IPAddressStorage } from "./ip-address-storage";
import { HeldRows, type HeldRowsPorts } from "../ledger/held-rows";

export interface ReleasedByServicesPorts extends HeldRowsPorts {
  storage: Pick<IPAddressStorage, "genGet">;
}

export class ReleasedByServices {
  readonly #rows: HeldRows;

  constructor(private readonly ports: ReleasedByServicesPorts) {
    this.#rows = new HeldRows(ports);
  }

  /** Whether the owner's row of the address (canonical text) is about to go. Rejects when no owner speaks for the address. */
  async isReleasing(address: string): Promise<boolean> {
    const [row = "unavailable"] = await this.#rows.of([address]);
    if (typeof row === "string") throw new Error(`the row of ${address} is ${row}`);
    return row !== null && this.#isReleased(row);
  }

  #isReleased({ address, gen, holder }: AddressRow): boolean {
    const newest = this.ports.storage.genGet(address);
    return holder.kind === "service" && newest?.token === "" && compareGens(newest.gen, gen) === 0;
  }
}
