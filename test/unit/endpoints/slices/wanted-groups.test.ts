import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { podFacts } from "../../../../src/endpoints/sources/pod-facts";
import { type WantedGroups, wantedGroups } from "../../../../src/endpoints/slices/wanted-groups";
import type { Family } from "../../../../src/core/net/family";
import { aPod, aService, type PodOptions } from "../../../support/worlds/slice-world";

const NODES = new Map([
  ["n1", { zone: "z1" }],
  ["n2", { zone: "" }],
]);

function wanted(service: Service, options: PodOptions[], family: Family = "IPv4"): WantedGroups {
  const pods = options.map((one, i) => podFacts(aPod({ name: `p${i}`, ...one })));
  return wantedGroups(service, pods, NODES, family);
}

/** Each group as `ports: addresses`. */
function lines({ groups }: WantedGroups): string[] {
  return [...groups.values()].map(({ ports, endpoints }) => {
    const numbers = ports.map(({ name, port }) => `${name ?? ""}=${port ?? ""}`).join();
    return `${numbers}: ${[...endpoints.values()].map(({ addresses }) => addresses.join("+")).join()}`;
  });
}

describe("conditions of an endpoint", () => {
  // reference: upstream podToEndpoint
  it.each<[string, PodOptions, boolean, [boolean, boolean, boolean]]>([
    ["ready", {}, false, [true, true, false]],
    ["not ready", { ready: false }, false, [false, false, false]],
    ["not ready, published all the same", { ready: false }, true, [true, false, false]],
    ["ready, terminating", { terminating: true }, false, [false, true, true]],
    ["not ready, terminating", { ready: false, terminating: true }, false, [false, false, true]],
    ["ready, terminating, published all the same", { terminating: true }, true, [true, true, true]],
  ])(
    "a Pod that is %s: ready, serving and terminating as in the row",
    (_, pod, publishNotReadyAddresses, [ready, serving, terminating]) => {
      const [group] = wanted(aService({ publishNotReadyAddresses }), [pod]).groups.values();
      expect([...(group?.endpoints.values() ?? [])].map(({ conditions }) => conditions)).toEqual([{ ready, serving, terminating }]);
    },
  );
});

describe("wantedGroups", () => {
  it("a Pod with host name on a node in a zone: the whole endpoint", () => {
    const [group] = wanted(aService(), [{ hostname: "h", subdomain: "s" }]).groups.values();
    expect(group?.ports).toEqual([{ name: "http", protocol: "TCP", port: 8080 }]);
    expect([...(group?.endpoints.values() ?? [])]).toEqual([
      {
        addresses: ["10.0.0.1"],
        conditions: { ready: true, serving: true, terminating: false },
        hostname: "h",
        targetRef: { kind: "Pod", namespace: "ns", name: "p0", uid: "uid of p0" },
        nodeName: "n1",
        zone: "z1",
      },
    ]);
  });

  it("a node without zone: no member zone", () => {
    const [group] = wanted(aService(), [{ nodeName: "n2" }]).groups.values();
    expect([...(group?.endpoints.values() ?? [])][0]).not.toHaveProperty("zone");
  });

  const named: Service["spec"] = {
    ports: [
      { name: "http", protocol: "TCP", port: 80, targetPort: "web" },
      { name: "dns", protocol: "UDP", port: 53, targetPort: 53 },
    ],
  };
  const web = (containerPort: number): PodOptions["ports"] => [{ name: "web", containerPort }];

  it.each<[string, Service["spec"], PodOptions[], string[]]>([
    ["no Pods", {}, [], []],
    ["two Pods with one address: both", {}, [{}, {}], ["http=8080: 10.0.0.1,10.0.0.1"]],
    ["no address, finished: left out", {}, [{ ips: [] }, { phase: "Failed" }, { phase: "Succeeded" }], []],
    ["an address of the other family alone: an empty group", {}, [{ ips: ["fd00::1"] }], ["http=8080: "]],
    ["dual-stack Pods: the addresses of the family", {}, [{ ips: ["fd00::1", "10.0.0.7"] }], ["http=8080: 10.0.0.7"]],
    [
      "a named port with two numbers: two groups",
      named,
      [
        { ports: web(1), ips: ["10.0.0.1"] },
        { ports: web(2), ips: ["10.0.0.2"] },
        { ports: web(1), ips: ["10.0.0.3"] },
      ],
      ["http=1,dns=53: 10.0.0.1,10.0.0.3", "http=2,dns=53: 10.0.0.2"],
    ],
    ["a Pod without the named port: the group of its other ports", named, [{}], ["dns=53: 10.0.0.1"]],
    ["headless without ports: a group without ports", { clusterIP: "None", ports: [] }, [{}], [": 10.0.0.1"]],
    ["headless with ports: as with a cluster IP", { clusterIP: "None" }, [{}], ["http=8080: 10.0.0.1"]],
  ])("%s", (_, spec, pods, want) => {
    expect(lines(wanted(aService(spec), pods))).toEqual(want);
  });

  it("appProtocol: copied from the port of the Service", () => {
    const ports = [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080, appProtocol: "kubernetes.io/h2c" }];
    const [group] = wanted(aService({ ports }), [{}]).groups.values();
    expect(group?.ports).toEqual([{ name: "http", protocol: "TCP", port: 8080, appProtocol: "kubernetes.io/h2c" }]);
  });

  it("a Pod on a node that does not exist: left out and told, the others stay", () => {
    const found = wanted(aService(), [{ nodeName: "gone" }, { ips: ["10.0.0.2"] }]);
    expect(lines(found)).toEqual(["http=8080: 10.0.0.2"]);
    expect(found.skipped).toEqual([{ pod: "p0", reason: "nodeNotFound", detail: "skipping Pod p0 for Service ns/s: Node gone Not Found" }]);
  });

  it("a Pod on a node that does not exist, published all the same: there without zone", () => {
    const found = wanted(aService({ publishNotReadyAddresses: true }), [{ nodeName: "gone" }]);
    expect(lines(found)).toEqual(["http=8080: 10.0.0.1"]);
    expect(found.skipped).toEqual([]);
  });

  it("an address that slices refuse: left out and told in its family, the others stay", () => {
    const pods: PodOptions[] = [{ ips: ["127.0.0.1", "fd00::1"] }, { ips: ["10.0.0.2"] }];
    expect(lines(wanted(aService(), pods))).toEqual(["http=8080: 10.0.0.2"]);
    expect(wanted(aService(), pods).skipped).toEqual([
      { pod: "p0", reason: "addressRefused", detail: "skipping address 127.0.0.1 of Pod p0: no endpoint can have it" },
    ]);
    expect(wanted(aService(), pods, "IPv6").skipped).toEqual([]);
    expect(lines(wanted(aService(), pods, "IPv6"))).toEqual(["http=8080: fd00::1"]);
  });
});
