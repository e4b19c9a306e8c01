/**
 * One random history of endpoints, from its seed alone: Services, Pods and Nodes change, somebody edits slices, the controllers and the stores die at
 * their commits, calls get lost, late and repeated; then everything comes to rest, and slices and Endpoints are compared with the Pods.
 */
import {
  LABEL_ENDPOINTS_MANAGED_BY,
  LABEL_MANAGED_BY,
  LABEL_SERVICE_NAME,
  MIRRORING_CONTROLLER,
  SLICE_CONTROLLER,
} from "../../../../src/api/meta/endpoint-keys";
import type { Endpoints, EndpointSlice, KubeObject, Node, Pod, Service } from "../../../../src/api/meta/kubernetes";
import { keyOf } from "../../../../src/api/meta/object-key";
import { endpointsDefinition } from "../../../../src/api/registry/endpoints/definition";
import { endpointSlicesDefinition } from "../../../../src/api/registry/endpoint-slices/definition";
import { nodesDefinition } from "../../../../src/api/registry/nodes/definition";
import { podsDefinition } from "../../../../src/api/registry/pods/definition";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import { servicesDefinition } from "../../../../src/api/registry/services/definition";
import type { Subresource, WriteOptions, WriteRequest, WriteResult } from "../../../../src/api/rpc/store";
import type { WordRandom } from "../../../../src/core/base/word-random";
import type { RowStorage } from "../../../../src/controllers/followed/row-storage";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { naiveEndpoints, sliceLines } from "../../../model/naive-endpoints";
import { DELETE } from "../../worlds/store-world";
import { SimCluster } from "../cluster";
import { MAX_PER_SLICE, SimEndpoints } from "../endpoints";
import { drawFaults, isExpected } from "./history";
import { CLIENT, NO_FAULTS } from "../platform/network";
import { pick, seededRandom } from "../platform/seeded-random";

export interface EndpointReport {
  seed: number;
  violations: string[];
  crashes: number;
}

const SERVICES = ["s", "t", "u"];
/** without selector: somebody writes its Endpoints */
const BY_HAND = "hand";
const APPS = ["a", "b"];
const PODS = 12;
const NAMESPACE = "default";

export async function runEndpointHistory({
  seed,
  rows,
}: {
  seed: number;
  rows?(storage: RowStorage): RowStorage;
}): Promise<EndpointReport> {
  const random = seededRandom(seed ^ 0xe9d5);
  const cluster = new SimCluster({ seed, ranges: ["10.0.0.0/27"], families: ["IPv4"] });
  const { network, scheduler } = cluster;
  const world = new SimEndpoints(cluster, { batchMs: pick(random, [0, 0, 700]), ...(rows ? { rows } : {}) });
  const clients = new Clients(cluster, world, random);
  await scheduler.pass(10_000);
  for (const name of ["n1", "n2"]) clients.node(name);
  await scheduler.pass(1_000);

  const drawn = drawFaults(random);
  const some = (rate: number): number => (random.below(2) === 0 ? 0 : rate * random.next());
  network.faults = { ...drawn, clockJump: some(0.04), alarmFails: some(0.3) };
  const acts = 40 + random.below(40);
  const gapMs = pick(random, [2, 20, 400, 4_000]);
  for (let i = 0; i < acts; i++) {
    clients.act();
    await scheduler.pass(random.below(gapMs));
    if (network.chance(drawn.crash)) pick(random, world.nodes).crash();
    if (random.below(30) === 0) world.cron();
  }
  network.faults = NO_FAULTS;
  await cluster.quiesce();
  for (let minute = 0; minute < 5; minute++) {
    world.cron();
    cluster.controllers.cron("garbage-collection");
    await scheduler.pass(60_000);
  }
  const violations = [...atRest(world), ...cluster.momentary, ...cluster.logged.filter((line) => !isExpected(line))];
  return { seed, violations, crashes: network.crashes };
}

/** Whoever writes Services, Pods and Nodes, and whoever meddles with slices. Nobody waits for an answer. */
class Clients {
  constructor(
    private readonly cluster: SimCluster,
    private readonly world: SimEndpoints,
    private readonly random: WordRandom,
  ) {}

