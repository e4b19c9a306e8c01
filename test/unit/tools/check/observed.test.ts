import { expect, it } from "vitest";
import { addressesOf } from "../../../../src/tools/check/objects";
import { isWhole, observedIPAddress, observedNode, observedService } from "../../../../src/tools/check/observed";
import { ipAddress } from "../../../support/worlds/checked-cluster";

it("observed Service: the members that judgements need, and no others", () => {
  const whole = {
    metadata: { name: "web", namespace: "shop", uid: "1", resourceVersion: "9", annotations: { a: "b" } },
    spec: {
      type: "NodePort",
      clusterIP: "10.0.0.1",
      clusterIPs: ["10.0.0.1", "fd00::1"],
      selector: { a: "b" },
      ports: [{ port: 80, nodePort: 30001 }, { port: 81 }],
    },
  };
  expect(observedService(whole)).toEqual({
    metadata: { name: "web", namespace: "shop", uid: "1" },
    spec: { type: "NodePort", clusterIPs: ["10.0.0.1", "fd00::1"], ports: [{ nodePort: 30001 }] },
    selection: {
      selector: { a: "b" },
      families: ["IPv4"],
      publishNotReady: false,
      ports: [
        { name: "", protocol: "TCP", targetPort: 80 },
        { name: "", protocol: "TCP", targetPort: 81 },
      ],
    },
  });
  const { selector: _, ...spec } = whole.spec;
  expect(observedService({ ...whole, spec })).not.toHaveProperty("selection");
});

it("observed IPAddress: the members that judgements need", () => {
  const object = ipAddress("10.0.0.1", "web");
  expect(observedIPAddress({ ...object, metadata: { ...object.metadata, resourceVersion: "5" } })).toEqual({
    ...object,
    metadata: { ...object.metadata, namespace: "" },
  });
});

it("observed Node: the members that judgements need", () => {
  const addresses = [{ type: "InternalIP", address: "192.0.2.1" }];
  const whole = {
    metadata: { name: "a", uid: "1", annotations: { a: "b" }, labels: { "topology.kubernetes.io/zone": "z1" } },
    spec: { podCIDR: "10.244.0.0/24", podCIDRs: ["10.244.0.0/24"], taints: [] },
    status: { addresses, images: [] },
  };
  expect(observedNode(whole)).toEqual({
    metadata: { name: "a", namespace: "", uid: "1" },
    zone: "z1",
    spec: { podCIDR: "10.244.0.0/24", podCIDRs: ["10.244.0.0/24"] },
    status: { addresses },
  });
  expect(observedNode({ metadata: { name: "b" } })).toEqual({
    metadata: { name: "b", namespace: "", uid: "" },
    spec: {},
    status: { addresses: [] },
  });
});

it.each([
  ["one address", { clusterIP: "10.0.0.1" }, ["10.0.0.1"]],
  ["two", { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00:0::1"] }, ["10.0.0.1", "fd00::1"]],
  ["headless", { clusterIP: "None", clusterIPs: ["None"] }, []],
  ["ExternalName", { type: "ExternalName", clusterIP: "10.0.0.1" }, []],
  ["no address yet", { clusterIP: "" }, []],
  ["no address at all", { clusterIP: "x" }, ["x"]],
])("addresses of a Service with %s: those that it holds", (_, spec, expected) => {
  expect(addressesOf({ spec })).toEqual(expected);
});

it.each<[string, string, unknown, boolean]>([
  ["a Service", "Service", { metadata: { name: "a" }, spec: { clusterIPs: ["10.0.0.1"], ports: [{ port: 80 }] } }, true],
  ["a Service without a spec", "Service", { metadata: { name: "a" } }, true],
  ["lists that are null", "Service", { metadata: { name: "a" }, spec: { clusterIPs: null, ports: null } }, true],
  ["null", "Service", null, false],
  ["a text", "Service", "a", false],
  ["no metadata", "Service", { spec: {} }, false],
  ["no name", "Service", { metadata: {} }, false],
  ["a spec that is a text", "Service", { metadata: { name: "a" }, spec: "a" }, false],
  ["addresses that are no list", "Service", { metadata: { name: "a" }, spec: { clusterIPs: "10.0.0.1" } }, false],
  ["an address that is no text", "Service", { metadata: { name: "a" }, spec: { clusterIPs: [1] } }, false],
  ["ports that are no objects", "Service", { metadata: { name: "a" }, spec: { ports: [null] } }, false],
  ["an IPAddress", "IPAddress", { metadata: { name: "a", labels: {} }, spec: { parentRef: { resource: "services" } } }, true],
  ["a parent that is a text", "IPAddress", { metadata: { name: "a" }, spec: { parentRef: "a" } }, false],
  ["a ServiceCIDR", "ServiceCIDR", { metadata: { name: "a" }, spec: { cidrs: ["10.0.0.0/8"] }, status: { conditions: [{}] } }, true],
  ["ranges that are no list", "ServiceCIDR", { metadata: { name: "a" }, spec: { cidrs: {} } }, false],
  ["a range that is none", "ServiceCIDR", { metadata: { name: "a" }, spec: { cidrs: ["10.0.0.0/99"] } }, true],
  ["conditions that are no objects", "ServiceCIDR", { metadata: { name: "a" }, status: { conditions: [null] } }, false],
  [
    "a Node",
    "Node",
    { metadata: { name: "a" }, spec: { podCIDRs: ["10.0.0.0/24"] }, status: { addresses: [{ type: "", address: "" }] } },
    true,
  ],
  ["an address without a type", "Node", { metadata: { name: "a" }, status: { addresses: [{ address: "192.0.2.1" }] } }, false],
  ["a selector that is a list", "Service", { metadata: { name: "a" }, spec: { selector: [] } }, false],
  ["families that are no texts", "Service", { metadata: { name: "a" }, spec: { ipFamilies: [4] } }, false],
  [
    "a Pod",
    "Pod",
    {
      metadata: { name: "a", labels: {} },
      spec: { containers: [{ ports: [{ containerPort: 80 }] }], initContainers: [{}] },
      status: { podIPs: [{ ip: "10.0.0.1" }], conditions: [{ type: "Ready" }] },
    },
    true,
  ],
  ["labels that are a text", "Pod", { metadata: { name: "a", labels: "a" } }, false],
  ["a Pod's address that is no text", "Pod", { metadata: { name: "a" }, status: { podIPs: [{ ip: 1 }] } }, false],
  ["a container that is a text", "Pod", { metadata: { name: "a" }, spec: { containers: ["a"] } }, false],
  ["ports of a container that are no objects", "Pod", { metadata: { name: "a" }, spec: { containers: [{ ports: [80] }] } }, false],
  ["an EndpointSlice", "EndpointSlice", { metadata: { name: "a" }, endpoints: [{ addresses: ["10.0.0.1"] }], ports: [{}] }, true],
  ["an EndpointSlice with nulls", "EndpointSlice", { metadata: { name: "a" }, endpoints: null, ports: null }, true],
  ["an endpoint without addresses", "EndpointSlice", { metadata: { name: "a" }, endpoints: [{}] }, false],
  ["conditions that are a text", "EndpointSlice", { metadata: { name: "a" }, endpoints: [{ addresses: [], conditions: "a" }] }, false],
  ["a podCIDR that is no text", "Node", { metadata: { name: "a" }, spec: { podCIDRs: [1] } }, false],
])("whole object, %s", (_, kind, value, want) => {
  expect(isWhole(kind as "Service", value)).toBe(want);
});
