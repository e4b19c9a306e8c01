/**
 * The ipaddresses store's side of repair. An IPAddress object that a client made inside a claim holds a row at the owner. Else the address would
 * be given out twice. Those of Services are the services store's (service-repair.ts), those outside every claim nobody's.
 */
import type { HeldAddress, WholeResult } from "../rpc/repair";
import { RowRepair, type RowRepairPorts } from "../ledger/row-repair";

export interface IPAddressRepairPorts extends RowRepairPorts {
  /** uid of the stored object of that name if it has to hold a row */
  holderOf(address: string): string | undefined;
}

export class IPAddressRepair {
  readonly #rows: RowRepair;

  constructor(private readonly ports: IPAddressRepairPorts) {
    this.#rows = new RowRepair(ports);
  }

  /** See RepairedAddresses. */
  async makeHeld(items: readonly Pick<HeldAddress, "address" | "object">[]): Promise<WholeResult[]> {
    const { holderOf } = this.ports;
    const open = items.flatMap(({ address, object }, i) => (holderOf(address) === object ? [i] : []));
    const results = items.map((): WholeResult => "gone");
    const outcomes = await this.#rows.settle(
      open.map((i) => {
        const { address = "", object: uid = "" } = items[i] ?? {};
        const holder = { kind: "ipaddress" as const, namespace: "", name: address, uid };
        return { key: address, address, holder, isHeld: () => holderOf(address) === uid };
      }),
    );
    for (const [at, i] of open.entries()) {
      const outcome = outcomes[at];
      if (outcome) results[i] = outcome.own ? (outcome.isNew ? "restored" : "whole") : outcome.result;
    }
    return results;
  }
}