  act(): void {
    const { random } = this;
    const dice = random.below(22);
    if (dice < 5) this.#createPod();
    else if (dice < 11) this.#changePod();
    else if (dice < 13) this.#removeOne(podsDefinition);
    else if (dice < 16) this.#service();
    else if (dice < 17) this.#removeOne(servicesDefinition);
    else if (dice < 18) this.#meddle();
    else if (dice < 20) this.#endpoints();
    else this.node(pick(random, ["n1", "n2"]));
  }

  node(name: string): void {
    const metadata = { name, labels: { "topology.kubernetes.io/zone": pick(this.random, ["z1", "z2"]) } };
    const isThere = this.world.objects(nodesDefinition).some((node) => node.metadata?.name === name);
    if (isThere) this.#patch(nodesDefinition, { namespace: "", name }, { metadata });
    else this.#create(nodesDefinition, { metadata });
  }

  #service(): void {
    const name = pick(this.random, [...SERVICES, BY_HAND]);
    const ports = [{ port: 80, targetPort: pick(this.random, [8080, 9090]) }];
    const selector = { app: pick(this.random, APPS) };
    const spec = { ...(name !== BY_HAND && { selector }), publishNotReadyAddresses: this.random.below(3) === 0, ports };
    const isThere = this.world.objects(servicesDefinition).some(({ metadata }) => metadata?.name === name);
    if (isThere) this.#patch(servicesDefinition, { namespace: NAMESPACE, name }, { spec });
    else this.#create(servicesDefinition, { metadata: { namespace: NAMESPACE, name }, spec } as KubeObject);
  }

  /** Of those of other Services the controller makes something else. */
  #endpoints(): void {
    const name = this.random.below(4) === 0 ? pick(this.random, SERVICES) : BY_HAND;
    const metadata = { namespace: NAMESPACE, name };
    const ips = Array.from({ length: 1 + this.random.below(4) }, () => ({ ip: `10.2.0.${1 + this.random.below(9)}` }));
    const subsets = [{ addresses: ips.filter(({ ip }, i) => ips.findIndex((one) => one.ip === ip) === i), ports: [{ port: 80 }] }];
    const isThere = this.world.endpoints.some((one) => one.metadata?.name === name);
    if (isThere) this.#patch(endpointsDefinition, metadata, { subsets });
    else this.#create(endpointsDefinition, { metadata, subsets } as Endpoints);
  }

  #createPod(): void {
    const metadata = { namespace: NAMESPACE, name: `p${this.random.below(PODS)}`, labels: { app: pick(this.random, APPS) } };
    const spec = { nodeName: pick(this.random, ["n1", "n2"]), containers: [{ name: "c", image: "i" }] };
    this.#create(podsDefinition, { metadata, spec } as Pod);
  }

  #changePod(): void {
    const pods = this.world.objects<Pod>(podsDefinition);
    if (pods.length === 0) return;
    const name = pick(this.random, pods).metadata?.name ?? "";
    const key = { namespace: NAMESPACE, name };
    if (this.random.below(4) === 0) return this.#patch(podsDefinition, key, { metadata: { labels: { app: pick(this.random, APPS) } } });
    const ip = `10.1.${this.random.below(3)}.${1 + Number(name.slice(1))}`;
    const conditions = [{ type: "Ready", status: pick(this.random, ["True", "True", "False"]) }];
    this.#patch(podsDefinition, key, { status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions } }, "status");
  }

  #removeOne(definition: ResourceDefinition): void {
    const all = this.world.objects(definition).filter(({ metadata }) => metadata?.name !== "kubernetes");
    if (all.length === 0) return;
    const { namespace = "", name = "" } = pick(this.random, all).metadata ?? {};
    this.#send(definition, { verb: "delete", key: { namespace, name }, options: { ...DELETE, gracePeriodSeconds: 0 } });
  }

  #meddle(): void {
    const { slices } = this.world;
    if (slices.length === 0) return;
    if (this.random.below(2) === 0) return this.#removeOne(endpointSlicesDefinition);
    const { namespace = "", name = "" } = pick(this.random, slices).metadata ?? {};
    this.#patch(endpointSlicesDefinition, { namespace, name }, { endpoints: [] });
  }

  #create(definition: ResourceDefinition, object: KubeObject): void {
    const namespace = object.metadata?.namespace ?? "";
    this.#send(definition, { verb: "create", namespace, object: JSON.stringify(object), options: optionsOf(definition) });
  }

  #patch(definition: ResourceDefinition, key: { namespace: string; name: string }, patch: object, subresource: Subresource = ""): void {
    const text = JSON.stringify(patch);
    this.#send(definition, { verb: "patch", key, subresource, patchType: "merge", patch: text, options: optionsOf(definition) });
  }

  #send(definition: ResourceDefinition, request: WriteRequest): void {
    const sent: Promise<WriteResult> = this.cluster.network.call(CLIENT, this.world.store(definition), (store) => store.write(request));
    void sent.catch(() => undefined);
  }
}

