/**
 * Plans an import: compares the dump with the cluster, and the objects of the dump with each other. A dry run of a server does not do the latter.
 * Pure.
 */
import { DEFAULT_NAME, DEFAULT_NAMESPACE, DEFAULT_SERVICE } from "../../api/registry/default-objects";
import { clusterIPTextsOf, nodePortsOf, nodePortText } from "../../api/registry/services/held-by-service";
import type { IPAddress, KubeObject, Namespace, Service, ServiceCIDR } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import { canonicalAddress, parseAddress } from "../../core/net/address";
import { type Prefix, prefixesIn } from "../../core/net/prefix";
import { readyCidrs } from "../../addresses/ranges/service-ranges";
import type { PrefixIndex } from "../../addresses/topology/prefix-index";
import { givesOut, isInside, rangeIndex } from "../../addresses/topology/range-index";
import { type Dump, labelOf } from "./dump";
import { differences, hasContent } from "./importable";
import { readRangeAllocation } from "./range-allocation";
import type { ConflictReason, ImportFinding } from "./report";

/** The objects of the cluster that is imported into. */
export interface ClusterContent {
  namespaces: string[];
  serviceCIDRs: ServiceCIDR[];
  services: Service[];
  ipAddresses: IPAddress[];
}

export interface PlannedService {
  label: string;
  object: Service;
  /** a part of it lies in a range that the plan creates first; the server can judge the object only then */
  needsPlannedRange: boolean;
  /** the server chooses an address or a port: created after every object that names one */
  isOpen: boolean;
}

export interface ImportPlan {
  namespaces: Namespace[];
  serviceCIDRs: ServiceCIDR[];
  services: PlannedService[];
  /** with parents other than Services: the server makes the others itself */
  ipAddresses: IPAddress[];
  /** Services that are there or will be, whose status is to be restored */
  statuses: Service[];
  /** labels of what is there already */
  present: string[];
  conflicts: ImportFinding[];
  notices: ImportFinding[];
}

/** What to create and what stands against it. Changes nothing: the plan of a dump that was imported creates nothing. */
export function planImport(dump: Dump, cluster: ClusterContent): ImportPlan {
  return new Planner(dump, cluster).plan();
}

class Planner {
  readonly #dump: Dump;
  readonly #cluster: ClusterContent;
  readonly #plan: ImportPlan;
  /** canonical address -> label of what holds it, here or in the dump */
  readonly #holders = new Map<string, string>();
  /** `TCP/30080` -> label of what holds it */
  readonly #portHolders = new Map<string, string>();
  readonly #readyRanges: PrefixIndex<Prefix>;
  #plannedRanges = rangeIndex([]);

