/** Random histories of Pods, Nodes, the Service and strangers: after each look the slices say what the naive computation says, with few writes. */
import { expect } from "vitest";
import type { EndpointSlice, Pod } from "../../../../src/api/meta/kubernetes";
import { LABEL_MANAGED_BY, SLICE_CONTROLLER } from "../../../../src/api/meta/endpoint-keys";
import type { WordRandom } from "../../../../src/core/base/word-random";
import { endpointsOf } from "../../../../src/endpoints/slices/slice-endpoint";
import { naiveEndpoints, sliceLines } from "../../../model/naive-endpoints";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { itOfSeeds } from "../../../support/sim/platform/seeds";
import { aNode, aPod, aService, ipv4, SliceWorld } from "../../../support/worlds/slice-world";

const HISTORIES = 60;
const STEPS = 40;
const SEED = 20_261_123;
/** The last Pod of a group goes, whose slices were both emptied by hand; a slice that is copied by hand twice. */
const FOUND = [229_268_865, 229_268_539];

const isOwn = ({ metadata }: EndpointSlice): boolean => metadata?.labels?.[LABEL_MANAGED_BY] === SLICE_CONTROLLER;

function randomPod(random: WordRandom, name: string, serial: number): Pod {
  const both = [ipv4(random.below(200)), `fd00::${(1 + random.below(200)).toString(16)}`];
  return aPod({
    name,
    ips: pick(random, [both, both.slice(0, 1), both.slice(1), [], ["127.0.0.1", both[1] ?? ""]]),
    ready: random.below(4) > 0,
    nodeName: pick(random, ["n1", "n2", "n3", "gone"]),
    labels: { app: random.below(8) === 0 ? "b" : "a", serial: String(serial) },
    phase: pick(random, ["Running", "Running", "Running", "Pending", "Failed", "Succeeded"]),
    terminating: random.below(8) === 0,
    hostname: pick(random, ["", "h"]),
    subdomain: pick(random, ["", "s", "t"]),
    ports: pick(random, [[], [{ name: "web", containerPort: 8080 }], [{ name: "web", containerPort: 9090 }]]),
  });
}

type Change = (world: SliceWorld, random: WordRandom, step: number) => void;

const createPods: Change = (world, random, step) => {
  const count = random.below(2 * world.max) + 1;
  for (let i = 0; i < count; i++) world.pods.push(randomPod(random, `p${step}-${i}`, step));
};
const changePod: Change = (world, random, step) => {
  if (world.pods.length === 0) return;
  const at = random.below(world.pods.length);
  world.pods[at] = randomPod(random, world.pods[at]?.metadata?.name ?? "", step);
};
const deletePods: Change = (world, random) => {
  const share = random.below(3) + 1;
  world.pods = world.pods.filter(() => random.below(3) >= share);
};
const changeNodes: Change = (world, random) => {
  world.nodes = ["n1", "n2", "n3"].flatMap((name) => (random.below(5) === 0 ? [] : [aNode(name, pick(random, ["", "z1", "z2"]))]));
};
const changeService: Change = (world, random) => {
  const { metadata } = world.service;
  world.service = aService(
    {
      ipFamilies: pick(random, [["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv6", "IPv4"]]),
      clusterIP: pick(random, ["10.96.0.10", "None"]),
      selector: pick(random, [{ app: "a" }, { app: "a" }, { app: "b" }, { app: "nobody" }]),
      publishNotReadyAddresses: random.below(3) === 0,
      trafficDistribution: pick(random, ["", "PreferClose", "PreferSameNode"]),
      ports: pick(random, [
        [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080 }],
        [{ name: "http", protocol: "TCP", port: 80, targetPort: "web" }],
        [
          { name: "http", protocol: "TCP", port: 80, targetPort: "web" },
          { name: "dns", protocol: "UDP", port: 53, targetPort: 53 },
        ],
        [],
      ]),
    },
    { ...metadata, labels: { version: String(random.below(3)) } },
  );
};
const renewService: Change = (world, random) => {
  world.service = { ...world.service, metadata: { ...world.service.metadata, uid: `uid ${random.below(1000)}` } };
};
const meddle: Change = (world, random) => {
  const own = world.slices.filter(isOwn);
  if (own.length === 0) return;
  const victim = pick(random, own);
  const copy = `${victim.metadata?.name ?? ""}-copy`;
  // A name stands once: a copy that is made again replaces the one before.
  const rest = world.slices.filter((slice) => slice !== victim && slice.metadata?.name !== copy);
  const edited: EndpointSlice[] = pick(random, [
    [],
    [{ ...victim, endpoints: endpointsOf(victim).slice(1) }],
    [{ ...victim, endpoints: endpointsOf(victim).map((endpoint) => ({ ...endpoint, zone: "elsewhere" })) }],
    [{ ...victim, ports: [{ name: "x", protocol: "TCP", port: 1 }] }],
    [{ ...victim, metadata: { ...victim.metadata, labels: { ...victim.metadata?.labels, extra: "x" } } }],
    // a copy with the same endpoints: each stays in one of the two
    [victim, { ...victim, metadata: { ...victim.metadata, name: copy, uid: "copy" } }],
  ]);
  world.slices = [...rest, ...edited];
};

