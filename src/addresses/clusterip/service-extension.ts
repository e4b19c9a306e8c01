/**
 * What makes a StoreEngine the services store: creating a Service and taking its ClusterIPs is one operation.
 *
 *   turn 1  plan: which addresses the change needs; the name is reserved in memory
 *   away    owners give the addresses (one call per owner for all operations of the turn); IPAddress objects are sent off
 *   turn 2  everything is checked again, node ports are chosen, then Service, history and all its rows are committed together
 *   answer  when the IPAddress objects are stored too
 *
 * On disk at a crash before turn 2: at most rows at owners and IPAddress objects that nobody refers to; the ledger's audit releases them. After turn
 * 2: the Service and its allocation rows; PairingCatchUp sends the IPAddress objects again.
 */
import type { CountKeeper } from "../ledger/count-keeper";
import type { NodePortMetrics } from "../metrics/node-port-metrics";
import type { Service } from "../../api/meta/kubernetes";
import { invalid, serviceUnavailable, type Status, tooManyRequests } from "../../api/meta/status";
import type { Band } from "../../core/net/band";
import type { Family } from "../../core/net/family";
import type { ResourceDefinition } from "../../api/registry/resource";
import type { Admission, CommittedChange, Operation, ProposedChange, StoreExtension } from "../../api/store/state/extension";
import type { StoreStorage } from "../../api/store/state/store-storage";
import type { AddressLedger } from "../ledger/address-ledger";
import { isDefaultService } from "../ledger/address-supply";
import { type AddressPlan, applyTaken, heldAddresses, planClusterIPs } from "./address-plan";
import { nodePortRefused } from "./errors";
import type { LedgerStorage } from "../ledger/ledger-storage";
import { applyNodePorts, type NodePortTake, planNodePorts } from "../node-ports/node-port-plan";
import type { NodePortChoice, NodePorts } from "../node-ports/node-ports";
import type { Pairing } from "./pairing";
import { PairingCatchUp } from "./pairing-catch-up";
import type { NamespaceLabels } from "./namespace-labels";
import { keepsNodePorts, type NodePortPlaces, nodePortPlaces } from "../topology/tenant-ports";
import { isZoned, refusalOf, type TenantLabels } from "../topology/tenants";
import { ServiceDryRun } from "./service-dry-run";
import { fitsPlan, ServiceSupplier, type ServiceSupply } from "./service-supply";
import type { TopologySource } from "../ledger/topology-source";

export interface ServicePorts {
  definition: ResourceDefinition;
  families(): readonly Family[];
  ledger: AddressLedger;
  storage: LedgerStorage;
  nodePorts: NodePorts;
  pairing: Pairing;
  topology: TopologySource;
  nodePortMetrics?: Pick<NodePortMetrics, "allocated" | "failed">;
  /** of namespaces, where ranges are kept for the Services of some of them */
  labels?: Pick<NamespaceLabels, "known" | "labelsOf">;
  /** of addresses and node ports */
  counts?: Pick<CountKeeper, "sealTurn" | "turnLost">;
  /** the store's newest revision */
  head(): number;
  /** changes up to it are no longer in the history */
  floor(): number;
  /** a Service holds an address that no operation took for it: repair makes it whole */
  unpaired?(): void;
}

const NO_TENANCY: { places?: NodePortPlaces } = {};

export class ServiceExtension implements StoreExtension<ServiceSupply> {
  readonly #settling = new WeakMap<Operation<ServiceSupply>, Promise<unknown>>();
  /** of the turn under way: the node ports that an operation takes, each by its band */
  readonly #nodePorts = new WeakMap<Operation<ServiceSupply>, Band[]>();
  /** of operations for which it was asked who may have which node ports: the labels of the namespace */
  readonly #informed = new WeakMap<object, TenantLabels>();
  /** operations whose refusal was looked at once more */
  readonly #confirmed = new WeakSet();
  readonly #supplier: ServiceSupplier;
  readonly #dryRun: ServiceDryRun;
  readonly #catchUp: PairingCatchUp;
  /** the turn under way stored a Service with an address that nobody took for it */
  #unpaired = false;

