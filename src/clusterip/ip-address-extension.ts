/**
 * What makes a ResourceStore the ipaddresses store (PROTOCOL rules 4, 8, 15).
 *
 * Three kinds of IPAddress objects live there:
 * - written for a Service by the services store (`createMany`): the row at the owner is the Service's, a gen row here tells how new the
 *   writer is; deleting the object through the API frees nothing;
 * - made by a client inside a claimed prefix: the owner's row is taken first, held for the object's uid, and goes with the object;
 * - made by a client outside every claim: just an object, until a ServiceCIDR claims its prefix and seeds it.
 */
import { SEED_PAGE_OBJECTS } from "../base/limits";
import { formatAddress, parseAddress } from "../net/address";
import type { Family } from "../net/family";
import { containsAddress, parsePrefix, type Prefix } from "../net/prefix";
import type { IPAddress, KubeObject } from "../meta/kubernetes";
import { alreadyExists, serviceUnavailable, type Status } from "../meta/status";
import { rfc3339Seconds } from "../meta/time";
import type { ResourceDefinition } from "../registry/resource";
import type { IPAddressDelete, IPAddressWrite, SeedPage, SeedPageRequest, SeedRow } from "../rpc/ip-addresses";
import type { Gen } from "../rpc/service-cidr";
import type { Admission, CommittedChange, Operation, ProposedChange, StoreExtension } from "../store/extension";
import type { StoreTurn } from "../store/resource-store";
import type { AddressLedger } from "./address-ledger";
import type { TakenAddress } from "./address-supply";

/** The newest writer of an address that this store has seen, deleted ones included. */
export interface GenRow {
  address: string;
  /** "" = its object is gone: an object of that name is a client's */
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

const MANAGED_BY_LABEL = "ipaddress.kubernetes.io/managed-by";
const FAMILY_LABEL = "ipaddress.kubernetes.io/ip-family";
const ALLOCATOR_NAME = "ipallocator.k8s.io";

export interface IPAddressPorts {
  definition: ResourceDefinition;
  ledger: AddressLedger;
  storage: IPAddressStorage;
  now(): number;
  uuid(): string;
}

/** The owner's row that a client's create took; "outside" = no claim has the address, decided while the claims of `epoch` were known here. */
export type IPAddressSupply = { kind: "row"; address: TakenAddress } | { kind: "outside"; epoch: number };

export class IPAddressExtension implements StoreExtension<IPAddressSupply> {
  #claims: { epoch: number; prefixes: Prefix[] };
  readonly #settling = new WeakMap<Operation<IPAddressSupply>, Promise<void>>();

  constructor(private readonly ports: IPAddressPorts) {
    const { epoch, prefixes } = ports.storage.claimsLoad();
    this.#claims = { epoch, prefixes: parsedPrefixes(prefixes) };
  }

