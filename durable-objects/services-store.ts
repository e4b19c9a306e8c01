/** The services store: creating a Service and taking its ClusterIPs is one operation (DESIGN §5). */
import { NodePorts } from "../src/clusterip/node-ports";
import { Pairing } from "../src/clusterip/pairing";
import { ServiceExtension, type ServiceSupply } from "../src/clusterip/service-extension";
import { defaultService } from "../src/clusterip/default-service";
import type { ServicesStoreRpc } from "../src/rpc/store";
import type { Env } from "./env";
import { type LedgerParts, ledgerParts } from "./ledger-parts";
import { coordinator, ipAddressesStore } from "./peers";
import { LEDGER_SCHEMA } from "./sql/ledger-sql";
import { NODE_PORTS_SCHEMA, sqlNodePortStorage } from "./sql/node-ports-sql";
import { openStore, STORE_MIGRATIONS, StoreObject, type StoreSetting } from "./store-object";

const MIGRATIONS = [...STORE_MIGRATIONS, { id: 2, sql: LEDGER_SCHEMA }, { id: 3, sql: NODE_PORTS_SCHEMA }];

/** How long the first request of a new cluster waits for the default ServiceCIDR to give out addresses. */
const BOOTSTRAP_WAIT_MS = 10_000;

export class ServicesStore extends StoreObject<ServiceSupply> implements ServicesStoreRpc {
  readonly #setting: StoreSetting;
  readonly #extension: ServiceExtension;
  readonly #parts: LedgerParts;
  #bootstrapping: Promise<void> | undefined;
  #recovered: Promise<void> | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    const setting = openStore(ctx, env, MIGRATIONS);
    const { cluster, clock, recorder } = setting;
    const parts = ledgerParts(ctx, env, setting, "service", (items) => ipAddressesStore(env, cluster).deleteMany(items));
    const pairing = new Pairing({ clock, recorder, ipAddresses: () => ipAddressesStore(env, cluster) });
    const extension = new ServiceExtension({
      definition: setting.definition,
      families: setting.config.serviceFamilies,
      ledger: parts.ledger,
      storage: parts.storage,
      nodePorts: new NodePorts(sqlNodePortStorage(ctx.storage), setting.random),
      pairing,
      topology: parts.topology,
      head: () => this.store.revision,
    });
    super(ctx, env, setting, extension);
    this.#setting = setting;
    this.#extension = extension;
    this.#parts = parts;
    parts.ledger.releases.rearm();
    // Before the first commit nothing waits to be paired, and starting a cluster must not wake its Coordinator.
    if (this.store.revision > this.store.floor) this.#recovered = extension.recover(this.store.storage);
  }

  ensureBootstrapped(): Promise<void> {
    this.#bootstrapping ??= this.#bootstrap().catch((error: unknown) => {
      this.#bootstrapping = undefined;
      throw error;
    });
    return this.#bootstrapping;
  }

  override async maintain(): Promise<void> {
    await this.#recovered;
    await this.#extension.maintain();
    await this.#ensureDefaultService();
  }

  override async alarm(): Promise<void> {
    await this.#parts.ledger.releases.drain();
  }

  /** First the directory, so that cron knows of the cluster whatever happens next; everything may be repeated. */
  async #bootstrap(): Promise<void> {
    const { cluster } = this.#setting;
    const key = `cluster/${cluster}`;
    if ((await this.env.DIRECTORY.get(key)) === null) await this.env.DIRECTORY.put(key, "{}");
    this.#parts.topology.adopt(await coordinator(this.env, cluster).readyTopology(BOOTSTRAP_WAIT_MS));
    await this.#ensureDefaultService();
  }

  async #ensureDefaultService(): Promise<void> {
    const request = defaultService(this.#setting.config);
    if (this.store.get({ namespace: request.namespace, name: "kubernetes" }, "").ok) return;
    const result = await this.write(request);
    if (!result.ok && result.status.reason !== "AlreadyExists") {
      this.#setting.recorder.log("error", "the Service default/kubernetes could not be created", { message: result.status.message ?? "" });
    }
  }
}
