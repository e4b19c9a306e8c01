import { describe, expect, it } from "vitest";
import type { Pod, Service } from "../../../../src/api/meta/kubernetes";
import { keyOf } from "../../../../src/api/meta/object-key";
import { KeptRows } from "../../../../src/controllers/followed/kept-rows";
import { planSlices } from "../../../../src/endpoints/slices/plan-slices";
import { nodeZone } from "../../../../src/endpoints/sources/node-zone";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { type DueService, mergeDue, ServiceMembers } from "../../../../src/endpoints/sources/service-members";
import { hasPods, selects } from "../../../../src/endpoints/sources/service-pods";
import { CountingRows } from "../../../support/memory/counting-rows";
import { MemoryRowStorage } from "../../../support/memory/row-storage";
import { pick, seededRandom } from "../../../support/sim/platform/seeded-random";
import { histories, playEach, seedsOf } from "../../../support/sim/platform/seeds";
import { aNode, aPod, aService, type PodOptions } from "../../../support/worlds/slice-world";

function members(): ServiceMembers {
  const found = new ServiceMembers(new KeptRows(new MemoryRowStorage()));
  found.putService(aService({ selector: { app: "a" } }, { name: "a" }));
  found.putService(aService({ selector: { app: "b", tier: "web" } }, { name: "b" }));
  found.putService(aService({ selector: undefined }, { name: "none" }));
  found.putNode("n1", { zone: "z1" });
  found.putPod(podFacts(aPod({ name: "p", labels: { app: "a" } })));
  found.takeDue();
  return found;
}

const keysDue = (world: ServiceMembers): string[] => world.takeDue().map(({ key }) => key);

describe("Services that need a look", () => {
  const put = (options: PodOptions) => (world: ServiceMembers) => world.putPod(podFacts(aPod(options)));
  it.each<[string, (world: ServiceMembers) => unknown, string[]]>([
    ["nothing", () => undefined, []],
    ["a Service changes", (world) => world.putService(aService({ selector: { app: "x" } }, { name: "a" })), ["ns/a"]],
    ["a Service is told again", (world) => world.putService(aService({ selector: { app: "a" } }, { name: "a" })), []],
    [
      "a Service without selector changes",
      (world) => world.putService(aService({ selector: {}, ports: [] }, { name: "none" })),
      ["ns/none"],
    ],
    ["a Service goes", (world) => world.removeService("ns/a"), ["ns/a"]],
    ["a Service that never was goes", (world) => world.removeService("ns/x"), []],
    ["a Pod comes", put({ name: "q", labels: { app: "a" } }), ["ns/a"]],
    ["a Pod comes with one of two labels", put({ name: "q", labels: { app: "b" } }), []],
    ["a Pod comes with both labels", put({ name: "q", labels: { app: "b", tier: "web" } }), ["ns/b"]],
    ["a Pod is told again", put({ name: "p", labels: { app: "a" } }), []],
    ["a Pod turns unready", put({ name: "p", labels: { app: "a" }, ready: false }), ["ns/a"]],
    ["a Pod changes sides", put({ name: "p", labels: { app: "b", tier: "web" } }), ["ns/a", "ns/b"]],
    ["a Pod goes", (world) => world.removePod("ns/p"), ["ns/a"]],
    ["a Pod that never was goes", (world) => world.removePod("ns/x"), []],
    ["a Node is told again", (world) => world.putNode("n1", { zone: "z1" }), []],
    ["a Node changes its zone", (world) => world.putNode("n1", { zone: "z2" }), ["ns/a"]],
    ["a Node goes", (world) => world.removeNode("n1"), ["ns/a"]],
    ["a Node without Pods comes", (world) => world.putNode("n2", { zone: "" }), []],
  ])("%s: the Services of the row, once", (_, change, want) => {
    const world = members();
    change(world);
    expect(keysDue(world).sort()).toEqual(want);
    expect(keysDue(world)).toEqual([]);
  });

  it("a Node that comes after its Pods: the Services of those Pods", () => {
    const world = members();
    world.putPod(podFacts(aPod({ name: "q", labels: { app: "a" }, nodeName: "late" })));
    world.takeDue();
    world.putNode("late", { zone: "" });
    expect(keysDue(world)).toEqual(["ns/a"]);
  });
});

