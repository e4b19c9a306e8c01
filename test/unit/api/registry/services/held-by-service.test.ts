import { expect, it } from "vitest";
import { clusterIPTextsOf, nodePortsOf, nodePortText } from "../../../../../src/api/registry/services/held-by-service";

it.each([
  ["one address", { clusterIP: "10.0.0.1" }, ["10.0.0.1"]],
  ["two addresses", { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00:0::1"] }, ["10.0.0.1", "fd00:0::1"]],
  ["headless", { clusterIP: "None", clusterIPs: ["None"] }, []],
  ["headless by the singular field", { clusterIP: "None", clusterIPs: ["10.0.0.1"] }, []],
  ["headless by the plural field", { clusterIPs: ["None"] }, []],
  ["an ExternalName that kept its fields", { type: "ExternalName", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] }, []],
  ["ExternalName", { type: "ExternalName", clusterIP: "10.0.0.1" }, []],
  ["no address yet", { clusterIP: "" }, []],
  ["a text that is no address", { clusterIP: "x" }, ["x"]],
  ["nothing", {}, []],
])("addresses of a Service, %s: as they are spelled; none without a ClusterIP", (_, spec, want) => {
  expect(clusterIPTextsOf({ spec })).toEqual(want);
});

it.each([
  ["no port", {}, []],
  ["ports without a node port", { ports: [{ protocol: "TCP" }, { nodePort: 0 }], healthCheckNodePort: 0 }, []],
  ["a port without a protocol", { ports: [{ nodePort: 30_001 }] }, ["TCP/30001"]],
  [
    "one number of two protocols",
    {
      ports: [
        { protocol: "TCP", nodePort: 30_053 },
        { protocol: "UDP", nodePort: 30_053 },
      ],
    },
    ["TCP/30053", "UDP/30053"],
  ],
  ["one number of several ports", { ports: [{ nodePort: 30_001 }, { nodePort: 30_001 }] }, ["TCP/30001"]],
  ["a node port for health checks", { ports: [{ nodePort: 30_001 }], healthCheckNodePort: 30_002 }, ["TCP/30001", "TCP/30002"]],
])("node ports of a Service, %s: each protocol and number once", (_, spec, want) => {
  expect(nodePortsOf({ spec }).map(nodePortText)).toEqual(want);
});