  constructor(dump: Dump, cluster: ClusterContent) {
    this.#dump = dump;
    this.#cluster = cluster;
    this.#readyRanges = rangeIndex(prefixesIn(readyCidrs(cluster.serviceCIDRs)));
    this.#plan = {
      namespaces: [],
      serviceCIDRs: [],
      services: [],
      ipAddresses: [],
      statuses: [],
      present: [],
      conflicts: [...dump.conflicts],
      notices: [...dump.notices],
    };
  }

  plan(): ImportPlan {
    this.#rememberCluster();
    this.#planServiceCIDRs();
    this.#planServices();
    this.#planNamespaces();
    this.#planIPAddresses();
    this.#explainRangeAllocations();
    return this.#plan;
  }

  #rememberCluster(): void {
    for (const { metadata, spec } of this.#cluster.ipAddresses) {
      const { group = "", resource = "", namespace = "", name = "" } = spec?.parentRef ?? {};
      const kind = group === "" && resource === "services" ? "Service" : `${resource}${group ? `.${group}` : ""}`;
      this.#holders.set(canonicalAddress(metadata?.name ?? ""), `${kind} ${namespace ? `${namespace}/` : ""}${name}`);
    }
    for (const service of this.#cluster.services) this.#hold(service, labelOf("Service", service.metadata));
  }

  #hold(service: Service, label: string): void {
    for (const address of clusterIPTextsOf(service)) this.#holders.set(canonicalAddress(address), label);
    for (const held of nodePortsOf(service)) this.#portHolders.set(nodePortText(held), label);
  }

  #planServiceCIDRs(): void {
    const there = byName(this.#cluster.serviceCIDRs);
    for (const object of this.#dump.serviceCIDRs) {
      const label = labelOf("ServiceCIDR", object.metadata);
      const stored = there.get(keyOf(object));
      const cidrs = object.spec?.cidrs ?? [];
      if (!stored) {
        this.#plan.serviceCIDRs.push(object);
      } else if (String(stored.spec?.cidrs) === String(cidrs)) {
        this.#plan.present.push(label);
      } else {
        const advice = object.metadata?.name === DEFAULT_NAME ? "; the variable SERVICE_CLUSTER_IP_RANGE of the server decides" : "";
        this.#conflict(label, "Different", `is there with the ranges [${String(stored.spec?.cidrs)}], not [${String(cidrs)}]${advice}`);
      }
    }
  }

  #planServices(): void {
    this.#plannedRanges = rangeIndex(this.#plan.serviceCIDRs.flatMap(({ spec }) => prefixesIn(spec?.cidrs ?? [])));
    const there = byName(this.#cluster.services);
    for (const object of this.#dump.services) {
      const label = labelOf("Service", object.metadata);
      if (isDefault(object)) {
        this.#compareDefault(object, there.get(keyOf(object)));
        continue;
      }
      const stored = there.get(keyOf(object));
      if (stored) {
        const different = differences(object, stored);
        if (different.length > 0) this.#conflict(label, "Different", `is there with other values of ${different.join(", ")}`);
        else this.#plan.present.push(label);
        if (different.length === 0 && hasContent(object.status) && !hasContent(stored.status)) this.#plan.statuses.push(object);
        continue;
      }
      const problems = [...this.#addressProblems(object, label), ...this.#portProblems(object, label)];
      if (problems.length > 0) {
        this.#plan.conflicts.push(...problems);
        continue;
      }
      this.#hold(object, label);
      const needsPlannedRange = clusterIPTextsOf(object).some((address) => !isIn(this.#readyRanges, address));
      this.#plan.services.push({ label, object, needsPlannedRange, isOpen: !namesAll(object) });
      if (hasContent(object.status)) this.#plan.statuses.push(object);
    }
  }

  /** Each cluster makes its own `default/kubernetes`. */
  #compareDefault(object: Service, stored: Service | undefined): void {
    const label = labelOf("Service", object.metadata);
    if (stored && String(clusterIPTextsOf(stored)) !== String(clusterIPTextsOf(object))) {
      const addresses = `has the address ${clusterIPTextsOf(stored).join(", ")} here, not ${clusterIPTextsOf(object).join(", ")}`;
      this.#conflict(label, "Different", `${addresses}; the variable SERVICE_CLUSTER_IP_RANGE of the server decides`);
    } else if (stored) this.#plan.present.push(label);
    else this.#notice(label, "Ignored", "is made by the server itself");
  }

  #addressProblems(object: Service, label: string): ImportFinding[] {
    return clusterIPTextsOf(object).flatMap((text): ImportFinding[] => {
      const parsed = parseAddress(text);
      if (!parsed.ok) return [{ object: label, reason: "Invalid", message: `has the address ${JSON.stringify(text)}, which is none` }];
      const address = parsed.value.canonical;
      const holder = this.#holders.get(address);
      if (holder !== undefined && holder !== label)
        return [{ object: label, reason: "AddressTaken", message: `has the address ${address}, which ${holder} holds` }];
      if (isIn(this.#readyRanges, address) || isIn(this.#plannedRanges, address)) return [];
      return [{ object: label, reason: "OutOfRange", message: `has the address ${address}, which no ServiceCIDR gives out` }];
    });
  }

  #portProblems(object: Service, label: string): ImportFinding[] {
    return nodePortsOf(object)
      .map(nodePortText)
      .flatMap((port): ImportFinding[] => {
        const holder = this.#portHolders.get(port);
        if (holder === undefined || holder === label) return [];
        return [{ object: label, reason: "NodePortTaken", message: `has the node port ${port}, which ${holder} holds` }];
      });
  }

  /** Those of the dump, and those that its Services need. */
  #planNamespaces(): void {
    const there = new Set([DEFAULT_NAMESPACE, ...this.#cluster.namespaces]);
    for (const object of this.#dump.namespaces) {
      const name = object.metadata?.name ?? "";
      if (there.has(name)) this.#plan.present.push(labelOf("Namespace", object.metadata));
      else this.#plan.namespaces.push(object);
      there.add(name);
    }
    for (const { object } of this.#plan.services) {
      const name = object.metadata?.namespace ?? "";
      if (there.has(name)) continue;
      there.add(name);
      this.#plan.namespaces.push({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
  }

  #planIPAddresses(): void {
    const there = byName(this.#cluster.ipAddresses);
    const dumped = byName(this.#dump.services);
    const stored = byName(this.#cluster.services);
    for (const object of this.#dump.ipAddresses) {
      const label = labelOf("IPAddress", object.metadata);
      const address = canonicalAddress(object.metadata?.name ?? "");
      const { group = "", resource = "", namespace = "", name = "" } = object.spec?.parentRef ?? {};
      if (group === "" && resource === "services") {
        const parents = [dumped.get(`${namespace}/${name}`), stored.get(`${namespace}/${name}`)].filter((parent) => parent !== undefined);
        if (parents.some((parent) => clusterIPTextsOf(parent).map(canonicalAddress).includes(address))) continue;
        const problem = parents.length > 0 ? "does not hold it" : "is not there";
        this.#conflict(label, "Unexplained", `belongs to Service ${namespace}/${name}, which ${problem}`);
        continue;
      }
      const same = there.get(keyOf(object));
      if (same && differences({ spec: object.spec } as KubeObject, same).length === 0) {
        this.#plan.present.push(label);
        continue;
      }
      const holder = this.#holders.get(address);
      if (holder !== undefined) {
        this.#conflict(label, "AddressTaken", `belongs to ${resource} ${namespace ? `${namespace}/` : ""}${name}, and ${holder} holds it`);
        continue;
      }
      this.#holders.set(address, label);
      this.#plan.ipAddresses.push(object);
    }
  }

  /** Number -> label of a holder, whatever the protocol. */
  #numberHolders(): Map<number, string> {
    return new Map([...this.#portHolders].map(([text, label]) => [Number(text.slice(text.indexOf("/") + 1)), label]));
  }

  /**
   * Each address that the old allocators count as taken needs a holder in the dump or in the cluster. Each address held in the dump needs its bit.
   */
  #explainRangeAllocations(): void {
    const held = new Map(
      this.#dump.services.flatMap((s) => clusterIPTextsOf(s).map((a) => [canonicalAddress(a), labelOf("Service", s.metadata)])),
    );
    for (const { metadata } of this.#dump.ipAddresses) held.set(canonicalAddress(metadata?.name ?? ""), labelOf("IPAddress", metadata));
    // Upstream's table of node ports knows no protocols.
    const ports = new Set(this.#dump.services.flatMap(nodePortsOf).map(({ port }) => port));
    const numberHolders = this.#numberHolders();
    for (const object of this.#dump.rangeAllocations) {
      const label = `RangeAllocation ${object.range ?? ""}`;
      const taken = readRangeAllocation(object);
      if (!taken.ok) {
        this.#conflict(label, "Invalid", `cannot be read: ${taken.error}`);
        continue;
      }
      if (taken.value.kind === "ports") {
        const unknown = taken.value.ports.filter((port) => !ports.has(port));
        for (const port of unknown.filter((one) => !numberHolders.has(one)))
          this.#conflict(label, "Unexplained", `counts the node port ${port} as taken, which no Service has`);
        this.#noticeHeldHere(label, unknown, numberHolders);
        continue;
      }
      const { prefix, addresses } = taken.value;
      if (![this.#readyRanges, this.#plannedRanges].some((ranges) => isInside(ranges, prefix)))
        this.#conflict(label, "OutOfRange", "has a range that no ServiceCIDR gives out");
      const range = rangeIndex([prefix]);
      const marked = new Set(addresses);
      const unknown = addresses.filter((address) => !held.has(address));
      for (const address of unknown.filter((one) => !this.#holders.has(one)))
        this.#conflict(label, "Unexplained", `counts ${address} as taken: the bit is set, and no object has the address`);
      this.#noticeHeldHere(label, unknown, this.#holders);
      for (const [address, holder] of held)
        if (!marked.has(address) && isIn(range, address)) this.#notice(label, "Warning", `does not count ${address} of ${holder} as taken`);
    }
  }

  /** Taken in the dump and held here. The dump does not name the holder, so it may be another object. */
  #noticeHeldHere<T>(label: string, taken: readonly T[], holders: ReadonlyMap<T, string>): void {
    const [first, ...others] = taken.filter((one) => holders.has(one));
    if (first === undefined) return;
    const more = others.length > 0 ? `, and ${others.length} more alike` : "";
    this.#notice(
      label,
      "Warning",
      `counts ${String(first)} as taken, which ${holders.get(first) ?? ""} holds here and nothing in the dump does${more}`,
    );
  }

  #conflict(object: string, reason: ConflictReason, message: string): void {
    this.#plan.conflicts.push({ object, reason, message });
  }

  #notice(object: string, reason: "Ignored" | "Warning", message: string): void {
    this.#plan.notices.push({ object, reason, message });
  }
}

/** The server has no choice left. */
export function namesAll({ spec }: Service): boolean {
  if (spec?.type === "ExternalName" || spec?.clusterIP === "None") return true;
  const hasPorts = spec?.type !== "NodePort" && spec?.type !== "LoadBalancer" ? true : (spec.ports ?? []).every(({ nodePort }) => nodePort);
  return hasPorts && clusterIPTextsOf({ spec }).length >= Math.max(1, spec?.ipFamilies?.length ?? 1);
}

function isDefault(service: Service): boolean {
  return keyOf(service) === DEFAULT_SERVICE;
}

function byName<T extends KubeObject>(objects: readonly T[]): Map<string, T> {
  return new Map(objects.map((object) => [keyOf(object), object]));
}

/** Whether one of the ranges gives the address out. */
function isIn(ranges: PrefixIndex<Prefix>, address: string): boolean {
  const parsed = parseAddress(address);
  return parsed.ok && givesOut(ranges, parsed.value);
}
