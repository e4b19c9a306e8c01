/**
 * What makes a StoreEngine the ipaddresses store (rules 4, 8, 15).
 *
 * Three kinds of IPAddress objects live there:
 * - written for a Service by the services store (`createMany`). The row at the owner is the Service's, and a gen row here tells how new the writer
 *   is. Deleting the object through the API frees nothing, and repair brings it back;
 * - made by a client inside a claimed prefix: the owner's row is taken first, held for the object's uid, and goes with the object;
 * - made by a client outside every claim: just an object, until a ServiceCIDR claims its prefix and seeds it.
 *
 * No Service gets the address of a client's object, so no internal write replaces such an object. The one row at the owner is taken before the object
 * is stored, and looked for once more if claims have come since. Only an owner that lost rows can give the address out again.
 */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { withTimeout } from "../../core/base/timeout";
import { parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import type { KubeObject } from "../../api/meta/kubernetes";
import { alreadyExists, serviceUnavailable, type Status } from "../../api/meta/status";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { Admission, CommittedChange, Operation, ProposedChange, StoreExtension } from "../../api/store/state/extension";
import { ownerOf } from "../topology/route";
import type { AddressLedger } from "../ledger/address-ledger";
import type { ClaimedPrefixes } from "./claimed-prefixes";
import { type HeldRow, HeldRows, type HeldRowsPorts } from "../ledger/held-rows";
import type { ManagedAddresses } from "./managed-addresses";
import type { TakenAddress } from "../ledger/wanted-address";

/** Between two looks for a row that nobody speaks for just now: its segment is handed over, or its owner does not answer. */
const LOOK_AGAIN_MS = 100;

export interface IPAddressPorts extends HeldRowsPorts {
  definition: ResourceDefinition;
  ledger: AddressLedger;
  claims: ClaimedPrefixes;
  managed: Pick<ManagedAddresses, "writerOf">;
  /** a client has changed something that repair may have to look at */
  touched?(): void;
}

/** The owner's row that a client's create took; "outside" = no claim has the address. Decided while the claims of `epoch` were known here. */
export type IPAddressSupply = { kind: "row"; address: TakenAddress; epoch: number } | { kind: "outside"; epoch: number };

export class IPAddressExtension implements StoreExtension<IPAddressSupply> {
  /** a client's change is in the turn under way */
  #touched = false;
  readonly #settling = new WeakMap<Operation<IPAddressSupply>, Promise<void>>();
  readonly #rows: HeldRows;

  constructor(private readonly ports: IPAddressPorts) {
    this.#rows = new HeldRows(ports);
  }

  admit(change: ProposedChange, operation: Operation<IPAddressSupply>): Admission {
    if (change.before || !change.after || change.dryRun) return { kind: "go" };
    const { supply } = operation;
    // Claims that came while the owner was asked have been listed without this object: it needs a row there all the same.
    if (supply?.epoch === this.ports.claims.epoch) return { kind: "go" };
    if (supply?.kind === "row") return { kind: "wait", supply: () => this.#lookAgain(supply.address, operation) };
    const parsed = parseAddress(change.after.metadata?.name ?? "");
    if (!parsed.ok || !this.ports.claims.has(parsed.value.family, parsed.value.value)) return { kind: "go" };
    const { after } = change;
    return { kind: "wait", supply: () => this.#supply(after, parsed.value.family, operation) };
  }

  committed(change: CommittedChange, operation: Operation<IPAddressSupply> | undefined): void {
    const { ledger } = this.ports;
    this.#touched ||= operation !== undefined;
    if (change.type === "DELETED") {
      ledger.drop(change.key, change.key);
      if (operation) this.#settling.set(operation, ledger.releasesOfThisTurn());
    } else if (operation?.supply?.kind === "row") ledger.hold(change.key, operation.supply.address);
  }

  abandon(operation: Operation<IPAddressSupply>): void {
    if (operation.supply?.kind !== "row") return;
    this.ports.ledger.giveBack([operation.supply.address]);
    this.#settling.set(operation, this.ports.ledger.releasesOfThisTurn());
  }

  turnEnding(): void {
    this.ports.ledger.sealReleases();
  }

  turnCommitted(): void {
    this.ports.ledger.turnCommitted();
    if (this.#touched) this.ports.touched?.();
    this.#touched = false;
  }

  turnLost(): void {
    this.#touched = false;
    this.ports.ledger.turnLost();
    this.ports.claims.reload();
  }

  async settled(operation: Operation<IPAddressSupply>): Promise<void> {
    await this.#settling.get(operation);
  }

  ended(operation: Operation<IPAddressSupply>): void {
    if (operation.supply?.kind === "row") this.ports.ledger.ended([operation.supply.address]);
  }

  /** Whether an object of that name is a client's and has to hold a row at an owner. */
  needsRow(name: string): boolean {
    const parsed = parseAddress(name);
    return (
      parsed.ok && this.ports.claims.has(parsed.value.family, parsed.value.value) && !this.ports.managed.writerOf(parsed.value.canonical)
    );
  }

  /**
   * Whether the row that the operation took is still there. It is gone when its claim was dropped meanwhile: IPAddress objects keep no claim.
   * Whoever claimed the address since did not find the object.
   */
  async #lookAgain(taken: TakenAddress, operation: Operation<IPAddressSupply>): Promise<Status | undefined> {
    const { clock } = this.ports;
    for (; clock.now() < operation.deadline; await clock.sleep(LOOK_AGAIN_MS)) {
      const { epoch } = this.ports.claims;
      const row = await this.#rowOf(taken.address);
      if (typeof row === "string") continue;
      if (row?.token !== taken.token)
        return serviceUnavailable("the ServiceCIDR of the address has changed meanwhile, please try again", 1);
      operation.supply = { kind: "row", address: taken, epoch };
      return undefined;
    }
    return noAnswer();
  }

  /** By the Coordinator's topology of now: who owned the address may not know yet that its claim is gone. */
  async #rowOf(address: string): Promise<HeldRow> {
    const { clock, topology } = this.ports;
    try {
      const current = await withTimeout(clock, RPC_TIMEOUT_MS, topology.refresh());
      if (ownerOf(current, address) === undefined) return null;
      const [row = "unavailable"] = await this.#rows.of([address]);
      return row;
    } catch {
      return "unavailable";
    }
  }

  async #supply(after: KubeObject, family: Family, operation: Operation<IPAddressSupply>): Promise<Status | undefined> {
    const { name = "", uid = "" } = after.metadata ?? {};
    const { epoch } = this.ports.claims;
    const holder = { kind: "ipaddress" as const, namespace: "", name, uid };
    const { results } = await this.ports.ledger.take([{ family, address: name, holder }], operation.deadline);
    const result = results[0];
    if (result?.ok) {
      operation.supply = { kind: "row", address: result.taken, epoch };
      return undefined;
    }
    switch (result?.reason) {
      case "taken":
        return alreadyExists(this.ports.definition, name);
      case "unavailable":
      case undefined:
        return noAnswer();
      default:
        operation.supply = { kind: "outside", epoch };
        return undefined;
    }
  }
}

function noAnswer(): Status {
  return serviceUnavailable("the owner of the address did not answer in time, please try again", 1);
}
