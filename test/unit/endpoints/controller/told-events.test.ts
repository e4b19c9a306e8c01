/** Every event of the endpoint controllers: type, reason, text and subject as upstream's, and how often it is told. */
import { expect, it } from "vitest";
import type { Endpoints } from "../../../../src/api/meta/kubernetes";
import { forbidden } from "../../../../src/api/meta/status";
import { endpointsDefinition } from "../../../../src/api/registry/endpoints/definition";
import { endpointSlicesDefinition } from "../../../../src/api/registry/endpoint-slices/definition";
import { EndpointWorld, type Name } from "../../../support/worlds/endpoint-world";
import { aNode, aPod, aService, ipv4 } from "../../../support/worlds/slice-world";

type Step = (world: EndpointWorld) => Promise<void>;

const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";
const QUOTA = "exceeded quota: q";
const SLICE_REFUSAL = `endpointslices.discovery.k8s.io "s-" is forbidden: ${QUOTA}`;
const ENDPOINTS_REFUSAL = `endpoints "s" is forbidden: ${QUOTA}`;

const settle: Step = (world) => world.settle();
const wake: Step = (world) => {
  world.wake();
  return world.settle();
};
const service: Step = (world) => world.putService(aService());
const pods =
  (count: number, from = 0): Step =>
  async (world) => {
    for (let i = from; i < from + count; i++) await world.putPod(aPod({ name: `p${String(i)}`, ips: [ipv4(256 + i)] }));
  };
const auto =
  (mode: string | null): Step =>
  (world) =>
    world.patch("services", "s", { metadata: { annotations: { [TOPOLOGY_MODE]: mode } } });
const relabelled =
  (value: string): Step =>
  (world) =>
    world.patch("services", "s", { metadata: { labels: { a: value } } });
const replaced: Step = async (world) => {
  await world.delete("services", "s");
  await service(world);
  await auto("Auto")(world);
};
const asleep =
  (step: Step): Step =>
  (world) => {
    world.sleep();
    return step(world);
  };
const refused =
  (call: string): Step =>
  (world) => {
    const definition = call.startsWith("endpoints ") ? endpointsDefinition : endpointSlicesDefinition;
    const status = forbidden(definition, definition === endpointsDefinition ? "s" : "s-1", QUOTA);
    world.fault = (one) => (one === call ? { ok: false, status, warnings: [] } : undefined);
    return Promise.resolve();
  };
const byHand =
  (count: number): Step =>
  async (world) => {
    await world.putService(aService({ selector: undefined }));
    const addresses = Array.from({ length: count }, (_, i) => ({ ip: ipv4(256 + i) }));
    await world.put("endpoints", {
      metadata: { namespace: "ns", name: "s" },
      subsets: [{ addresses, ports: [{ port: 80 }] }],
    } as Endpoints);
  };
const podsGo =
  (from: number, to: number): Step =>
  async (world) => {
    for (let i = from; i < to; i++) await world.delete("pods", `p${String(i)}`);
  };

it.each<[string, Name, Step[], string[]]>([
  [
    "the annotation Auto, which is honoured as off: once, also after sleep and further looks",
    "slices",
    [service, auto("Auto"), settle, relabelled("1"), settle, wake, relabelled("2")],
    ["Service Warning TopologyAwareHintsDisabled Topology Aware Hints has been disabled, addressType: IPv4"],
  ],
  [
    "the annotation Auto goes and comes again: told again",
    "slices",
    [service, auto("Auto"), settle, auto(null), settle, auto("auto")],
    Array.from({ length: 2 }, () => "Service Warning TopologyAwareHintsDisabled Topology Aware Hints has been disabled, addressType: IPv4"),
  ],
  [
    "another Service of the name with the same annotation, between two looks: told again",
    "slices",
    [service, auto("Auto"), settle, asleep(replaced), wake, relabelled("1")],
    Array.from({ length: 2 }, () => "Service Warning TopologyAwareHintsDisabled Topology Aware Hints has been disabled, addressType: IPv4"),
  ],
  [
    "a Node that is not there",
    "slices",
    [(world) => world.putPod(aPod({ name: "p", ips: [ipv4(256)], nodeName: "n2" })), service, settle, wake],
    [
      "Service Warning FailedToUpdateEndpointSlices " +
        "Error updating Endpoint Slices for Service ns/s: skipping Pod p for Service ns/s: Node n2 Not Found",
    ],
  ],
  [
    "a refused slice",
    "slices",
    [refused("endpointslices create"), service],
    [
      "Service Warning FailedToUpdateEndpointSlices " +
        `Error updating Endpoint Slices for Service ns/s: failed to create EndpointSlice for Service ns/s: ${SLICE_REFUSAL}`,
    ],
  ],
  [
    "refused new Endpoints",
    "endpoints",
    [pods(1), refused("endpoints create"), service],
    [`Endpoints Warning FailedToCreateEndpoint Failed to create endpoint for service ns/s: ${ENDPOINTS_REFUSAL}`],
  ],
  [
    "a refused update of Endpoints",
    "endpoints",
    [pods(1), service, settle, refused("endpoints update"), pods(1, 1)],
    [`Endpoints Warning FailedToUpdateEndpoint Failed to update endpoint ns/s: ${ENDPOINTS_REFUSAL}`],
  ],
  [
    "Endpoints cross 1,000 addresses, stay above, and cross again: once for each crossing, also after sleep",
    "endpoints",
    [service, pods(1_001), settle, pods(1, 1_001), settle, wake, podsGo(0, 2), settle, pods(2)],
    [1_001, 1_002].map(
      (count) =>
        `Endpoints Warning EndpointsOverCapacity ${count} addresses exceed the 1000 that Endpoints have room for; EndpointSlices have all of them`,
    ),
  ],
  [
    "more addresses by hand than are mirrored: once, also after sleep",
    "mirror",
    [byHand(1_001), settle, wake],
    [
      "Endpoints Warning TooManyAddressesToMirror " +
        "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped",
    ],
  ],
  [
    "a refused mirrored slice",
    "mirror",
    [refused("endpointslices create"), byHand(1)],
    [`Endpoints Warning FailedToUpdateEndpointSlices failed to create EndpointSlice for Endpoints ns/s: ${SLICE_REFUSAL}`],
  ],
])("%s", async (_, controller, steps, expected) => {
  const world = new EndpointWorld({ controllers: [controller] });
  await world.putNode(aNode("n1"));
  await world.settle();
  for (const step of steps) await step(world);
  await world.settle(500);
  const told = world.events.map(({ regarding, type, reason, note }) => `${regarding.kind ?? ""} ${type} ${reason} ${note}`);
  expect(told).toEqual(expected);
});

it("over capacity from the beginning: the event is about the written Endpoints, by their uid", async () => {
  const world = new EndpointWorld({ controllers: ["endpoints"] });
  await world.putNode(aNode("n1"));
  world.sleep();
  await pods(1_001)(world);
  await service(world);
  world.wake();
  await world.settle();
  const [endpoints] = world.endpoints;
  expect(endpoints?.metadata?.uid).toBeDefined();
  expect(world.events.map(({ regarding }) => regarding.uid)).toEqual([endpoints?.metadata?.uid]);
});