const CHANGES: readonly Change[] = [createPods, changePod, changePod, deletePods, changeNodes, changeService, renewService, meddle];
/** What touches no slice but through its endpoints, so that the number of writes has a bound. */
const ENDPOINT_CHANGES: readonly Change[] = [createPods, changePod, deletePods, changeNodes];

/** The slices that somebody has emptied, or that nothing is wanted in: they stay as long as Pods have their ports (upstream reconcileByPortMapping). */
function emptySlices({ slices }: SliceWorld): string[] {
  const empty = slices.filter((slice) => isOwn(slice) && endpointsOf(slice).length === 0);
  return empty.map(({ metadata }) => metadata?.name ?? "");
}

/** Slices that have to be written for this change: one for each lost or changed endpoint, those that the new ones fill, and empty ones that go. */
function writesMax(world: SliceWorld, before: readonly string[], after: readonly string[], emptyBefore: readonly string[]): number {
  const [had, has] = [new Set(before), new Set(after)];
  const lost = before.filter((line) => !has.has(line)).length;
  const come = after.filter((line) => !had.has(line));
  const groups = new Set(come.map((line) => line.split(" ").slice(0, 2).join(" "))).size;
  const families = world.service.spec?.ipFamilies?.length ?? 0;
  // each group may begin one slice that it does not fill; each family may get a placeholder, or lose one
  const stay = new Set(world.slices.map(({ metadata }) => metadata?.name ?? ""));
  const gone = emptyBefore.filter((name) => !stay.has(name)).length;
  return lost + Math.floor(come.length / world.max) + groups + families + gone;
}

itOfSeeds(
  "history of seed %i: union, sizes and writes hold after each look",
  { fixed: [...Array.from({ length: HISTORIES }, (_, i) => SEED + i), ...FOUND], further: 5 },
  (seed) => {
    const random = seededRandom(seed);
    const world = new SliceWorld();
    world.max = pick(random, [1, 2, 5, 10, 100]);
    world.nodes = [aNode("n1", "z1"), aNode("n2"), aNode("n3", "z2")];
    const stranger: EndpointSlice = {
      metadata: { namespace: "ns", name: "theirs", labels: { "kubernetes.io/service-name": "s" } },
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.9.9.9"] }],
    };
    world.slices = [stranger];
    const weights = CHANGES.filter(() => random.below(4) > 0);

    for (let step = 0; step < STEPS; step++) {
      const change = pick(random, weights.length > 0 ? weights : CHANGES);
      change(world, random, step);
      const before = sliceLines(world.slices.filter(isOwn));
      const slicesBefore = world.slices.length;
      const emptyBefore = emptySlices(world);
      const { writes, plan } = world.sync();
      const own = world.slices.filter(isOwn);
      const after = sliceLines(own);

      expect(after).toEqual(naiveEndpoints(world.service, world.pods, world.nodes));
      for (const slice of own) expect(endpointsOf(slice).length).toBeLessThanOrEqual(world.max);
      for (const family of world.service.spec?.ipFamilies ?? []) {
        const slices = own.filter(({ addressType }) => addressType === family);
        expect(slices.length).toBeGreaterThan(0);
        const counts = plan.families.find((one) => one.family === family)?.counts;
        expect(counts?.slices).toBe(slices.length);
        expect(counts?.endpoints).toBe(slices.reduce((sum, slice) => sum + endpointsOf(slice).length, 0));
      }
      expect(world.slices[0]).toBe(stranger);

      const count = writes.split("/").reduce((sum, text) => sum + Number(text), 0);
      expect(count).toBeLessThanOrEqual(slicesBefore + own.length);
      if (ENDPOINT_CHANGES.includes(change)) expect(count).toBeLessThanOrEqual(writesMax(world, before, after, emptyBefore));
      expect(world.sync().writes).toBe("0/0/0");
    }
  },
);
