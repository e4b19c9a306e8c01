import { expect, it } from "vitest";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { targetPortOf } from "../../../../src/endpoints/sources/target-port";
import { aPod } from "../../../support/worlds/slice-world";

const pod = podFacts(
  aPod({
    ports: [
      { name: "dns", protocol: "UDP", containerPort: 53 },
      { name: "dns", containerPort: 5353 },
      { name: "http", containerPort: 8080 },
    ],
    sidecarPorts: [
      { name: "http", containerPort: 15080 },
      { name: "mesh", containerPort: 15001 },
    ],
    initPorts: [{ name: "setup", containerPort: 1 }],
  }),
);

it.each<[string, string | number | undefined, string | undefined, number | undefined]>([
  ["a number", 8443, "TCP", 8443],
  ["nothing, as upstream before defaulting", undefined, "TCP", 0],
  ["a name", "http", "TCP", 8080],
  ["a name of the other protocol", "http", "UDP", undefined],
  ["a name with two protocols, TCP", "dns", "TCP", 5353],
  ["a name with two protocols, UDP", "dns", "UDP", 53],
  ["a name without protocol", "dns", undefined, 5353],
  ["a sidecar's name", "mesh", "TCP", 15001],
  ["a name of an init container that ends", "setup", "TCP", undefined],
  ["a name that nobody has", "grpc", "TCP", undefined],
  ["digits as a text: a name", "8080", "TCP", undefined],
])("a target port that is %s: the number of the row", (_, targetPort, protocol, want) => {
  expect(targetPortOf(pod, { port: 80, targetPort, protocol })).toBe(want);
});
