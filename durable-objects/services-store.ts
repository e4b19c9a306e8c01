/** The services store: creating a Service and taking its ClusterIPs is one operation (DESIGN §5). */
import { AllocationMetrics } from "../src/addresses/alloc/allocation-metrics";
import { RPC_TIMEOUT_MS } from "../src/core/base/limits";
import { withTimeout } from "../src/core/base/timeout";
import { NodePorts } from "../src/addresses/clusterip/node-ports";
import { Pairing } from "../src/addresses/clusterip/pairing";
import { isHeldByStored } from "../src/addresses/clusterip/address-plan";
import { ServiceExtension, type ServiceSupply } from "../src/addresses/clusterip/service-extension";
import { ServiceRepair } from "../src/addresses/clusterip/service-repair";
import { DefaultService } from "../src/addresses/clusterip/default-service";
import type { AuditedStore, GiveUpResult, HeldAddress, RepairedServices, WholeResult, WrittenAddress } from "../src/addresses/rpc/repair";
import type { CidrAllocations, ServicesStoreRpc } from "../src/api/rpc/store";
import { observed } from "../src/api/store/observed";
import { directoryKey } from "../src/tenancy/directory-keys";
import type { Env } from "./env";
import { type LedgerParts, ledgerParts } from "./ledger-parts";
import { coordinator, ipAddressesStore, owner } from "./peers";
import { ALLOCATION_COUNTS_SCHEMA, sqlAllocationCountStorage } from "./sql/allocation-counts-sql";
import { FREE_COUNTS_SCHEMA } from "./sql/free-counts-sql";
import { LEDGER_SCHEMA } from "./sql/ledger-sql";
import { NODE_PORTS_SCHEMA, sqlNodePortStorage } from "./sql/node-ports-sql";
import { openStore, repairPoke, STORE_MIGRATIONS, StoreObject, type StoreSetting } from "./store-object";

export const SERVICES_MIGRATIONS = [
  ...STORE_MIGRATIONS,
  { id: 2, sql: LEDGER_SCHEMA },
  { id: 3, sql: NODE_PORTS_SCHEMA },
  { id: 4, sql: FREE_COUNTS_SCHEMA },
  { id: 5, sql: ALLOCATION_COUNTS_SCHEMA },
];

/** How long the first request of a new cluster waits for the default ServiceCIDR to give out addresses. */
const BOOTSTRAP_WAIT_MS = 10_000;
/** The mark that the directory of clusters has had this one. */
const ENTERED = "entered";

