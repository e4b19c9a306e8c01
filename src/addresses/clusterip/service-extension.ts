/**
 * What makes a StoreEngine the services store: creating a Service and taking its ClusterIPs is one operation.
 *
 *   turn 1  plan: which addresses the change needs; the name is reserved in memory
 *   away    owners give the addresses (one call per owner for all operations of the turn); IPAddress objects are sent off
 *   turn 2  everything is checked again, node ports are chosen, then Service, history and all its rows are committed together
 *   answer  when the IPAddress objects are stored too
 *
 * On disk at a crash: before turn 2 at most rows at owners and IPAddress objects that nobody refers to (the ledger's audit releases
 * them); after turn 2 the Service and its allocation rows (IPAddress objects are sent again from the mark `paired`).
 */
import type { AllocationMetrics } from "../metrics/allocation-metrics";
import type { Service } from "../../api/meta/kubernetes";
import { invalid, serviceUnavailable, type Status, tooManyRequests } from "../../api/meta/status";
import { parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { formatPrefix } from "../../core/net/prefix";
import { isUsableIn } from "../../core/net/usable";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { IPAddressWrite } from "../rpc/ip-addresses";
import type { Admission, CommittedChange, Operation, ProposedChange, StoreExtension } from "../../api/store/extension";
import type { ChangeType, StoredObject, StoreStorage } from "../../api/store/store-storage";
import { storedPrefix } from "../topology/stored-prefix";
import type { AddressLedger } from "./address-ledger";
import type { SupplyRefusal, TakenAddress } from "./wanted-address";
import { nodePortRefused, takeRefused } from "./errors";
import type { LedgerStorage } from "./ledger-storage";
import { applyNodePorts, planNodePorts } from "./node-port-plan";
import type { NodePorts } from "./node-ports";
import type { Pairing } from "./pairing";
import { type AddressPlan, applyTaken, dryRunAddress, heldAddresses, planClusterIPs, type Take } from "./address-plan";
import type { TopologySource } from "./topology-source";

/** Addresses that an operation took, by their place in clusterIPs. */
export interface ServiceSupply {
  taken: { index: number; address: TakenAddress }[];
  writes: IPAddressWrite[];
  /** whether the IPAddress objects are known to be stored */
  written: Promise<boolean>;
}

export interface ServicePorts {
  definition: ResourceDefinition;
  families: readonly Family[];
  ledger: AddressLedger;
  storage: LedgerStorage;
  nodePorts: NodePorts;
  pairing: Pairing;
  topology: TopologySource;
  /** counts what the ledger takes; kept with the store's commits */
  metrics?: Pick<AllocationMetrics, "save" | "lost">;
  /** the store's newest revision */
  head(): number;
  /** changes up to it are no longer in the history */
  floor(): number;
  /** a Service holds an address that no operation took for it: repair makes it whole */
  unpaired?(): void;
}

const PAIRED = "paired";
/** History entries looked at together when pairing is made up for after a restart. */
const CATCH_UP_ENTRIES = 1_000;

export class ServiceExtension implements StoreExtension<ServiceSupply> {
  readonly #settling = new WeakMap<Operation<ServiceSupply>, Promise<unknown>>();
  /** dry runs that have the Coordinator's newest topology */
  readonly #informed = new WeakSet<Operation<ServiceSupply>>();
  /** the turn under way stored a Service with an address that nobody took for it */
  #unpaired = false;

  constructor(private readonly ports: ServicePorts) {}

  admit(change: ProposedChange, operation: Operation<ServiceSupply>): Admission {
    const after = change.after as Service | undefined;
    const plan = planClusterIPs({ after, before: change.before as Service | undefined }, this.ports.families);
    if (!plan.ok) return { kind: "refuse", status: invalid(this.ports.definition, after?.metadata?.name ?? "", plan.errors) };
    const { nodePorts } = this.ports;
    const ports = planNodePorts({ after, before: change.before as Service | undefined });
    // Before addresses are asked for, so that a request which cannot succeed takes none; again in the turn that commits.
    const choice = ports.take.length === 0 ? undefined : change.dryRun ? nodePorts.chooseForDryRun(ports) : nodePorts.choose(ports);
    if (after && choice?.ok === false) return { kind: "refuse", status: nodePortRefused(after, choice.take, choice.reason) };
    const admission = change.dryRun ? this.#dryRun(after, plan.take, operation) : this.#admitAddresses(after, plan, operation);
    // Only now: a number that is written before the turn is left would come back as one that the client named.
    if (after && choice?.ok && admission.kind === "go") applyNodePorts(after, ports.take, choice.numbers);
    return admission;
  }

  #admitAddresses(after: Service | undefined, plan: AddressPlan & { ok: true }, operation: Operation<ServiceSupply>): Admission {
    if (!this.ports.ledger.releases.hasRoom(plan.release.length + plan.take.length)) {
      return { kind: "refuse", status: tooManyRequests("too many addresses wait for their release", 5) };
    }
    const supply = operation.supply;
    if (supply && !matches(supply, plan.take)) {
      // The object changed while its addresses were fetched: they fit the old plan only.
      this.abandon(operation);
      operation.supply = undefined;
    }
    if (plan.take.length === 0) return { kind: "go" };
    if (!operation.supply && !this.ports.pairing.hasRoom()) {
      return { kind: "refuse", status: tooManyRequests("too many addresses wait for their IPAddress objects", 5) };
    }
    if (!after || !operation.supply) return { kind: "wait", supply: () => this.#supply(after, plan.take, operation) };
    applyTaken(
      after,
      operation.supply.taken.map(({ index, address }) => ({ index, address: address.address })),
    );
    return { kind: "go" };
  }

  committed(change: CommittedChange, operation: Operation<ServiceSupply> | undefined): void {
    const { ledger, nodePorts, pairing } = this.ports;
    nodePorts.committed(change.key, change.before as Service | undefined, change.after as Service | undefined);
    const held = new Set(change.after ? heldAddresses(change.after as Service) : []);
    const heldBefore = change.before ? heldAddresses(change.before as Service) : [];
    const kept = heldBefore.filter((address) => held.has(address)).length;
    this.#unpaired ||= held.size - kept > (operation?.supply?.taken.length ?? 0);
    if (change.before) {
      const dropped = heldBefore.filter((address) => !held.has(address));
      for (const address of dropped) ledger.drop(change.key, address);
      if (dropped.length > 0 && operation) this.#settling.set(operation, ledger.releasesOfThisTurn());
    }
    const supply = operation?.supply;
    if (!operation || !supply) return;
    for (const { address } of supply.taken) ledger.hold(change.key, address);
    pairing.committed(change.revision, supply.writes, supply.written);
    this.#settling.set(operation, supply.written);
  }

  abandon(operation: Operation<ServiceSupply>): void {
    const supply = operation.supply;
    if (!supply) return;
    const taken = supply.taken.map(({ address }) => address);
    this.ports.ledger.giveBack(taken);
    this.ports.ledger.ended(taken);
    this.#settling.set(operation, this.ports.ledger.releasesOfThisTurn());
  }

  sealTurn(): void {
    this.ports.topology.counts.save();
    this.ports.metrics?.save();
    this.ports.storage.numberSet(PAIRED, this.ports.pairing.pairedThrough(this.ports.head()));
  }

  turnCommitted(): void {
    this.ports.ledger.turnCommitted();
    if (this.#unpaired) this.ports.unpaired?.();
    this.#unpaired = false;
  }

  turnLost(): void {
    this.#unpaired = false;
    this.ports.metrics?.lost();
    this.ports.pairing.lostAfter(this.ports.head());
    this.ports.ledger.turnLost();
  }

  async settled(operation: Operation<ServiceSupply>): Promise<void> {
    await this.#settling.get(operation);
  }

  ended(operation: Operation<ServiceSupply>): void {
    if (operation.supply) this.ports.ledger.ended(operation.supply.taken.map(({ address }) => address));
  }

  /** After a start: what a crash may have left undone, IPAddress objects not sent and rows at owners that nobody knows. Never rejects. */
  async recover(stored: Pick<StoreStorage, "historySince" | "objectScan">): Promise<void> {
    const { ledger, storage } = this.ports;
    const mark = storage.numberGet(PAIRED);
    // The trimmed history is gone. Every held address is sent again; a repeat changes nothing.
    if (mark < this.ports.floor()) this.#pairObjects(stored.objectScan("", ""));
    else this.#pairHistory(stored, mark);
    await ledger.audit();
    await ledger.releases.drain();
  }

  /** For cron: tries again whatever failed, and looks for what was lost. Never rejects. */
  async maintain(): Promise<void> {
    const { ledger, pairing } = this.ports;
    await pairing.retry();
    await ledger.releases.drain();
    await ledger.audit();
  }

  #pairHistory(history: Pick<StoreStorage, "historySince">, mark: number): void {
    let after = mark;
    for (;;) {
      const entries = history.historySince(after, CATCH_UP_ENTRIES);
      const last = entries.at(-1);
      if (!last) return;
      this.#pairAgain(entries);
      after = last.revision;
    }
  }

  #pairObjects(objects: Iterable<StoredObject>): void {
    let page: StoredObject[] = [];
    for (const object of objects) {
      page.push(object);
      if (page.length < CATCH_UP_ENTRIES) continue;
      this.#pairAgain(page);
      page = [];
    }
    this.#pairAgain(page);
  }

  /** Until it is written the mark stays before the oldest of them. */
  #pairAgain(entries: readonly { type?: ChangeType; revision: number; key: string; data: string }[]): void {
    const { pairing } = this.ports;
    const writes = entries.flatMap((entry) => this.#writesOf(entry));
    const oldest = entries.reduce((least, { revision }) => Math.min(least, revision), Infinity);
    if (writes.length > 0) pairing.committed(oldest, writes, pairing.write(writes));
  }

  /** The IPAddress writes for what a change of the history committed and the Service still holds. */
  #writesOf(entry: { type?: ChangeType; key: string; data: string }): IPAddressWrite[] {
    if (entry.type === "DELETED") return [];
    const service = JSON.parse(entry.data) as Service;
    return heldAddresses(service).flatMap((address) => {
      const allocation = this.ports.storage.allocationGet(address);
      if (allocation?.key !== entry.key) return [];
      return [ipAddressWrite(service, { family: address.includes(":") ? "IPv6" : "IPv4", ...allocation })];
    });
  }

  /** Takes nothing: a dynamic address is shown as a range's network address, a static one has to be usable in a range. */
  #dryRun(after: Service | undefined, take: readonly Take[], operation: Operation<ServiceSupply>): Admission {
    if (!after || take.length === 0) return { kind: "go" };
    const { cached } = this.ports.topology;
    if (!cached || !this.#informed.has(operation)) return { kind: "wait", supply: () => this.#inform(operation) };
    const shown: { index: number; address: string }[] = [];
    for (const want of take) {
      const ranges = cached.ranges.map(({ prefix }) => storedPrefix(prefix)).filter(({ family }) => family === want.family);
      const [first] = ranges;
      if (!first) return { kind: "refuse", status: takeRefused(after, want, { reason: "notReady" }) };
      const range = formatPrefix(first);
      const parsed = parseAddress(want.address);
      if (parsed.ok && !ranges.some((prefix) => isUsableIn(prefix, parsed.value.family, parsed.value.value))) {
        return { kind: "refuse", status: takeRefused(after, want, { reason: "outsideRange", range }) };
      }
      shown.push({ index: want.index, address: want.address || dryRunAddress(range) });
    }
    applyTaken(after, shown);
    return { kind: "go" };
  }

  /** What a dry run answers is of the Coordinator's epoch, as any refusal is (rule 17). */
  async #inform(operation: Operation<ServiceSupply>): Promise<Status | undefined> {
    try {
      await this.ports.topology.refresh();
      this.#informed.add(operation);
      return undefined;
    } catch {
      return serviceUnavailable("the Coordinator did not answer in time, please try again", 1);
    }
  }

  async #supply(after: Service | undefined, take: readonly Take[], operation: Operation<ServiceSupply>): Promise<Status | undefined> {
    const { ledger, pairing } = this.ports;
    if (!after) return undefined;
    const { namespace = "", name = "", uid = "" } = after.metadata ?? {};
    const holder = { kind: "service" as const, namespace, name, uid };
    const wanted = take.map(({ family, address }) => ({ family, address, holder }));
    const { taken, results } = await ledger.take(wanted, operation.deadline);
    const failed = results.findIndex((result) => !result.ok);
    if (failed >= 0) {
      operation.supply = { taken: taken.map((address) => ({ index: 0, address })), writes: [], written: Promise.resolve(true) };
      const result = results[failed];
      const want = take[failed];
      return result && !result.ok && want ? this.#refusal(after, want, result.reason) : undefined;
    }
    const writes = taken.map((address) => ipAddressWrite(after, address));
    operation.supply = {
      taken: taken.map((address, i) => ({ index: take[i]?.index ?? i, address })),
      writes,
      written: pairing.write(writes),
    };
    return undefined;
  }

  #refusal(after: Service, want: Take, reason: SupplyRefusal): Status {
    switch (reason) {
      case "unavailable":
        return serviceUnavailable("no address could be allocated in time, please try again", 1);
      case "taken":
        return takeRefused(after, want, { reason: "taken" });
      case "outOfRange":
        return takeRefused(after, want, { reason: "notAllocatable" });
      case "full":
        return takeRefused(after, want, { reason: "full" });
      case "noRange":
        return takeRefused(after, want, { reason: "noRange", family: want.family });
    }
  }
}

function matches(supply: ServiceSupply, take: readonly Take[]): boolean {
  return (
    supply.taken.length === take.length &&
    take.every(({ index, family, address }) =>
      supply.taken.some(
        (held) => held.index === index && held.address.family === family && (address === "" || address === held.address.address),
      ),
    )
  );
}

function ipAddressWrite(service: Service, { family, address, token, gen }: TakenAddress): IPAddressWrite {
  return { address, family, token, gen, namespace: service.metadata?.namespace ?? "", name: service.metadata?.name ?? "" };
}
