/** The ipaddresses store: the API's view of who holds which address. */
import { ClusterStore } from "../../api/store/cluster-store";
import type { IPAddressDelete, IPAddressesRpc, IPAddressWrite, SeedPage, SeedPageRequest } from "../rpc/ip-addresses";
import type { AuditedStore, HeldAddress, IPAddressRestore, RepairedAddresses, WholeResult, WrittenAddress } from "../rpc/repair";
import type { AddressLedger } from "../ledger/address-ledger";
import { ClaimedPrefixes } from "./claimed-prefixes";
import { IPAddressExtension, type IPAddressSupply } from "./ip-address-extension";
import { IPAddressRepair } from "./ip-address-repair";
import { ManagedAddresses } from "./managed-addresses";
import { ReleasedByServices } from "./released-by-services";
import type { IPAddressStorage } from "./ip-address-storage";
import { type LedgerParts, ledgerParts, type LedgerStorePorts } from "../ledger/ledger-store";
import type { AskedAddress } from "../ledger/wanted-address";

export interface IPAddressesStorePorts extends LedgerStorePorts {
  /** in the same database as `storage` */
  ipAddresses: IPAddressStorage;
}

export class IPAddressesStore extends ClusterStore<IPAddressSupply> implements IPAddressesRpc, RepairedAddresses, AuditedStore {
  readonly #claims: ClaimedPrefixes;
  readonly #managed: ManagedAddresses;
  readonly #parts: LedgerParts;
  readonly #repair: IPAddressRepair;

  constructor(ports: IPAddressesStorePorts) {
    const parts = ledgerParts(ports, {
      kind: "ipaddress",
      holds: (key) => this.store.storage.objectGet(key) !== undefined,
      otherStore: { isReleasing: ({ address }) => services.isReleasing(address) },
    });
    const { ledger, topology, pokeRepair } = parts;
    const { clock, recorder, random, peers, definition, ipAddresses } = ports;
    const asked = { clock, recorder, ledger, topology, owner: (uid: string) => peers.owner(uid) };
    const services = new ReleasedByServices({ ...asked, storage: ipAddresses });
    const claims = new ClaimedPrefixes({ ledger, storage: ipAddresses });
    const managed = new ManagedAddresses({ clock, recorder, ledger, storage: ipAddresses, uuid: () => random.uuid() });
    const extension = new IPAddressExtension({ ...asked, definition, claims, managed, touched: pokeRepair });
    super(ports, extension);
    this.#parts = parts;
    this.#claims = claims;
    this.#managed = managed;
    this.#repair = new IPAddressRepair({
      ...asked,
      storage: ports.ledger,
      holderOf: (name) => (extension.needsRow(name) ? this.store.storage.objectGet(name)?.uid : undefined),
      internally: (work) => this.store.internally(work),
    });
    ledger.releases.rearm();
  }

  get ledger(): AddressLedger {
    return this.#parts.ledger;
  }

  async createMany(writes: IPAddressWrite[]): Promise<void> {
    await this.store.internally((turn) => {
      for (const write of writes) this.#managed.write(turn, write);
    });
  }

  async deleteMany(items: IPAddressDelete[]): Promise<void> {
    await this.store.internally((turn) => {
      for (const item of items) this.#managed.delete(turn, item);
    });
  }

  restoreMany(writes: IPAddressRestore[]): Promise<boolean[]> {
    return this.store.internally((turn) => writes.map((write) => this.#managed.write(turn, write, write)));
  }

  writersOf(addresses: string[]): Promise<(WrittenAddress | null)[]> {
    return Promise.resolve(addresses.map((address) => this.#managed.writerOf(address)));
  }

  pendingReleases(asked: AskedAddress[]): Promise<boolean[]> {
    return this.ledger.pendingReleases(asked);
  }

  makeHeld(items: Pick<HeldAddress, "address" | "object">[]): Promise<WholeResult[]> {
    return this.#repair.makeHeld(items);
  }

  claimPrefixes(epoch: number, prefixes: string[], page: SeedPageRequest): Promise<SeedPage> {
    return this.store.internally(() => this.#claims.claim(epoch, prefixes, page, (key) => this.store.storage.objectScan(key, "")));
  }

  auditAll(): Promise<void> {
    void this.ledger.auditAll();
    return Promise.resolve();
  }

  override async maintain(): Promise<void> {
    await this.ledger.releases.drain();
    await this.ledger.audit();
  }

  /** The object's alarm went off. Never rejects. */
  alarm(): Promise<void> {
    this.#parts.alarm.rang();
    return this.ledger.releases.drain();
  }
}