export class ServicesStore extends StoreObject<ServiceSupply> implements ServicesStoreRpc, RepairedServices, AuditedStore {
  readonly #setting: StoreSetting;
  readonly #extension: ServiceExtension;
  readonly #parts: LedgerParts;
  readonly #repair: ServiceRepair;
  readonly #metrics: AllocationMetrics;
  readonly #defaultService: DefaultService;
  #bootstrapping: Promise<void> | undefined;
  #recovered: Promise<void> | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, SERVICES_MIGRATIONS);
    const { cluster, clock, recorder } = setting;
    const metrics = new AllocationMetrics(sqlAllocationCountStorage(ctx.storage));
    const stored = (key: string): string | undefined => this.store.storage.objectGet(key)?.data;
    const parts = ledgerParts(ctx, env, setting, {
      kind: "service",
      holds: (key, address) => isHeldByStored(stored(key), address),
      services: { deleteAddresses: (items) => ipAddressesStore(env, cluster).deleteMany(items), metrics },
    });
    const pokeRepair = repairPoke(env, setting);
    const pairing = new Pairing({ clock, recorder, ipAddresses: () => ipAddressesStore(env, cluster) });
    const extension = new ServiceExtension({
      definition: setting.definition,
      families: setting.config.serviceFamilies,
      ledger: parts.ledger,
      storage: parts.storage,
      nodePorts: new NodePorts(sqlNodePortStorage(ctx.storage), setting.random),
      pairing,
      topology: parts.topology,
      metrics,
      head: () => this.store.revision,
      floor: () => this.store.floor,
      unpaired: pokeRepair,
    });
    const defaultService = new DefaultService(
      {
        clock,
        recorder,
        exists: (key) => this.store.get(key, "").ok,
        write: (request) => this.write(request),
        wakeAt: (time) => setting.alarm.by(time),
      },
      setting.config,
    );
    const followed = observed(extension, {
      committed: ({ key, type }) => defaultService.noteChange(key, type),
      turnCommitted: () => defaultService.turnCommitted(),
      turnLost: () => defaultService.turnLost(),
    });
    super(ctx, env, setting, followed);
    this.#setting = setting;
    this.#defaultService = defaultService;
    this.#extension = extension;
    this.#parts = parts;
    this.#metrics = metrics;
    this.#repair = new ServiceRepair({
      clock,
      recorder,
      ledger: parts.ledger,
      storage: parts.storage,
      pairing,
      topology: parts.topology,
      stored,
      internally: (work) => this.store.internally(work),
      owner: (uid) => owner(env, cluster, uid),
      ipAddresses: () => ipAddressesStore(env, cluster),
    });
    parts.ledger.releases.rearm();
    // Before the first commit nothing waits to be paired, and starting a cluster must not wake its Coordinator.
    if (this.store.revision > this.store.floor) this.#recovered = extension.recover(this.store.storage).then(pokeRepair);
  }

  ensureBootstrapped(): Promise<void> {
    this.#bootstrapping ??= this.#bootstrap().catch((error: unknown) => {
      this.#bootstrapping = undefined;
      throw error;
    });
    return this.#bootstrapping;
  }

  /** Kept before they are shown: the answer leaves when the write is durable. */
  async allocations(): Promise<CidrAllocations[]> {
    this.#keepCounters();
    return this.#metrics.values();
  }

  makeWhole(items: HeldAddress[]): Promise<WholeResult[]> {
    return this.#repair.makeWhole(items);
  }

  giveUp(items: WrittenAddress[]): Promise<GiveUpResult[]> {
    return this.#repair.giveUp(items);
  }

  auditAll(): Promise<void> {
    this.ctx.waitUntil(this.#parts.ledger.auditAll());
    return Promise.resolve();
  }

  override async maintain(): Promise<void> {
    this.#keepCounters();
    await this.#recovered;
    await this.#extension.maintain();
    await this.#defaultService.ensure();
  }

  override async alarm(): Promise<void> {
    await Promise.all([this.#parts.alarm(), this.#defaultService.ensure()]);
  }

  /** What no commit has kept: refused writes make none. */
  #keepCounters(): void {
    try {
      this.ctx.storage.transactionSync(() => this.#metrics.save());
    } catch (error) {
      this.#metrics.lost();
      this.#setting.recorder.log("warn", "counters of allocations could not be kept", { error: String(error) });
    }
  }

  /** First the directory, so that cron knows of the cluster whatever happens next; everything may be repeated. */
  async #bootstrap(): Promise<void> {
    const { cluster, clock } = this.#setting;
    await this.#enterInDirectory();
    const ready = coordinator(this.env, cluster).readyTopology(BOOTSTRAP_WAIT_MS);
    this.#parts.topology.adopt(await withTimeout(clock, 2 * BOOTSTRAP_WAIT_MS, ready));
    await this.#defaultService.ensure();
  }

  /** A cluster that was entered once does without the directory: nothing that clients are answered may depend on it (DESIGN §6). */
  async #enterInDirectory(): Promise<void> {
    const { cluster, clock, recorder } = this.#setting;
    const { storage } = this.#parts;
    const key = directoryKey(cluster);
    const enter = async (): Promise<void> => {
      if ((await this.env.DIRECTORY.get(key)) === null) await this.env.DIRECTORY.put(key, "{}");
    };
    try {
      await withTimeout(clock, RPC_TIMEOUT_MS, enter());
      if (storage.markGet(ENTERED) === 0) storage.markSet(ENTERED, 1);
    } catch (error) {
      if (storage.markGet(ENTERED) === 0) throw error;
      recorder.log("warn", "the directory of clusters did not answer", { error: String(error) });
    }
  }
}