  constructor(private readonly ports: ServicePorts) {
    this.#supplier = new ServiceSupplier(ports);
    this.#dryRun = new ServiceDryRun(ports.topology, ports.labels);
    this.#catchUp = new PairingCatchUp(ports);
  }

  admit(change: ProposedChange, operation: Operation<ServiceSupply>): Admission {
    const after = change.after as Service | undefined;
    const plan = planClusterIPs({ after, before: change.before as Service | undefined }, this.ports.families());
    if (!plan.ok) return { kind: "refuse", status: invalid(this.ports.definition, after?.metadata?.name ?? "", plan.errors) };
    const { nodePorts } = this.ports;
    const ports = planNodePorts({ after, before: change.before as Service | undefined });
    const tenancy = after && ports.take.length > 0 ? this.#portTenancy(after, plan.take.length > 0, operation) : NO_TENANCY;
    if ("supply" in tenancy) return { kind: "wait", supply: tenancy.supply };
    const { places } = tenancy;
    // Before addresses are asked for, so that a request which cannot succeed takes none; again in the turn that commits.
    const choose = (): NodePortChoice => (change.dryRun ? nodePorts.chooseForDryRun(ports, places) : nodePorts.choose(ports, places));
    const choice = ports.take.length === 0 ? undefined : choose();
    if (after && choice?.ok === false) {
      // Final only by what the Coordinator says now (rule 17).
      const isByPlaces = places !== undefined && (choice.reason === "kept" || choice.reason === "full");
      if (isByPlaces && !this.#confirmed.has(operation)) {
        this.#confirmed.add(operation);
        return { kind: "wait", supply: () => this.#inform(after, operation) };
      }
      if (!change.dryRun) this.ports.nodePortMetrics?.failed(bandOf(choice.take));
      return { kind: "refuse", status: nodePortRefused(after, choice.take, choice) };
    }
    const admission = change.dryRun ? this.#dryRun.admit(after, plan.take, operation) : this.#admitAddresses(after, plan, operation);
    // Only now: a number that is written before the turn is left would come back as one that the client named.
    if (after && choice?.ok && admission.kind === "go") {
      applyNodePorts(after, ports.take, choice.numbers);
      this.#nodePorts.set(operation, ports.take.map(bandOf));
    }
    // The plan has settled families at least.
    return admission.kind === "go" ? { kind: "go", completed: true } : admission;
  }

  #admitAddresses(after: Service | undefined, plan: AddressPlan & { ok: true }, operation: Operation<ServiceSupply>): Admission {
    if (!this.ports.ledger.releases.hasRoom(plan.release.length + plan.take.length)) {
      return { kind: "refuse", status: tooManyRequests("too many addresses wait for their release", 5) };
    }
    const supply = operation.supply;
    if (supply && !(fitsPlan(supply, plan.take) && this.#mayHave(after, supply))) {
      // The object changed while its addresses were fetched, or the labels of its namespace did: they fit the old plan only.
      this.abandon(operation);
      operation.supply = undefined;
    }
    if (plan.take.length === 0) return { kind: "go" };
    if (!operation.supply && !this.ports.pairing.hasRoom()) {
      return { kind: "refuse", status: tooManyRequests("too many addresses wait for their IPAddress objects", 5) };
    }
    if (!after) return { kind: "go" };
    if (!operation.supply) return { kind: "wait", supply: () => this.#supplier.supply(after, plan.take, operation) };
    applyTaken(
      after,
      operation.supply.taken.map(({ index, address }) => ({ index, address: address.address })),
    );
    return { kind: "go" };
  }

  /**
   * Where the Service takes node ports, by what is known now; `supply` asks for what is not. A write that takes addresses, too, learns of the ranges by
   * that: an owner refuses whoever does not know that ranges are kept. Without a view any other write asks for one.
   */
  #portTenancy(
    after: Service,
    takesAddresses: boolean,
    operation: object,
  ): { places?: NodePortPlaces } | { supply(): Promise<Status | undefined> } {
    const { labels, topology } = this.ports;
    const namespace = after.metadata?.namespace ?? "";
    const informed = this.#informed.get(operation);
    const inform = { supply: () => this.#inform(after, operation) };
    const { cached } = topology;
    if (!cached) return takesAddresses || informed ? NO_TENANCY : inform;
    if (!isZoned(cached)) {
      // Behind it an old view is replaced, as behind a draw.
      void topology.forDraw;
      return NO_TENANCY;
    }
    if (topology.isOld && !informed) return inform;
    if (!keepsNodePorts(cached)) return NO_TENANCY;
    const known = labels?.known(namespace) ?? informed;
    return known ? { places: nodePortPlaces(cached, namespace, known) } : inform;
  }

  /** The Coordinator's view, and the labels of the namespace where node ports are kept. What was learned stays with the operation: it may be forgotten. */
  async #inform({ metadata }: Service, operation: object): Promise<Status | undefined> {
    const { labels, topology } = this.ports;
    try {
      const view = await topology.refresh();
      this.#informed.set(operation, (keepsNodePorts(view) && (await labels?.labelsOf(metadata?.namespace ?? ""))) || {});
      return undefined;
    } catch {
      return serviceUnavailable("who may have which node ports could not be read in time, please try again", 1);
    }
  }

  /** Whether the namespace may still have what was taken, by what is known now. What is not known has not changed since. */
  #mayHave(after: Service | undefined, { taken }: ServiceSupply): boolean {
    const { labels, topology } = this.ports;
    const { cached } = topology;
    const { namespace = "", name = "" } = after?.metadata ?? {};
    if (!cached || !isZoned(cached) || isDefaultService({ namespace, name })) return true;
    const known = labels?.known(namespace);
    return !known || taken.every(({ address }) => refusalOf(cached, address, { namespace, labels: known }) === undefined);
  }