describe("1,000 Services whose selectors share labels, and one of all their Pods", () => {
  const SERVICES = 1_000;
  const POD_NAME = "statefulset.kubernetes.io/pod-name";

  it.each<[string, (i: number) => Record<string, string>]>([
    ["one for each Pod, its own label last", (i) => ({ app: "kafka", [POD_NAME]: `kafka-${i}` })],
    ["its own label first", (i) => ({ [POD_NAME]: `kafka-${i}`, app: "kafka" })],
    ["its own label between others", (i) => ({ app: "kafka", [POD_NAME]: `kafka-${i}`, tier: "data" })],
    ["two labels that are its own only together", (i) => ({ app: "kafka", row: `r${i % 32}`, column: `c${Math.floor(i / 32)}` })],
  ])("%s: the change of a Pod, or of its Node, reads the facts of the two that it touches", (_, selectorOf) => {
    const rows = new CountingRows();
    const world = new ServiceMembers(rows);
    for (let i = 0; i < SERVICES; i++) world.putService(aService({ selector: selectorOf(i) }, { name: `s${i}` }));
    world.putService(aService({ selector: { app: "kafka" } }, { name: "all" }));
    world.takeDue();
    const readBy = (change: () => unknown): unknown[] => [rows.readBy(change)[1], ...keysDue(world).sort()];
    for (let i = 0; i < SERVICES; i += 97) {
      const touched = [2, "ns/all", `ns/s${i}`];
      const put = (ready: boolean) => () =>
        world.putPod(podFacts(aPod({ name: `p${i}`, labels: { ...selectorOf(i), extra: "x" }, ready, nodeName: `n${i}` })));
      expect(readBy(put(true))).toEqual(touched);
      expect(readBy(put(false))).toEqual(touched);
      expect(readBy(() => world.putNode(`n${i}`, { zone: "z" }))).toEqual(touched);
      expect(readBy(() => world.removePod(`ns/p${i}`))).toEqual(touched);
    }
  });

  it("a Node with many Pods of one Service: its facts are read once", () => {
    const rows = new CountingRows();
    const world = new ServiceMembers(rows);
    world.putService(aService());
    for (let i = 0; i < 50; i++) world.putPod(podFacts(aPod({ name: `p${i}`, nodeName: "n1" })));
    world.takeDue();
    expect(rows.readBy(() => world.putNode("n1", { zone: "z" }))).toEqual([true, 1]);
    expect(keysDue(world)).toEqual(["ns/s"]);
  });
});

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

/** Each step: when the Service was created, when its Pods p0, p1, … turned ready (undefined = not there); the time that is told. */
type Step = [created: number, pods: (number | undefined)[], want: number | undefined];

// the cases of upstream's trigger_time_tracker_test.go
it.each<[string, Step[]]>([
  ["created without Pods", [[0, [], 0]]],
  ["created with Pods, older and newer ones", [[3, [0, 1, 5], 3]]],
  [
    "Pods are added",
    [
      [3, [3], 3],
      [3, [3, 4, 5], 4],
    ],
  ],
  [
    "older Pods are added",
    [
      [3, [0, 1, 5], 3],
      [3, [0, 1, 5, 2, 1], 1],
    ],
  ],
  [
    "Pods change",
    [
      [0, [2, 1], 0],
      [0, [5, 4], 4],
    ],
  ],
  [
    "nothing changes",
    [
      [0, [2, 1], 0],
      [0, [2, 1], undefined],
    ],
  ],
  [
    "a Pod is deleted",
    [
      [0, [2, 1], 0],
      [0, [2], undefined],
    ],
  ],
  [
    "a Pod is deleted and comes back",
    [
      [0, [2, 1], 0],
      [0, [2], undefined],
      [0, [2, 1], 1],
    ],
  ],
  [
    "the Service is created anew",
    [
      [0, [1], 0],
      [4, [1], 4],
    ],
  ],
])("the time of a change, %s: those of the row", (_, steps) => {
  const world = new ServiceMembers(new KeptRows(new MemoryRowStorage()));
  for (const [created, times, want] of steps) {
    world.putService(aService({}, { uid: `created ${created}`, creationTimestamp: at(created) }));
    for (let i = 0; i < 5; i++) {
      const second = times[i];
      if (second === undefined) world.removePod(`ns/p${i}`);
      else world.putPod(podFacts(aPod({ name: `p${i}`, readyAt: at(second) })));
    }
    const [due] = world.takeDue();
    expect(due?.changedAt).toBe(want === undefined ? undefined : Date.parse(at(want)));
  }
});