  admit(change: ProposedChange, operation: Operation<IPAddressSupply>): Admission {
    if (change.before || !change.after || change.dryRun || operation.supply?.kind === "row") return { kind: "go" };
    // Claims that came while the owner was looked for have been listed without this object: it needs a row all the same.
    if (operation.supply?.epoch === this.#claims.epoch) return { kind: "go" };
    const parsed = parseAddress(change.after.metadata?.name ?? "");
    if (!parsed.ok || !this.#isClaimed(parsed.value.family, parsed.value.value)) return { kind: "go" };
    const { after } = change;
    return { kind: "wait", supply: () => this.#supply(after, parsed.value.family, operation) };
  }

  committed(change: CommittedChange, operation: Operation<IPAddressSupply> | undefined): void {
    const { ledger } = this.ports;
    if (change.type === "DELETED") {
      this.#forget(change.key);
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
  }

  turnLost(): void {
    this.ports.ledger.turnLost();
    const { epoch, prefixes } = this.ports.storage.claimsLoad();
    this.#claims = { epoch, prefixes: parsedPrefixes(prefixes) };
  }

  async settled(operation: Operation<IPAddressSupply>): Promise<void> {
    await this.#settling.get(operation);
  }

  ended(operation: Operation<IPAddressSupply>): void {
    if (operation.supply?.kind === "row") this.ports.ledger.ended([operation.supply.address]);
  }

  /** One internal write in a store turn: a higher gen replaces, an equal or lower one changes nothing. */
  writeManaged(turn: StoreTurn, write: IPAddressWrite): void {
    const known = this.ports.storage.genGet(write.address);
    if (known && compareGens(known.gen, write.gen) >= 0) return;
    if (turn.get(write.address)) turn.remove(write.address);
    this.ports.storage.genPut({ address: write.address, token: write.token, gen: write.gen });
    turn.add(write.address, {
      metadata: {
        name: write.address,
        uid: this.ports.uuid(),
        creationTimestamp: rfc3339Seconds(this.ports.now()),
        labels: { [FAMILY_LABEL]: write.family, [MANAGED_BY_LABEL]: ALLOCATOR_NAME },
      },
      spec: { parentRef: { group: "", resource: "services", namespace: write.namespace, name: write.name } },
    } as IPAddress);
  }

  /** One internal delete: only on the equal token; a create of the same gen that comes later finds itself outdated. */
  deleteManaged(turn: StoreTurn, item: IPAddressDelete): void {
    const known = this.ports.storage.genGet(item.address);
    if (known && compareGens(known.gen, item.gen) > 0) return;
    if (known?.token === item.token) turn.remove(item.address);
    if (!known || compareGens(known.gen, item.gen) < 0) this.ports.storage.genPut({ address: item.address, token: "", gen: item.gen });
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
      this.#claims = { epoch, prefixes: parsedPrefixes(prefixes) };
    }
    const within = parsedPrefixes(page.within);
    const rows: SeedRow[] = [];
    let looked = 0;
    for (const { key, uid } of objectsFrom(page.after)) {
      if (looked++ === SEED_PAGE_OBJECTS) return { rows, next: key };
      const parsed = parseAddress(key);
      if (!parsed.ok || !isInSome(within, parsed.value.family, parsed.value.value)) continue;
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

  /** The object of the newest writer is gone; how new that writer was is kept. */
  #forget(address: string): void {
    const known = this.ports.storage.genGet(address);
    if (known?.token) this.ports.storage.genPut({ ...known, token: "" });
  }

  #isClaimed(family: Family, address: bigint): boolean {
    return isInSome(this.#claims.prefixes, family, address);
  }

  async #supply(after: KubeObject, family: Family, operation: Operation<IPAddressSupply>): Promise<Status | undefined> {
    const { name = "", uid = "" } = after.metadata ?? {};
    const { epoch } = this.#claims;
    const holder = { kind: "ipaddress" as const, namespace: "", name, uid };
    const { results } = await this.ports.ledger.take([{ family, address: name, holder }], operation.deadline);
    const result = results[0];
    if (result?.ok) {
      operation.supply = { kind: "row", address: result.taken };
      return undefined;
    }
    switch (result?.reason) {
      case "taken":
        return alreadyExists(this.ports.definition, name);
      case "unavailable":
      case undefined:
        return serviceUnavailable("the owner of the address did not answer in time, please try again", 1);
      default:
        operation.supply = { kind: "outside", epoch };
        return undefined;
    }
  }
}

function isInSome(prefixes: readonly Prefix[], family: Family, address: bigint): boolean {
  return prefixes.some((prefix) => containsAddress(prefix, family, address));
}

/** Negative, zero or positive as `a` is older, equal or newer than `b`. */
export function compareGens(a: Gen, b: Gen): number {
  return a.epoch - b.epoch || a.counter - b.counter;
}

function parsedPrefixes(texts: readonly string[]): Prefix[] {
  return texts.flatMap((text) => {
    const parsed = parsePrefix(text);
    return parsed.ok ? [parsed.value] : [];
  });
}