  committed(change: CommittedChange, operation: Operation<ServiceSupply> | undefined): void {
    const { ledger, nodePorts, pairing } = this.ports;
    this.#catchUp.changed();
    nodePorts.committed(change.key, change.before as Service | undefined, change.after as Service | undefined);
    for (const band of (operation && this.#nodePorts.get(operation)) ?? []) this.ports.nodePortMetrics?.allocated(band);
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
    this.ports.counts?.sealTurn();
    this.#catchUp.saveMark();
  }

  turnEnding(): void {
    this.ports.ledger.sealReleases();
  }

  turnCommitted(): void {
    this.ports.ledger.turnCommitted();
    if (this.#unpaired) this.ports.unpaired?.();
    this.#unpaired = false;
  }

  turnLost(): void {
    this.#unpaired = false;
    this.#catchUp.turnLost();
    this.ports.topology.counts.lost();
    this.ports.counts?.turnLost();
    this.ports.pairing.lostAfter(this.ports.head());
    this.ports.ledger.turnLost();
  }

  async settled(operation: Operation<ServiceSupply>): Promise<void> {
    await this.#settling.get(operation);
  }

  ended(operation: Operation<ServiceSupply>): void {
    if (operation.supply) this.ports.ledger.ended(operation.supply.taken.map(({ address }) => address));
  }

  /** Sends IPAddress objects that a crash may have kept from being sent. */
  pairAgain(stored: Pick<StoreStorage, "historySince" | "objectScan">): void {
    this.#catchUp.begin(stored);
  }

  /**
   * After a start, before its first write is committed: what a crash may have left undone, IPAddress objects not sent and rows at owners that nobody
   * knows. May be called again. Rejects if the database cannot be read.
   */
  async recover(stored: Pick<StoreStorage, "historySince" | "objectScan">): Promise<void> {
    const { ledger } = this.ports;
    this.pairAgain(stored);
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
}

/** As upstream counts: `static` if the client named the number. */
function bandOf({ port }: NodePortTake): Band {
  return port === 0 ? "dynamic" : "static";
}
