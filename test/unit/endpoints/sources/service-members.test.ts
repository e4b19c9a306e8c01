import { describe, expect, it } from "vitest";
import type { Pod, Service } from "../../../../src/api/meta/kubernetes";
import { keyOf } from "../../../../src/api/meta/object-key";
import { planSlices } from "../../../../src/endpoints/slices/plan-slices";
import { nodeFacts } from "../../../../src/endpoints/sources/node-facts";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { ServiceMembers } from "../../../../src/endpoints/sources/service-members";
import { hasPods, selects } from "../../../../src/endpoints/sources/service-pods";
import { pick, seededRandom } from "../../../support/sim/seeded-random";
import { aNode, aPod, aService, type PodOptions } from "../../../support/worlds/slice-world";

function members(): ServiceMembers {
  const found = new ServiceMembers();
  found.putService(aService({ selector: { app: "a" } }, { name: "a" }));
  found.putService(aService({ selector: { app: "b", tier: "web" } }, { name: "b" }));
  found.putService(aService({ selector: undefined }, { name: "none" }));
  found.putNode("n1", { zone: "z1" });
  found.putPod(podFacts(aPod({ name: "p", labels: { app: "a" } })));
  found.takeDue();
  return found;
}

describe("Services that need a look", () => {
  const put = (options: PodOptions) => (world: ServiceMembers) => world.putPod(podFacts(aPod(options)));
  it.each<[string, (world: ServiceMembers) => void, string[]]>([
    ["nothing", () => undefined, []],
    ["a Service is written", (world) => world.putService(aService({ selector: { app: "a" } }, { name: "a" })), ["ns/a"]],
    ["a Service without selector is written", (world) => world.putService(aService({ selector: {} }, { name: "none" })), ["ns/none"]],
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
    expect(world.takeDue().sort()).toEqual(want);
    expect(world.takeDue()).toEqual([]);
  });

  it("a Node that comes after its Pods: the Services of those Pods", () => {
    const world = members();
    world.putPod(podFacts(aPod({ name: "q", labels: { app: "a" }, nodeName: "late" })));
    world.takeDue();
    world.putNode("late", { zone: "" });
    expect(world.takeDue()).toEqual(["ns/a"]);
  });
});

it("100 random histories: Pods of each Service as a search finds them; a Service that is not due has the same wanted slices as before", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = seededRandom(seed);
    const world = new ServiceMembers();
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
        else world.putNode(node, nodeFacts(aNode(node, pick(random, ["z1", "z2"]))));
      } else {
        const labels = pick<Record<string, string>>(random, [{}, { app: "a" }, { app: "b", tier: "web" }, { app: "a", tier: "web" }]);
        const pod = aPod({ name, labels, ready: random.below(2) === 0, nodeName: pick(random, ["n1", "n2"]) });
        const moved = { ...pod, metadata: { ...pod.metadata, namespace } };
        pods.set(key, moved);
        world.putPod(podFacts(moved));
      }
      const due = new Set(world.takeDue());
      for (const service of services.values()) {
        const at = keyOf(service);
        const found = world.podsOf(service).map((pod) => pod.name);
        const searched = [...pods.values()].map(podFacts).filter((pod) => hasPods(service) && selects(service, pod));
        expect(found.sort(), `seed ${seed}`).toEqual(searched.map((pod) => pod.name).sort());
        expect(world.service(at)).toBe(service);
        const now = plan(service);
        if (!due.has(at)) expect(now, `seed ${seed}`).toBe(wanted.get(at));
        wanted.set(at, now);
      }
    }
  }
});
