/**
 * What makes a StoreEngine the ipaddresses store (rules 4, 8, 15).
 *
 * Three kinds of IPAddress objects live there:
 * - written for a Service by the services store (`createMany`): the row at the owner is the Service's, a gen row here tells how new the
 *   writer is; deleting the object through the API frees nothing, and repair brings it back;
 * - made by a client inside a claimed prefix: the owner's row is taken first, held for the object's uid, and goes with the object;
 * - made by a client outside every claim: just an object, until a ServiceCIDR claims its prefix and seeds it.
 *
 * No Service gets the address of a client's object, so none is replaced by an internal write: the one row at the owner is taken before the object
 * is stored, and once more looked for if claims have come since. Only an owner that lost rows can give the address out again.
 */
import { SEED_PAGE_OBJECTS } from "../rpc/limits";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { withTimeout } from "../../core/base/timeout";
import { formatAddress, parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { type Prefix, prefixesIn } from "../../core/net/prefix";
import { ALLOCATOR_NAME, FAMILY_LABEL, MANAGED_BY_LABEL } from "../../api/registry/ip-addresses/allocator-labels";
import type { IPAddress, KubeObject } from "../../api/meta/kubernetes";
import { alreadyExists, serviceUnavailable, type Status } from "../../api/meta/status";
import { rfc3339Seconds } from "../../api/meta/time";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { IPAddressDelete, IPAddressWrite, SeedPage, SeedPageRequest, SeedRow } from "../rpc/ip-addresses";
import type { IPAddressRestore, WrittenAddress } from "../rpc/repair";
import type { Gen } from "../rpc/service-cidr";
import type { Admission, CommittedChange, Operation, ProposedChange, StoreExtension } from "../../api/store/extension";
import type { StoreTurn } from "../../api/store/store-turn";
import type { PrefixIndex } from "../topology/prefix-index";
import { rangeIndex } from "../topology/range-index";
import { ownerOf } from "../topology/route";
import type { AddressLedger } from "./address-ledger";
import type { TakenAddress } from "./wanted-address";
import { type HeldRow, HeldRows, type HeldRowsPorts } from "./held-rows";

/** Between two looks for a row that nobody speaks for just now: its segment is handed over, or its owner does not answer. */
const LOOK_AGAIN_MS = 100;

/** The newest writer of an address that this store has seen, deleted ones included. */
export interface GenRow {
  address: string;
  /** "" = released: an object of that name is a client's. A token without an object: somebody deleted the object by hand. */
  token: string;
  gen: Gen;
}

export interface IPAddressStorage {
  genGet(address: string): GenRow | undefined;
  genPut(row: GenRow): void;
  /** the prefixes that ServiceCIDR objects own, as last acknowledged */
  claimsLoad(): { epoch: number; prefixes: string[] };
  claimsSave(epoch: number, prefixes: readonly string[]): void;
}

export interface IPAddressPorts extends HeldRowsPorts {
  definition: ResourceDefinition;
  ledger: AddressLedger;
  storage: IPAddressStorage;
  uuid(): string;
  /** a client has changed something that repair may have to look at */
  touched?(): void;
}

/** The owner's row that a client's create took; "outside" = no claim has the address. Decided while the claims of `epoch` were known here. */
export type IPAddressSupply = { kind: "row"; address: TakenAddress; epoch: number } | { kind: "outside"; epoch: number };

export class IPAddressExtension implements StoreExtension<IPAddressSupply> {
  #claims: { epoch: number; prefixes: PrefixIndex<Prefix> };
  /** a client's change is in the turn under way */
  #touched = false;
  readonly #settling = new WeakMap<Operation<IPAddressSupply>, Promise<void>>();
  readonly #rows: HeldRows;

  constructor(private readonly ports: IPAddressPorts) {
    this.#rows = new HeldRows(ports);
    this.#claims = this.#storedClaims();
  }

  admit(change: ProposedChange, operation: Operation<IPAddressSupply>): Admission {
    if (change.before || !change.after || change.dryRun) return { kind: "go" };
    const { supply } = operation;
    // Claims that came while the owner was asked have been listed without this object: it needs a row there all the same.
    if (supply?.epoch === this.#claims.epoch) return { kind: "go" };
    if (supply?.kind === "row") return { kind: "wait", supply: () => this.#lookAgain(supply.address, operation) };
    const parsed = parseAddress(change.after.metadata?.name ?? "");
    if (!parsed.ok || !this.#isClaimed(parsed.value.family, parsed.value.value)) return { kind: "go" };
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

  turnCommitted(): void {
    this.ports.ledger.turnCommitted();
    if (this.#touched) this.ports.touched?.();
    this.#touched = false;
  }

  turnLost(): void {
    this.#touched = false;
    this.ports.ledger.turnLost();
    this.#claims = this.#storedClaims();
  }

  async settled(operation: Operation<IPAddressSupply>): Promise<void> {
    await this.#settling.get(operation);
  }

  ended(operation: Operation<IPAddressSupply>): void {
    if (operation.supply?.kind === "row") this.ports.ledger.ended([operation.supply.address]);
  }

  /**
   * One internal write in a store turn: a higher gen replaces, a lower one changes nothing. The same writer again changes nothing either,
   * unless its object was deleted by hand or is the one that repair found wrong (`seen`). Answers whether an object was written.
   */
  writeManaged(turn: StoreTurn, write: IPAddressWrite, seen?: Pick<IPAddressRestore, "object" | "isRight">): boolean {
    const known = this.ports.storage.genGet(write.address);
    const newer = known ? compareGens(known.gen, write.gen) : -1;
    const stored = turn.get(write.address);
    const isSeen = stored !== undefined && stored.uid === seen?.object;
    if (newer > 0 || (newer === 0 && (known?.token !== write.token || (stored && (!isSeen || seen.isRight))))) return false;
    this.ports.storage.genPut({ address: write.address, token: write.token, gen: write.gen });
    if (isSeen && seen.isRight) return false;
    if (stored) this.#replace(turn, write);
    turn.add(write.address, {
      metadata: {
        name: write.address,
        uid: this.ports.uuid(),
        creationTimestamp: rfc3339Seconds(this.ports.clock.now()),
        labels: { [FAMILY_LABEL]: write.family, [MANAGED_BY_LABEL]: ALLOCATOR_NAME },
      },
      spec: { parentRef: { group: "", resource: "services", namespace: write.namespace, name: write.name } },
    } as IPAddress);
    return true;
  }

  /** Of an object that holds a row here the address can have been given out only by an owner that has lost that row: the Service keeps it. */
  #replace(turn: StoreTurn, { address, namespace, name }: IPAddressWrite): void {
    if (this.ports.ledger.tokenOf(address) !== undefined) {
      this.ports.recorder.log("error", "an IPAddress was replaced", { address, service: `${namespace}/${name}` });
    }
    turn.remove(address);
  }

  /** One internal delete: only on the equal token; a create of the same gen that comes later finds itself outdated. */
  deleteManaged(turn: StoreTurn, item: IPAddressDelete): void {
    const known = this.ports.storage.genGet(item.address);
    if (known && compareGens(known.gen, item.gen) > 0) return;
    const isWriter = known?.token === item.token;
    if (isWriter) turn.remove(item.address);
    if (isWriter || !known || compareGens(known.gen, item.gen) < 0) {
      this.ports.storage.genPut({ address: item.address, token: "", gen: item.gen });
    }
  }

  /** Under which token and gen the services store wrote the address, unless it has released it. */
  writerOf(address: string): WrittenAddress | null {
    const known = this.ports.storage.genGet(address);
    return known?.token ? known : null;
  }

  /** Whether an object of that name that nobody but a client can have made has to hold a row at an owner. */
  needsRow(name: string): boolean {
    const parsed = parseAddress(name);
    return parsed.ok && this.#isClaimed(parsed.value.family, parsed.value.value) && !this.writerOf(parsed.value.canonical);
  }

  /**
   * Persists the claimed prefixes (in the turn) and answers the client-made objects inside. `objectsFrom` answers the stored ones from a key
   * on, in the order of keys.
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
      // From now on deleting the object releases the seeded row. One that holds a row already, even one that went with its claim, keeps
      // its token: it is what the deletion will release.
      const held = this.ports.ledger.tokenOf(address);
      if (held === undefined) {
        this.ports.ledger.hold(key, { family: parsed.value.family, address, token: uid, gen: { epoch: 0, counter: 0 } });
      }
      rows.push({ address, holder: { kind: "ipaddress", namespace: "", name: key, uid }, token: held ?? uid });
    }
    return { rows, next: "" };
  }

  #isClaimed(family: Family, address: bigint): boolean {
    return this.#claims.prefixes.containing(family, address).length > 0;
  }

  #storedClaims(): { epoch: number; prefixes: PrefixIndex<Prefix> } {
    const { epoch, prefixes } = this.ports.storage.claimsLoad();
    return { epoch, prefixes: rangeIndex(prefixesIn(prefixes)) };
  }

  /**
   * Whether the row that the operation took is still there. It is gone when its claim was dropped meanwhile, which IPAddress objects do not keep,
   * and whoever claimed the address since did not find the object.
   */
  async #lookAgain(taken: TakenAddress, operation: Operation<IPAddressSupply>): Promise<Status | undefined> {
    const { clock } = this.ports;
    for (; clock.now() < operation.deadline; await clock.sleep(LOOK_AGAIN_MS)) {
      const { epoch } = this.#claims;
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
    const { epoch } = this.#claims;
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

/** Negative, zero or positive as `a` is older, equal or newer than `b`. */
export function compareGens(a: Gen, b: Gen): number {
  return a.epoch - b.epoch || a.counter - b.counter;
}
