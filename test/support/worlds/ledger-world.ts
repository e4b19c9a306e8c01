/** The peers of an AddressLedger in virtual time, each scripted by the test. */
import type { Recorder } from "../../../src/core/base/ports";
import type { LedgerPorts } from "../../../src/addresses/ledger/address-ledger";
import type { SupplyPorts } from "../../../src/addresses/ledger/address-supply";
import { PendingReleases } from "../../../src/addresses/ledger/pending-releases";
import { TopologySource } from "../../../src/addresses/ledger/topology-source";
import type { Topology } from "../../../src/addresses/rpc/topology";
import type { IPAddressDelete } from "../../../src/addresses/rpc/ip-addresses";
import type {
  AllocateAnswer,
  AllocateItem,
  AllocateResult,
  ReleaseItem,
  ReleaseResult,
  ServiceCIDRRpc,
} from "../../../src/addresses/rpc/service-cidr";
import { MemoryFreeCountStorage, MemoryLedgerStorage } from "../memory/ledger-storage";
import { seededRandom } from "../sim/platform/seeded-random";
import { SimScheduler } from "../sim/platform/scheduler";

const NOTHING_FREE: AllocateAnswer["free"] = { IPv4: { dynamic: 0, static: 0 }, IPv6: { dynamic: 0, static: 0 } };

export const SOME_FREE: AllocateAnswer["free"] = { IPv4: { dynamic: 100, static: 16 }, IPv6: { dynamic: 100, static: 16 } };

/** A topology in which each owner has one range: `{ a: "10.0.0.0/24" }`. */
export function aTopology(epoch: number, owners: Record<string, string>): Topology {
  return {
    epoch,
    claims: Object.entries(owners).map(([ownerUid, prefix]) => ({ prefix, ownerUid })),
    ranges: Object.entries(owners).map(([name, prefix]) => ({ prefix, name })),
    owners: Object.keys(owners).map((uid) => ({ uid, epoch })),
    free: [],
  };
}

export class LedgerWorld {
  readonly scheduler = new SimScheduler();
  readonly clock = this.scheduler.clock();
  readonly storage = new MemoryLedgerStorage();
  readonly source: TopologySource;
  countedTopology = async (): Promise<Topology> => {
    const topology = await this.coordinator();
    const owners = [...new Set(topology.claims.map(({ ownerUid }) => ownerUid))];
    return { ...topology, free: owners.map((ownerUid) => ({ ownerUid, ...this.free(ownerUid) })) };
  };
  readonly logged: string[] = [];
  /** calls in order, as `method owner addresses-or-tokens` */
  readonly calls: string[] = [];
  readonly allocated: { owner: string; items: AllocateItem[] }[] = [];
  readonly alarms: number[] = [];
  /** the Coordinator's answer */
  topology: Topology = aTopology(1, { a: "10.0.0.0/24" });
  coordinator: () => Promise<Topology> = () => Promise.resolve(structuredClone(this.topology));
  allocate: (owner: string, item: AllocateItem) => AllocateResult | Promise<AllocateResult> = () => ({ ok: false, reason: "full" });
  release: (owner: string, item: ReleaseItem) => ReleaseResult | Promise<ReleaseResult> = () => "released";
  /** an owner's free addresses: all, until it has refused with "full" */
  free: (owner: string) => AllocateAnswer["free"] = (owner) => structuredClone(this.#saidFull.has(owner) ? NOTHING_FREE : SOME_FREE);
  readonly #saidFull = new Set<string>();
  seed: ServiceCIDRRpc["seed"] = () => Promise.resolve("ok");
  /** whether the store's object at `key` holds the address */
  holds: (key: string, address: string) => boolean = () => true;
  rowsSince: (owner: string, after: number, limit: number) => ReturnType<ServiceCIDRRpc["rowsSince"]> = () =>
    Promise.resolve({ epoch: 1, rows: [] });
  /** what the other store answers */
  isReleasing: (address: string) => Promise<boolean> = () => this.clock.nextTurn().then(() => false);
  deleteAddresses: (items: IPAddressDelete[]) => Promise<void> = () => Promise.resolve();

  /** `counts`: saved counts of the owners from a former life of the store */
  constructor(counts = new MemoryFreeCountStorage()) {
    const coordinator = {
      topology: () => {
        this.calls.push("topology");
        return this.coordinator();
      },
      countedTopology: () => {
        this.calls.push("countedTopology");
        return this.countedTopology();
      },
    };
    this.source = new TopologySource(this.clock, () => coordinator, counts);
  }

  get ports(): LedgerPorts {
    const recorder: Recorder = { log: (level, event) => void this.logged.push(`${level} ${event}`) };
    return {
      clock: this.clock,
      random: seededRandom(1),
      recorder,
      storage: this.storage,
      topology: this.source,
      owner: (uid) => this.#owner(uid),
      deleteAddresses: (items) => {
        this.calls.push(`deleteMany ${items.map(({ token }) => token).join()}`);
        return this.deleteAddresses(items);
      },
      otherStore: {
        isReleasing: ({ address }) => {
          this.calls.push(`isReleasing ${address}`);
          return this.isReleasing(address);
        },
      },
      holds: (key, address) => this.holds(key, address),
      wakeAt: (time) => void this.alarms.push(time - this.scheduler.now),
    };
  }

  get supplyPorts(): SupplyPorts {
    return { ...this.ports, releases: new PendingReleases(this.ports) };
  }

  countOf(prefix: string): number {
    return this.calls.filter((call) => call.startsWith(prefix)).length;
  }

  #owner(uid: string): ServiceCIDRRpc {
    const never = (): never => {
      throw new Error("a store does not call this");
    };
    return {
      allocate: async (items) => {
        this.calls.push(`allocate ${uid}`);
        this.allocated.push({ owner: uid, items });
        const { epoch } = this.topology;
        const results = await Promise.all(items.map(async (item) => this.allocate(uid, item)));
        for (const result of results) {
          if (result.ok) this.#saidFull.delete(uid);
          else if (result.reason === "full") this.#saidFull.add(uid);
        }
        return { epoch, results, free: this.free(uid) };
      },
      release: async (items) => {
        this.calls.push(`release ${uid} ${items.map(({ token }) => token).join()}`);
        return Promise.all(items.map(async (item) => this.release(uid, item)));
      },
      seed: (epoch, items) => {
        this.calls.push(`seed ${uid} ${items.map(({ address }) => address).join()}`);
        return this.seed(epoch, items);
      },
      rowsSince: (after, limit) => {
        this.calls.push(`rowsSince ${uid} ${after}`);
        return this.rowsSince(uid, after, limit);
      },
      configure: never,
      countTaken: never,
      free: never,
      partition: never,
      copyOut: never,
      receive: never,
    };
  }
}