/** What has to hold when everything is quiet. */
function atRest(world: SimEndpoints): string[] {
  const found: string[] = [];
  const [pods, nodes] = [world.objects<Pod>(podsDefinition), world.objects<Node>(nodesDefinition)];
  const everySlice = world.slices;
  const all = world.objects<Service>(servicesDefinition);
  const services = all.filter(({ spec }) => spec?.selector);
  const serviceOf = ({ metadata }: EndpointSlice): string => `${NAMESPACE}/${metadata?.labels?.[LABEL_SERVICE_NAME] ?? ""}`;
  for (const service of services) {
    const key = keyOf(service);
    const slices = everySlice.filter((slice) => serviceOf(slice) === key);
    const [want, are] = [naiveEndpoints(service, pods, nodes), sliceLines(slices)];
    if (JSON.stringify(want) !== JSON.stringify(are)) found.push(`slices of ${key}: ${are.join("; ")} instead of ${want.join("; ")}`);
    if (slices.length === 0) found.push(`${key} has no slice`);
    const [has, wants] = [addressesOf(world.endpoints, key), ipsOf(service, pods)];
    if (has !== wants) found.push(`Endpoints of ${key}: ${has} instead of ${wants}`);
  }
  const mirrored = everySlice.filter((slice) => managerOf(slice) === MIRRORING_CONTROLLER);
  const byHand = all.some(({ metadata }) => metadata?.name === BY_HAND) ? addressesOf(world.endpoints, `${NAMESPACE}/${BY_HAND}`) : "";
  const shown = sorted(mirrored.flatMap((slice) => endpointsOf(slice).flatMap(({ addresses }) => addresses)));
  if (byHand !== shown) found.push(`mirrored ${shown} instead of ${byHand}`);
  for (const slice of everySlice) {
    if (mirrored.includes(slice) && serviceOf(slice) === `${NAMESPACE}/${BY_HAND}`) continue;
    if (managerOf(slice) !== SLICE_CONTROLLER) found.push(`${keyOf(slice)} is of ${managerOf(slice)}`);
    if (endpointsOf(slice).length > MAX_PER_SLICE) found.push(`${keyOf(slice)} has ${endpointsOf(slice).length} endpoints`);
    if (!services.some((service) => keyOf(service) === serviceOf(slice))) found.push(`${keyOf(slice)} is of no Service`);
  }
  for (const one of world.endpoints) {
    const isMade = one.metadata?.labels?.[LABEL_ENDPOINTS_MANAGED_BY] !== undefined;
    if (isMade && !services.some((service) => keyOf(service) === keyOf(one))) found.push(`Endpoints ${keyOf(one)} stay`);
  }
  return found;
}

function ipsOf({ spec }: Service, pods: readonly Pod[]): string {
  const selected = pods.filter(({ metadata }) => metadata?.labels?.app === spec?.selector?.app);
  return sorted(selected.flatMap(({ status }) => status?.podIPs?.map(({ ip }) => ip) ?? []));
}

/** The addresses, ready or not, of the Endpoints of this key. */
function addressesOf(all: readonly Endpoints[], key: string): string {
  const { subsets = [] } = all.find((one) => keyOf(one) === key) ?? {};
  return sorted(subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [...addresses, ...notReadyAddresses].map(({ ip }) => ip)));
}

function managerOf({ metadata }: EndpointSlice): string {
  return metadata?.labels?.[LABEL_MANAGED_BY] ?? "";
}

function sorted(ips: readonly string[]): string {
  return [...new Set(ips)].sort().join();
}

function optionsOf({ group }: ResourceDefinition): WriteOptions {
  return { dryRun: false, fieldManager: "sim", fieldValidation: "Strict", force: false, group, version: "v1" };
}
