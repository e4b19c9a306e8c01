import { expect, it } from "vitest";
import { clusterIPTextsOf, nodePortsOf, nodePortText } from "../../../../../src/api/registry/services/held-by-service";

it.each([
  ["one address", { clusterIP: "10.0.0.1" }, ["10.0.0.1"]],
  ["two, as they are spelled", { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00:0::1"] }, ["10.0.0.1", "fd00:0::1"]],
  ["headless", { clusterIP: "None", clusterIPs: ["None"] }, []],
  ["headless by the singular field", { clusterIP: "None", clusterIPs: ["10.0.0.1"] }, []],
  ["headless by the plural field", { clusterIPs: ["None"] }, []],
  ["an ExternalName that kept its fields", { type: "ExternalName", clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"] }, []],
  ["ExternalName", { type: "ExternalName", clusterIP: "10.0.0.1" }, []],
  ["no address yet", { clusterIP: "" }, []],
  ["no address at all", { clusterIP: "x" }, ["x"]],
  ["nothing", {}, []],
])("the addresses of a Service: %s", (_, spec, want) => {
  expect(clusterIPTextsOf({ spec })).toEqual(want);
});

it.each([
  ["none", {}, []],
  ["ports without one", { ports: [{ protocol: "TCP" }, { nodePort: 0 }], healthCheckNodePort: 0 }, []],
  ["TCP unless it is told", { ports: [{ nodePort: 30_001 }] }, ["TCP/30001"]],
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
  ["one of several ports, once", { ports: [{ nodePort: 30_001 }, { nodePort: 30_001 }] }, ["TCP/30001"]],
  ["that for health checks", { ports: [{ nodePort: 30_001 }], healthCheckNodePort: 30_002 }, ["TCP/30001", "TCP/30002"]],
])("the node ports of a Service: %s", (_, spec, want) => {
  expect(nodePortsOf({ spec }).map(nodePortText)).toEqual(want);
});
