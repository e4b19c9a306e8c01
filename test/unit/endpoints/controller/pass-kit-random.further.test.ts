/** Random histories of a cluster whose controllers die, sleep, lose calls, rows and histories: in the end everything is as a naive computation says. */
import { expect } from "vitest";
import type { WordRandom } from "../../../../src/core/base/word-random";
import type { Endpoints, EndpointSlice, Node, Pod, Service } from "../../../../src/api/meta/kubernetes";
import { MIRRORING_CONTROLLER, SLICE_CONTROLLER } from "../../../../src/api/meta/endpoint-keys";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { naiveEndpoints, sliceLines } from "../../../model/naive-endpoints";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { EndpointWorld } from "../../../support/worlds/endpoint-world";
import { aNode, aPod, aService, ipv4 } from "../../../support/worlds/slice-world";

const HISTORIES = 30;
const STEPS = 30;
const SEED = 20_261_123;
const MAX = 4;
const SERVICES = ["s", "t", "hand"];

type Change = (world: EndpointWorld, random: WordRandom) => Promise<void>;

const putService: Change = (world, random) => {
  const name = pick(random, SERVICES);
  const selector = name === "hand" ? undefined : pick<Record<string, string>>(random, [{ app: "a" }, { app: "b" }]);
  const publishNotReadyAddresses = random.below(3) === 0;
  const port = { name: "http", protocol: "TCP", port: 80, targetPort: pick(random, [8080, 9090]) };
  return world.putService(aService({ selector, publishNotReadyAddresses, ports: [port] }, { name }));
};

const putPod: Change = async (world, random) => {
  const name = `p${random.below(14)}`;
  const before = world.objects<Pod>("pods").find(({ metadata }) => metadata?.name === name);
  const nodeName = before?.spec?.nodeName ?? pick(random, ["n1", "n2"]);
  const ips = [ipv4(256 + random.below(100))];
  await world.putPod(aPod({ name, ips, nodeName, ready: random.below(4) > 0, labels: { app: pick(random, ["a", "a", "b", "c"]) } }));
};

const putEndpoints: Change = (world, random) => {
  const addresses = Array.from({ length: 1 + random.below(3) }, () => ({ ip: ipv4(1_000 + random.below(50)) }));
  const ports = [{ name: "http", port: 80, protocol: "TCP" }];
  return world.put("endpoints", { metadata: { namespace: "ns", name: "hand" }, subsets: [{ addresses, ports }] } as Endpoints);
};

const remove: Change = async (world, random) => {
  const kind = pick(random, ["services", "pods", "pods", "nodes", "endpointslices", "endpoints"] as const);
  const names = world.objects(kind).map(({ metadata }) => metadata?.name ?? "");
  if (names.length > 0) await world.delete(kind, pick(random, names));
};

const editSlice: Change = async (world, random) => {
  if (world.slices.length === 0) return;
  const { metadata, endpoints } = pick(random, world.slices);
  const other = { metadata: { labels: { "kubernetes.io/service-name": "t" } } };
  await world.patch("endpointslices", metadata?.name ?? "", pick<object>(random, [{ endpoints: [] }, { endpoints }, other]));
};

const faults: Change = (world, random) => {
  const chance = pick(random, [0, 0, 6, 3]);
  world.fault = () => (chance > 0 && random.below(chance) === 0 ? pick(random, ["down", "lost", "silent"] as const) : undefined);
  return Promise.resolve();
};

const die: Change = (world, random) => {
  if (random.below(4) === 0) for (const rows of Object.values(world.rows)) rows.clear();
  world.wake();
  return Promise.resolve();
};

const CHANGES: readonly Change[] = [
  ...[putPod, putPod, putPod, putPod, putService, putEndpoints, remove, editSlice, faults, die],
  (world, random) => world.putNode(aNode(pick(random, ["n1", "n2"]), pick(random, ["z1", "z2"]))),
];

const ofManager = (world: EndpointWorld, manager: string): EndpointSlice[] =>
  world.slices.filter(({ metadata }) => metadata?.labels?.["endpointslice.kubernetes.io/managed-by"] === manager);

itOfSeeds(
  "history of seed %i: slices and Endpoints are right in the end",
  { fixed: Array.from({ length: HISTORIES }, (_, i) => SEED + i), further: 2 },
  async (seed) => {
    const random = seededRandom(seed);
    const world = new EndpointWorld({
      controllers: ["slices", "endpoints", "mirror"],
      max: MAX,
      historyEntries: 25,
      batchMs: pick(random, [0, 500]),
    });
    for (let step = 0; step < STEPS; step++) {
      await pick(random, CHANGES)(world, random);
      await world.settle(pick(random, [0, 2, 20, 2_000]));
    }
    world.fault = () => undefined;
    await world.settle(300_000);

    const pods = world.objects<Pod>("pods");
    const nodes = world.objects<Node>("nodes");
    const services = new Map(world.objects<Service>("services").map((service) => [service.metadata?.name ?? "", service]));
    for (const name of SERVICES) {
      const service = services.get(name);
      const slices = ofManager(world, SLICE_CONTROLLER).filter(({ metadata }) => metadata?.labels?.["kubernetes.io/service-name"] === name);
      // those of a Service that is gone are the garbage collector's
      if (service?.spec?.selector) expect(sliceLines(slices)).toEqual(naiveEndpoints(service, pods, nodes));
      for (const slice of slices) expect(endpointsOf(slice).length).toBeLessThanOrEqual(MAX);
      const endpoints = world.stores.endpoints.stored<Endpoints>(name);
      if (service?.spec?.selector) expect(ipsOf(endpoints)).toEqual(selectedIps(service, pods));
      else if (name !== "hand") expect(endpoints).toBeUndefined();
    }
    const mirrored = services.has("hand") ? ipsOf(world.stores.endpoints.stored<Endpoints>("hand")) : [];
    const slices = ofManager(world, MIRRORING_CONTROLLER);
    expect([...new Set(slices.flatMap((slice) => endpointsOf(slice).flatMap(({ addresses }) => addresses)))].sort()).toEqual(mirrored);

    world.takeWrites();
    for (const rows of Object.values(world.rows)) rows.clear();
    world.wake();
    await world.settle(60_000);
    expect(world.takeWrites()).toEqual([]);
  },
);

function ipsOf(endpoints: Endpoints | undefined): string[] {
  const subsets = endpoints?.subsets ?? [];
  return [
    ...new Set(subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [...addresses, ...notReadyAddresses].map(({ ip }) => ip))),
  ].sort();
}

function selectedIps({ spec = {} }: Service, pods: readonly Pod[]): string[] {
  const selected = pods.filter(({ metadata }) => metadata?.labels?.app === spec.selector?.app);
  return [...new Set(selected.flatMap(({ status }) => status?.podIPs?.map(({ ip }) => ip) ?? []))].sort();
}