it.each<[string, (world: ServiceMembers) => unknown]>([
  ["the spec of the Service changes", (world) => world.putService(aService({ ports: [] }))],
  ["a Pod without the condition Ready comes", (world) => world.putPod(podFacts(aPod({ name: "q" })))],
  ["a Pod leaves the Service", (world) => world.putPod(podFacts(aPod({ name: "p", labels: {}, readyAt: at(9) })))],
  ["a Node comes", (world) => world.putNode("n1", { zone: "z1" })],
])("the time of a change, %s: none", (_, change) => {
  const world = new ServiceMembers(new KeptRows(new MemoryRowStorage()));
  world.putService(aService());
  world.putPod(podFacts(aPod({ name: "p", readyAt: at(1) })));
  world.takeDue();
  change(world);
  expect(world.takeDue()).toEqual([{ key: "ns/s", isNew: false, changedAt: undefined }]);
});

it("two changes before one look: the earlier time, or that of a new Service", () => {
  const due = (changedAt?: number, isNew = false): DueService => ({ key: "ns/s", isNew, changedAt });
  expect(mergeDue(due(5), due(4)).changedAt).toBe(4);
  expect(mergeDue(due(), due(4)).changedAt).toBe(4);
  expect(mergeDue(due(), due()).changedAt).toBeUndefined();
  expect(mergeDue(due(9, true), due(4))).toEqual(due(9, true));
  expect(mergeDue(due(4), due(9, true))).toEqual(due(9, true));
  expect(mergeDue(due(9, true), due(11, true)).changedAt).toBe(11);
});

it("100 random histories: Pods of each Service as a search finds them; a Service that is not due has the same wanted slices as before", () =>
  playEach(seedsOf(histories(100)), (seed) => {
    const random = seededRandom(seed);
    const world = new ServiceMembers(new KeptRows(new MemoryRowStorage()));
    const services = new Map<string, Service>();
    const pods = new Map<string, Pod>();
    const wanted = new Map<string, string>();
    const plan = (service: Service): string => {
      const all = world.podsOf(service).sort((a, b) => (a.name < b.name ? -1 : 1));
      return JSON.stringify(planSlices({ service, pods: all, nodes: world.nodes, slices: [], max: 100 }).families);
    };
    for (let step = 0; step < 30; step++) {
      const namespace = pick(random, ["ns", "other"]);
      const name = pick(random, ["x", "y", "z"]);
      const key = `${namespace}/${name}`;
      const change = random.below(6);
      if (change === 0) {
        const selector = pick<Record<string, string>>(random, [{}, { app: "a" }, { app: "a", tier: "web" }, { tier: "web", app: "b" }]);
        const service = aService({ selector, publishNotReadyAddresses: random.below(2) === 0 }, { name, namespace });
        services.set(key, service);
        world.putService(service);
      } else if (change === 1) {
        services.delete(key);
        world.removeService(key);
      } else if (change === 2) {
        pods.delete(key);
        world.removePod(key);
      } else if (change === 3) {
        const node = pick(random, ["n1", "n2"]);
        if (random.below(3) === 0) world.removeNode(node);
        else world.putNode(node, nodeZone(aNode(node, pick(random, ["z1", "z2"]))));
      } else {
        const labels = pick<Record<string, string>>(random, [{}, { app: "a" }, { app: "b", tier: "web" }, { app: "a", tier: "web" }]);
        const pod = aPod({ name, labels, ready: random.below(2) === 0, nodeName: pick(random, ["n1", "n2"]) });
        const moved = { ...pod, metadata: { ...pod.metadata, namespace } };
        pods.set(key, moved);
        world.putPod(podFacts(moved));
      }
      const due = new Set(keysDue(world));
      for (const service of services.values()) {
        const at = keyOf(service);
        const found = world.podsOf(service).map((pod) => pod.name);
        const searched = [...pods.values()].map(podFacts).filter((pod) => hasPods(service) && selects(service, pod));
        expect(found.sort()).toEqual(searched.map((pod) => pod.name).sort());
        expect(world.service(at)).toEqual(service);
        const now = plan(service);
        if (!due.has(at)) expect(now).toBe(wanted.get(at));
        wanted.set(at, now);
      }
    }
  }));
