/** The ipaddresses store: the API view of who holds which address (DESIGN §2). */
import { IPAddressExtension, type IPAddressSupply } from "../src/addresses/clusterip/ip-address-extension";
import type { IPAddressDelete, IPAddressesRpc, IPAddressWrite, SeedPage, SeedPageRequest } from "../src/addresses/rpc/ip-addresses";
import { IPAddressRepair } from "../src/addresses/clusterip/ip-address-repair";
import type {
  AuditedStore,
  HeldAddress,
  IPAddressRestore,
  RepairedAddresses,
  WholeResult,
  WrittenAddress,
} from "../src/addresses/rpc/repair";
import type { Env } from "./env";
import { type LedgerParts, ledgerParts } from "./ledger-parts";
import { owner } from "./peers";
import { IP_ADDRESSES_SCHEMA, sqlIPAddressStorage } from "./sql/ip-addresses-sql";
import { LEDGER_SCHEMA } from "./sql/ledger-sql";
import { openStore, repairPoke, STORE_MIGRATIONS, StoreObject } from "./store-object";

export const IP_ADDRESSES_MIGRATIONS = [...STORE_MIGRATIONS, { id: 2, sql: LEDGER_SCHEMA + IP_ADDRESSES_SCHEMA }];

export class IPAddressesStore extends StoreObject<IPAddressSupply> implements IPAddressesRpc, RepairedAddresses, AuditedStore {
  readonly #extension: IPAddressExtension;
  readonly #parts: LedgerParts;
  readonly #repair: IPAddressRepair;

  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, IP_ADDRESSES_MIGRATIONS);
    const parts = ledgerParts(ctx, env, setting, {
      kind: "ipaddress",
      holds: (key) => this.store.storage.objectGet(key) !== undefined,
    });
    const { ledger, topology } = parts;
    const { clock, recorder } = setting;
    const asked = { clock, recorder, ledger, topology, owner: (uid: string) => owner(env, setting.cluster, uid) };
    const extension = new IPAddressExtension({
      ...asked,
      definition: setting.definition,
      storage: sqlIPAddressStorage(ctx.storage),
      uuid: () => setting.random.uuid(),
      touched: repairPoke(env, setting),
    });
    super(ctx, env, setting, extension);
    this.#parts = parts;
    this.#extension = extension;
    this.#repair = new IPAddressRepair({
      ...asked,
      storage: parts.storage,
      holderOf: (name) => (extension.needsRow(name) ? this.store.storage.objectGet(name)?.uid : undefined),
      internally: (work) => this.store.internally(work),
    });
    ledger.releases.rearm();
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

  makeHeld(items: Pick<HeldAddress, "address" | "object">[]): Promise<WholeResult[]> {
    return this.#repair.makeHeld(items);
  }

  claimPrefixes(epoch: number, prefixes: string[], page: SeedPageRequest): Promise<SeedPage> {
    return this.store.internally(() => this.#extension.claim(epoch, prefixes, page, (key) => this.store.storage.objectScan(key, "")));
  }

  auditAll(): Promise<void> {
    this.ctx.waitUntil(this.#parts.ledger.auditAll());
    return Promise.resolve();
  }

  override async maintain(): Promise<void> {
    await this.#parts.ledger.releases.drain();
    await this.#parts.ledger.audit();
  }

  override alarm(): Promise<void> {
    return this.#parts.alarm();
  }
}
