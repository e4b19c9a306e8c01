/** The ipaddresses store: the API's view of who holds which address. */
import { ClusterStore } from "../../api/store/cluster-store";
import type { IPAddressDelete, IPAddressesRpc, IPAddressWrite, SeedPage, SeedPageRequest } from "../rpc/ip-addresses";
import type { AuditedStore, HeldAddress, IPAddressRestore, RepairedAddresses, WholeResult, WrittenAddress } from "../rpc/repair";
import type { AddressLedger } from "./address-ledger";
import { IPAddressExtension, type IPAddressStorage, type IPAddressSupply } from "./ip-address-extension";
import { IPAddressRepair } from "./ip-address-repair";
import { ReleasedByServices } from "./released-by-services";
import { type LedgerParts, ledgerParts, type LedgerStorePorts } from "./ledger-store";
import type { AskedAddress } from "./wanted-address";

export interface IPAddressesStorePorts extends LedgerStorePorts {
  /** in the same database as `storage` */
  ipAddresses: IPAddressStorage;
}

export class IPAddressesStore extends ClusterStore<IPAddressSupply> implements IPAddressesRpc, RepairedAddresses, AuditedStore {
  readonly #extension: IPAddressExtension;
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
    const extension = new IPAddressExtension({
      ...asked,
      definition,
      storage: ipAddresses,
      uuid: () => random.uuid(),
      touched: pokeRepair,
    });
    super(ports, extension);
    this.#parts = parts;
    this.#extension = extension;
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
      for (const write of writes) this.#extension.writeManaged(turn, write);
    });
  }

  async deleteMany(items: IPAddressDelete[]): Promise<void> {
    await this.store.internally((turn) => {
      for (const item of items) this.#extension.deleteManaged(turn, item);
    });
  }

  restoreMany(writes: IPAddressRestore[]): Promise<boolean[]> {
    return this.store.internally((turn) => writes.map((write) => this.#extension.writeManaged(turn, write, write)));
  }

  writersOf(addresses: string[]): Promise<(WrittenAddress | null)[]> {
    return Promise.resolve(addresses.map((address) => this.#extension.writerOf(address)));
  }

  pendingReleases(asked: AskedAddress[]): Promise<boolean[]> {
    return this.ledger.pendingReleases(asked);
  }

  makeHeld(items: Pick<HeldAddress, "address" | "object">[]): Promise<WholeResult[]> {
    return this.#repair.makeHeld(items);
  }

  claimPrefixes(epoch: number, prefixes: string[], page: SeedPageRequest): Promise<SeedPage> {
    return this.store.internally(() => this.#extension.claim(epoch, prefixes, page, (key) => this.store.storage.objectScan(key, "")));
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
