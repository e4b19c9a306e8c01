/** A Service, Pods, Nodes and slices in memory; `sync` plans the slices and writes them as a store would. */
import type { EndpointSlice, Node, Pod, Service } from "../../../src/api/meta/kubernetes";
import { validateEndpointSlice } from "../../../src/api/registry/endpoint-slices/validate";
import { nodeZone } from "../../../src/endpoints/sources/node-zone";
import { podFacts } from "../../../src/endpoints/sources/pod-facts";
import { selects } from "../../../src/endpoints/sources/service-pods";
import { planSlices, type SlicePlan } from "../../../src/endpoints/slices/plan-slices";
import { endpointsOf } from "../../../src/endpoints/slices/slice-endpoint";

export interface PodOptions {
  name?: string;
  ips?: string[];
  ready?: boolean;
  readyAt?: string;
  nodeName?: string;
  labels?: Record<string, string>;
  phase?: string;
  terminating?: boolean;
  hostname?: string;
  subdomain?: string;
  ports?: { name: string; protocol?: string; containerPort: number }[];
  sidecarPorts?: { name: string; protocol?: string; containerPort: number }[];
  initPorts?: { name: string; protocol?: string; containerPort: number }[];
}

/** A ready Pod of namespace `ns` on node `n1`, selected by `aService()`. */
export function aPod(options: PodOptions = {}): Pod {
  const { name = "p", ips = ["10.0.0.1"], ready = true, nodeName = "n1", labels = { app: "a" }, phase = "Running" } = options;
  const container = { name: "c", image: "i" };
  return {
    metadata: {
      namespace: "ns",
      name,
      uid: `uid of ${name}`,
      labels,
      ...(options.terminating && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: {
      nodeName,
      containers: [{ ...container, ports: options.ports }],
      initContainers: [
        { ...container, name: "init", ports: options.initPorts },
        { ...container, name: "sidecar", restartPolicy: "Always", ports: options.sidecarPorts },
      ],
      hostname: options.hostname,
      subdomain: options.subdomain,
    },
    status: {
      phase,
      podIP: ips[0],
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: options.readyAt }],
    },
  };
}

/** `count` Pods p0, p1, … with addresses of their own. */
export function pods(count: number, options: (i: number) => PodOptions = () => ({})): Pod[] {
  return Array.from({ length: count }, (_, i) => aPod({ name: `p${i}`, ips: [ipv4(i)], ...options(i) }));
}

export function ipv4(i: number): string {
  return `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
}

/** Service `s` of namespace `ns`, port 80 to 8080, IPv4. */
export function aService(spec: Service["spec"] = {}, metadata: Service["metadata"] = {}): Service {
  return {
    metadata: { namespace: "ns", name: "s", uid: "uid of s", creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
    spec: {
      type: "ClusterIP",
      clusterIP: "10.96.0.10",
      ipFamilies: ["IPv4"],
      selector: { app: "a" },
      ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 }],
      ...spec,
    },
  };
}

export function aNode(name: string, zone?: string): Node {
  return { metadata: { name, labels: zone === undefined ? {} : { "topology.kubernetes.io/zone": zone } } };
}

/** Writes of one sync, and how many endpoints each slice has afterwards, the longest first. */
export interface Synced {
  writes: string;
  lengths: number[];
  plan: SlicePlan;
}

/** A write as the store's feed tells it. */
export interface SliceWrite {
  type: "put" | "gone";
  slice: EndpointSlice;
}

export class SliceWorld {
  service = aService();
  pods: Pod[] = [];
  nodes: Node[] = [aNode("n1")];
  slices: EndpointSlice[] = [];
  max = 100;
  #serial = 0;

  /** One look at the Service. */
  sync(triggerTime?: number): Synced {
    const plan = planSlices(this.request(triggerTime));
    this.apply(plan);
    const count = (member: "create" | "update" | "remove"): number => plan.families.reduce((sum, family) => sum + family[member].length, 0);
    return {
      writes: `${count("create")}/${count("update")}/${count("remove") + plan.remove.length}`,
      lengths: this.slices.map((slice) => endpointsOf(slice).length).sort((a, b) => b - a),
      plan,
    };
  }

  /** Makes the writes of a plan, in its order. Every written slice has to pass validation. */
  apply(plan: SlicePlan): SliceWrite[] {
    const made: SliceWrite[] = [];
    for (const { create, update, remove } of plan.families) {
      made.push(...create.map((slice): SliceWrite => ({ type: "put", slice: this.create(slice) })));
      made.push(...update.map((slice): SliceWrite => ({ type: "put", slice: this.#update(slice) })));
      made.push(...remove.map((slice): SliceWrite => ({ type: "gone", slice: this.#remove(slice) })));
    }
    made.push(...plan.remove.map((slice): SliceWrite => ({ type: "gone", slice: this.#remove(slice) })));
    return made;
  }

  request(triggerTime?: number): Parameters<typeof planSlices>[0] {
    const facts = this.pods.map(podFacts).filter((pod) => selects(this.service, pod));
    const nodes = new Map(this.nodes.map((node) => [node.metadata?.name ?? "", nodeZone(node)]));
    return { service: this.service, pods: facts, nodes, slices: this.slices, max: this.max, triggerTime };
  }

  /** Stores a slice as the API does: with a name, a uid, and null for an empty list. */
  create(slice: EndpointSlice): EndpointSlice {
    const serial = ++this.#serial;
    const name = slice.metadata?.name ?? `${slice.metadata?.generateName ?? ""}${serial}`;
    const stored = this.#stored({ ...slice, metadata: { ...slice.metadata, name, uid: `uid ${serial}`, generation: 1 } });
    this.slices.push(stored);
    return stored;
  }

  #update(slice: EndpointSlice): EndpointSlice {
    const at = this.slices.findIndex(({ metadata }) => metadata?.name === slice.metadata?.name);
    const before = this.slices[at];
    if (!before) throw new Error("an update of a slice that is not there");
    if (before.addressType !== slice.addressType) throw new Error("an update that changes the address type");
    const { uid, generation = 0 } = before.metadata ?? {};
    return (this.slices[at] = this.#stored({ ...slice, metadata: { ...slice.metadata, uid, generation: generation + 1 } }));
  }

  #remove(slice: EndpointSlice): EndpointSlice {
    const left = this.slices.filter(({ metadata }) => metadata?.name !== slice.metadata?.name);
    if (left.length === this.slices.length) throw new Error("a deletion of a slice that is not there");
    this.slices = left;
    return slice;
  }

  #stored(slice: EndpointSlice): EndpointSlice {
    const errors = validateEndpointSlice(slice);
    if (errors.length > 0) throw new Error(`an invalid slice: ${JSON.stringify(errors)}`);
    const lists: { endpoints: unknown; ports: unknown } = {
      endpoints: slice.endpoints.length > 0 ? slice.endpoints : null,
      ports: slice.ports?.length ? slice.ports : null,
    };
    return frozen({ ...slice, ...lists } as EndpointSlice);
  }
}

/** Deep-frozen: a plan that changes its input fails. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
