import { expect, it } from "vitest";
import { addressesOf } from "../../../src/check/objects";
import { observedIPAddress, observedService } from "../../../src/check/observed";
import { ipAddress } from "../../support/checked-cluster";

it("keeps of a Service what judgements need, and nothing else", () => {
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
  });
});

it("keeps of an IPAddress what judgements need", () => {
  const object = ipAddress("10.0.0.1", "web");
  expect(observedIPAddress({ ...object, metadata: { ...object.metadata, resourceVersion: "5" } })).toEqual({
    ...object,
    metadata: { ...object.metadata, namespace: "" },
  });
});

it.each([
  ["one address", { clusterIP: "10.0.0.1" }, ["10.0.0.1"]],
  ["two", { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00:0::1"] }, ["10.0.0.1", "fd00::1"]],
  ["headless", { clusterIP: "None", clusterIPs: ["None"] }, []],
  ["ExternalName", { type: "ExternalName", clusterIP: "10.0.0.1" }, []],
  ["no address yet", { clusterIP: "" }, []],
  ["no address at all", { clusterIP: "x" }, ["x"]],
])("the addresses of a Service: %s", (_, spec, expected) => {
  expect(addressesOf({ spec })).toEqual(expected);
});
