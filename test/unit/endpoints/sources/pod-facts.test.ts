import { describe, expect, it } from "vitest";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { aPod } from "../../../support/worlds/slice-world";

describe("podFacts", () => {
  it("a Pod without anything: empty facts", () => {
    expect(podFacts({})).toEqual({
      namespace: "",
      name: "",
      uid: "",
      labels: {},
      ips: [],
      refusedIps: [],
      nodeName: "",
      hostname: "",
      subdomain: "",
      ready: false,
      readyAt: 0,
      terminating: false,
      finished: false,
      ports: [],
    });
  });

  it("a Pod in full: its facts", () => {
    const pod = aPod({
      ips: ["10.0.0.1", "FD00::0:1"],
      readyAt: "2026-01-01T00:00:05Z",
      terminating: true,
      hostname: "h",
      subdomain: "s",
      ports: [
        { name: "http", containerPort: 8080 },
        { name: "dns", protocol: "UDP", containerPort: 53 },
      ],
      sidecarPorts: [{ name: "mesh", containerPort: 15001 }],
      initPorts: [{ name: "never", containerPort: 1 }],
    });
    expect(podFacts(pod)).toMatchObject({
      name: "p",
      uid: "uid of p",
      ips: ["10.0.0.1", "fd00::1"],
      refusedIps: [],
      nodeName: "n1",
      ready: true,
      readyAt: Date.parse("2026-01-01T00:00:05Z"),
      terminating: true,
      finished: false,
      hostname: "h",
      subdomain: "s",
      ports: [
        { name: "http", protocol: "TCP", port: 8080 },
        { name: "dns", protocol: "UDP", port: 53 },
        { name: "mesh", protocol: "TCP", port: 15001 },
      ],
    });
  });

  it.each([["999.1.1.1"], ["127.0.0.1"], ["169.254.1.1"], ["fe80::1"], ["0.0.0.0"], ["::"], ["::1"], ["224.0.0.1"], ["010.0.0.1"], [""]])(
    "an address %s: kept apart from those that slices take",
    (ip) => {
      expect(podFacts(aPod({ ips: ["10.0.0.1", ip] }))).toMatchObject({ ips: ["10.0.0.1"], refusedIps: [ip] });
    },
  );

  it.each([
    ["Pending", false],
    ["Running", false],
    ["Unknown", false],
    ["Succeeded", true],
    ["Failed", true],
  ])("phase %s: finished is %s", (phase, finished) => {
    expect(podFacts(aPod({ phase })).finished).toBe(finished);
  });
});
