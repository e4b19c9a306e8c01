/** Takes the addresses that a Service needs, has their IPAddress objects written, or says why there are none. */
import type { Service } from "../../api/meta/kubernetes";
import { serviceUnavailable, type Status } from "../../api/meta/status";
import type { Operation } from "../../api/store/state/extension";
import type { IPAddressWrite } from "../rpc/ip-addresses";
import type { AddressLedger } from "../ledger/address-ledger";
import type { Take } from "./address-plan";
import { takeRefused } from "./errors";
import type { Pairing } from "./pairing";
import type { SupplyResult, TakenAddress } from "../ledger/wanted-address";

/** Addresses that an operation took, by their place in clusterIPs. */
export interface ServiceSupply {
  taken: { index: number; address: TakenAddress }[];
  writes: IPAddressWrite[];
  /** whether the IPAddress objects are known to be stored */
  written: Promise<boolean>;
}

export interface ServiceSupplierPorts {
  ledger: Pick<AddressLedger, "take">;
  pairing: Pick<Pairing, "write">;
}

export class ServiceSupplier {
  constructor(private readonly ports: ServiceSupplierPorts) {}

  /**
   * Puts what was taken into `operation.supply`, also beside a refusal: then some address could not be taken, and the caller gives back the others.
   */
  async supply(after: Service, take: readonly Take[], operation: Operation<ServiceSupply>): Promise<Status | undefined> {
    const { ledger, pairing } = this.ports;
    const { namespace = "", name = "", uid = "" } = after.metadata ?? {};
    const holder = { kind: "service" as const, namespace, name, uid };
    const wanted = take.map(({ family, address }) => ({ family, address, holder }));
    const { taken, results } = await ledger.take(wanted, operation.deadline);
    const failed = results.findIndex((result) => !result.ok);
    if (failed >= 0) {
      operation.supply = { taken: taken.map((address) => ({ index: 0, address })), writes: [], written: Promise.resolve(true) };
      const result = results[failed];
      const want = take[failed];
      return result && !result.ok && want ? refusal(after, want, result) : undefined;
    }
    const writes = taken.map((address) => ipAddressWrite(after, address));
    operation.supply = {
      taken: taken.map((address, i) => ({ index: take[i]?.index ?? i, address })),
      writes,
      written: pairing.write(writes),
    };
    return undefined;
  }
}

/** Whether the supply is what the plan takes. An object that changes while its addresses are fetched has another plan. */
export function fitsPlan(supply: ServiceSupply, take: readonly Take[]): boolean {
  return (
    supply.taken.length === take.length &&
    take.every(({ index, family, address }) =>
      supply.taken.some(
        (held) => held.index === index && held.address.family === family && (address === "" || address === held.address.address),
      ),
    )
  );
}

/** The IPAddress object of an address that the Service took. */
export function ipAddressWrite(service: Service, { family, address, token, gen }: TakenAddress): IPAddressWrite {
  return { address, family, token, gen, namespace: service.metadata?.namespace ?? "", name: service.metadata?.name ?? "" };
}

function refusal(after: Service, want: Take, { reason, detail = "" }: Extract<SupplyResult, { ok: false }>): Status {
  switch (reason) {
    case "unavailable":
      return serviceUnavailable("no address could be allocated in time, please try again", 1);
    case "taken":
      return takeRefused(after, want, { reason: "taken" });
    case "outOfRange":
      return takeRefused(after, want, { reason: "notAllocatable" });
    case "kept":
      return takeRefused(after, want, { reason: "other", text: detail });
    case "full":
      return takeRefused(after, want, { reason: "full", ...(detail === "" ? {} : { text: detail }) });
    case "noRange":
      return takeRefused(after, want, { reason: "noRange", family: want.family });
  }
}
