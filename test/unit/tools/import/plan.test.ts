import { describe, expect, it } from "vitest";
import { readDump } from "../../../../src/tools/import/dump";
import { type ClusterContent, type ImportPlan, planImport } from "../../../../src/tools/import/plan";
import type { IPAddress, Service, ServiceCIDR } from "../../../../src/api/meta/kubernetes";

const NETWORKING = "networking.k8s.io/v1";
const READY = { conditions: [{ type: "Ready", status: "True", reason: "", message: "", lastTransitionTime: "" }] };

function service(name: string, spec: Service["spec"] = {}, namespace = "shop"): Service {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec: { ports: [{ port: 80 }], ...spec } };
}
const at = (name: string, ...clusterIPs: string[]) => service(name, { clusterIP: clusterIPs[0], clusterIPs });
const cidr = (name: string, ...cidrs: string[]): ServiceCIDR => ({
  apiVersion: NETWORKING,
  kind: "ServiceCIDR",
  metadata: { name },
  spec: { cidrs },
});
function ip(name: string, resource: string, parent: string, namespace = "shop"): IPAddress {
  return {
    apiVersion: NETWORKING,
    kind: "IPAddress",
    metadata: { name },
    spec: { parentRef: { group: "", resource, namespace, name: parent } },
  };
}
const kubernetes = (...clusterIPs: string[]) => ({
  ...at("kubernetes", ...clusterIPs),
  metadata: { name: "kubernetes", namespace: "default" },
});

/** A new cluster with one range. */
const CLUSTER: ClusterContent = {
  namespaces: ["default", "shop"],
  serviceCIDRs: [{ ...cidr("kubernetes", "10.96.0.0/16"), status: READY }],
  services: [kubernetes("10.96.0.1")],
  ipAddresses: [ip("10.96.0.1", "services", "kubernetes", "default")],
};

function plan(objects: unknown[], cluster: Partial<ClusterContent> = {}): ImportPlan {
  return planImport(readDump(objects.map((value) => ({ source: "f", value }))), { ...CLUSTER, ...cluster });
}
const names = (objects: readonly { metadata?: { name?: string } }[]) => objects.map(({ metadata }) => metadata?.name);
const conflictsOf = ({ conflicts }: ImportPlan) => conflicts.map(({ object, reason, message }) => `${reason}: ${object} ${message}`);

describe("a plan without conflicts", () => {
  it("objects that the cluster lacks: created, each namespace once", () => {
    const made = plan([
      cidr("second", "10.97.0.0/24", "fd00::/112"),
      at("a", "10.96.0.10"),
      service("dual", { clusterIPs: ["10.97.0.5", "fd00::5"], ipFamilies: ["IPv4", "IPv6"] }, "new"),
      service("headless", { clusterIP: "None", clusterIPs: ["None"] }, "new"),
      service("away", { type: "ExternalName", externalName: "example.com" }),
      service("chosen", {}, "other"),
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "new", labels: { team: "x" } } },
      ip("10.96.0.10", "services", "a"),
      ip("10.96.0.77", "gateways", "g"),
    ]);
    expect(conflictsOf(made)).toEqual([]);
    expect(names(made.namespaces)).toEqual(["new", "other"]);
    expect(made.namespaces[0]?.metadata?.labels).toEqual({ team: "x" });
    expect(names(made.serviceCIDRs)).toEqual(["second"]);
    expect(made.services.map(({ label, needsPlannedRange, isOpen }) => [label, needsPlannedRange, isOpen])).toEqual([
      ["Service shop/a", false, false],
      ["Service new/dual", true, false],
      ["Service new/headless", false, false],
      ["Service shop/away", false, false],
      ["Service other/chosen", false, true],
    ]);
    expect(names(made.ipAddresses)).toEqual(["10.96.0.77"]);
  });

  it("cluster that has everything: no change", () => {
    const stored = {
      ...service("a", { clusterIPs: ["10.96.0.10"], internalTrafficPolicy: "Cluster" }),
      metadata: { name: "a", namespace: "shop", uid: "u" },
    };
    const made = plan(
      [
        cidr("kubernetes", "10.96.0.0/16"),
        kubernetes("10.96.0.1"),
        service("a", { clusterIPs: ["10.96.0.10"] }),
        ip("10.96.0.9", "gateways", "g"),
      ],
      {
        services: [...CLUSTER.services, stored],
        ipAddresses: [...CLUSTER.ipAddresses, ip("10.96.0.9", "gateways", "g")],
      },
    );
    expect(made).toMatchObject({
      namespaces: [],
      serviceCIDRs: [],
      services: [],
      ipAddresses: [],
      statuses: [],
      conflicts: [],
      notices: [],
    });
    expect(made.present).toEqual(["ServiceCIDR kubernetes", "Service default/kubernetes", "Service shop/a", "IPAddress 10.96.0.9"]);
  });

  it.each<[string, Service["spec"], boolean]>([
    ["named address", { clusterIPs: ["10.96.0.10"] }, false],
    ["no address", {}, true],
    ["two families, one address", { clusterIPs: ["10.96.0.10"], ipFamilies: ["IPv4", "IPv6"] }, true],
    ["node port named", { type: "NodePort", clusterIPs: ["10.96.0.10"], ports: [{ port: 80, nodePort: 30_080 }] }, false],
    ["node port open", { type: "NodePort", clusterIPs: ["10.96.0.10"], ports: [{ port: 80 }] }, true],
  ])("Service, %s: comes last when the server chooses an address or a port", (_, spec, isOpen) => {
    expect(plan([service("a", spec)]).services.map((planned) => planned.isOpen)).toEqual([isOpen]);
  });

  it("status of a Service: restored once", () => {
    const status = { loadBalancer: { ingress: [{ ip: "1.2.3.4" }] } };
    const balanced = { ...at("a", "10.96.0.10"), status };
    expect(names(plan([balanced]).statuses)).toEqual(["a"]);
    expect(names(plan([balanced], { services: [at("a", "10.96.0.10")] }).statuses)).toEqual(["a"]);
    expect(plan([balanced], { services: [{ ...at("a", "10.96.0.10"), status }] }).statuses).toEqual([]);
  });
});

describe("conflict", () => {
  it.each<[string, unknown[], Partial<ClusterContent>, string[]]>([
    [
      "an address that a Service of the cluster has",
      [at("a", "10.96.0.1")],
      {},
      ["AddressTaken: Service shop/a has the address 10.96.0.1, which Service default/kubernetes holds"],
    ],
    [
      "an address that something else of the cluster has",
      [at("a", "10.96.0.9")],
      { ipAddresses: [ip("10.96.0.9", "gateways", "g")] },
      ["AddressTaken: Service shop/a has the address 10.96.0.9, which gateways shop/g holds"],
    ],
    [
      "an address that another Service of the dump has",
      [at("a", "10.96.0.9"), at("b", "10.96.0.9")],
      {},
      ["AddressTaken: Service shop/b has the address 10.96.0.9, which Service shop/a holds"],
    ],
    [
      "the same IPv6 address in another form",
      [cidr("six", "fd00::/112"), at("a", "fd00::1:5"), at("b", "fd00:0::5"), at("c", "FD00::5")],
      {},
      [
        "OutOfRange: Service shop/a has the address fd00::1:5, which no ServiceCIDR gives out",
        "AddressTaken: Service shop/c has the address fd00::5, which Service shop/b holds",
      ],
    ],
    [
      "addresses outside every range, network and broadcast addresses among them",
      [cidr("b", "10.97.0.0/24"), at("a", "10.98.0.1"), at("net", "10.97.0.0"), at("all", "10.97.0.255"), at("fine", "10.97.0.254")],
      {},
      [
        "OutOfRange: Service shop/a has the address 10.98.0.1, which no ServiceCIDR gives out",
        "OutOfRange: Service shop/net has the address 10.97.0.0, which no ServiceCIDR gives out",
        "OutOfRange: Service shop/all has the address 10.97.0.255, which no ServiceCIDR gives out",
      ],
    ],
    [
      "a range that is not Ready",
      [at("a", "10.96.0.9")],
      { serviceCIDRs: [cidr("kubernetes", "10.96.0.0/16")] },
      ["OutOfRange: Service shop/a has the address 10.96.0.9, which no ServiceCIDR gives out"],
    ],
    ["a text that is no address", [at("a", "10.96.0.300")], {}, ['Invalid: Service shop/a has the address "10.96.0.300", which is none']],
    [
      "a ServiceCIDR with other ranges, and what lies in it",
      [cidr("x", "10.97.0.0/24"), at("a", "10.97.0.9")],
      { serviceCIDRs: [{ ...cidr("x", "10.98.0.0/24"), status: READY }] },
      [
        "Different: ServiceCIDR x is there with the ranges [10.98.0.0/24], not [10.97.0.0/24]",
        "OutOfRange: Service shop/a has the address 10.97.0.9, which no ServiceCIDR gives out",
      ],
    ],
    [
      "the default ServiceCIDR and Service",
      [cidr("kubernetes", "10.0.0.0/24"), kubernetes("10.0.0.1")],
      {},
      [
        "Different: ServiceCIDR kubernetes is there with the ranges [10.96.0.0/16], not [10.0.0.0/24]; the variable SERVICE_CLUSTER_IP_RANGE of the server decides",
        "Different: Service default/kubernetes has the address 10.96.0.1 here, not 10.0.0.1; the variable SERVICE_CLUSTER_IP_RANGE of the server decides",
      ],
    ],
    [
      "a Service that is there and is another one",
      [at("a", "10.96.0.9")],
      { services: [at("a", "10.96.0.10")] },
      ["Different: Service shop/a is there with other values of spec.clusterIP, spec.clusterIPs[0]"],
    ],
    [
      "node ports of one protocol, the one for health checks among them",
      [
        service("a", {
          type: "NodePort",
          clusterIPs: ["10.96.0.9"],
          ports: [
            { port: 80, nodePort: 30_080 },
            { port: 80, protocol: "UDP", nodePort: 30_080 },
          ],
        }),
        service("b", { type: "NodePort", clusterIPs: ["10.96.0.10"], ports: [{ port: 80, protocol: "UDP", nodePort: 30_080 }] }),
        service("udp", { type: "NodePort", clusterIPs: ["10.96.0.12"], ports: [{ port: 80, protocol: "UDP", nodePort: 30_081 }] }),
        service("c", { type: "LoadBalancer", clusterIPs: ["10.96.0.11"], healthCheckNodePort: 30_081, ports: [] }),
      ],
      { services: [service("old", { type: "NodePort", ports: [{ port: 1, nodePort: 30_081 }] })] },
      [
        "NodePortTaken: Service shop/b has the node port UDP/30080, which Service shop/a holds",
        "NodePortTaken: Service shop/c has the node port TCP/30081, which Service shop/old holds",
      ],
    ],
    [
      "a Service with a conflict beside others with its address",
      [at("a", "10.96.0.9", "fd00::1"), at("b", "10.96.0.9")],
      {},
      ["OutOfRange: Service shop/a has the address fd00::1, which no ServiceCIDR gives out"],
    ],
    [
      "IPAddresses of Services that do not hold them",
      [at("a", "10.96.0.9"), ip("10.96.0.9", "services", "a"), ip("10.96.0.10", "services", "a"), ip("10.96.0.11", "services", "gone")],
      {},
      [
        "Unexplained: IPAddress 10.96.0.10 belongs to Service shop/a, which does not hold it",
        "Unexplained: IPAddress 10.96.0.11 belongs to Service shop/gone, which is not there",
      ],
    ],
    [
      "IPAddresses of others that a Service holds",
      [at("a", "10.96.0.9"), ip("10.96.0.9", "gateways", "g")],
      {},
      ["AddressTaken: IPAddress 10.96.0.9 belongs to gateways shop/g, and Service shop/a holds it"],
    ],
  ])("%s: the conflicts of the row", (_, objects, cluster, want) => {
    expect(conflictsOf(plan(objects, cluster))).toEqual(want);
  });

  it("plan with a conflict: lacks the objects that the conflict names, and nothing else", () => {
    const made = plan([at("a", "10.96.0.9"), at("b", "10.96.0.9"), at("c", "10.96.0.10")]);
    expect(made.services.map(({ label }) => label)).toEqual(["Service shop/a", "Service shop/c"]);
  });
});

describe("RangeAllocations", () => {
  const allocation = (range: string, ...bytes: number[]) => ({
    apiVersion: "v1",
    kind: "RangeAllocation",
    range,
    data: btoa(String.fromCharCode(...bytes)),
  });

  it("bit without a holder, holder without a bit: a finding for each", () => {
    const made = plan([
      kubernetes("10.96.0.1"),
      at("a", "10.96.0.3"),
      at("unmarked", "10.96.0.6"),
      ip("10.96.0.4", "gateways", "g"),
      allocation("10.96.0.0/16", 0b1_1101),
    ]);
    expect(conflictsOf(made)).toEqual([
      "Unexplained: RangeAllocation 10.96.0.0/16 counts 10.96.0.5 as taken: the bit is set, and no object has the address",
    ]);
    expect(made.notices).toEqual([
      { object: "RangeAllocation 10.96.0.0/16", reason: "Warning", message: "does not count 10.96.0.6 of Service shop/unmarked as taken" },
    ]);
  });

  it("bits of addresses that the cluster holds: one notice, because the dump does not name their holders", () => {
    const here = [
      at("x", "10.96.0.3"),
      service("y", { type: "NodePort", clusterIPs: ["10.96.0.4"], ports: [{ port: 80, nodePort: 30_000 }] }),
    ];
    const cluster = {
      services: [...CLUSTER.services, ...here],
      ipAddresses: here.map((_, i) => ip(`10.96.0.${3 + i}`, "services", "xy"[i] ?? "")),
    };
    const made = plan([allocation("10.96.0.0/16", 0b1_1101), allocation("30000-32767", 0b11)], cluster);
    expect(conflictsOf(made)).toEqual([
      "Unexplained: RangeAllocation 10.96.0.0/16 counts 10.96.0.5 as taken: the bit is set, and no object has the address",
      "Unexplained: RangeAllocation 30000-32767 counts the node port 30001 as taken, which no Service has",
    ]);
    const held = (what: string, who: string, more = "") =>
      `counts ${what} as taken, which Service ${who} holds here and nothing in the dump does${more}`;
    expect(made.notices).toEqual([
      { object: "RangeAllocation 10.96.0.0/16", reason: "Warning", message: held("10.96.0.1", "default/kubernetes", ", and 2 more alike") },
      { object: "RangeAllocation 30000-32767", reason: "Warning", message: held("30000", "shop/y") },
    ]);
  });

  it.each([
    ["10.96.0.0/16", []],
    ["10.96.0.0/24", []],
    ["10.97.0.0/24", []],
    ["10.96.0.0/15", ["OutOfRange: RangeAllocation 10.96.0.0/15 has a range that no ServiceCIDR gives out"]],
    ["fd00::/112", ["OutOfRange: RangeAllocation fd00::/112 has a range that no ServiceCIDR gives out"]],
  ])("range %s: inside a ServiceCIDR of the cluster or of the dump, else a conflict", (range, want) => {
    expect(conflictsOf(plan([cidr("second", "10.97.0.0/24"), allocation(range)]))).toEqual(want);
  });

  it("RangeAllocations of node ports and unreadable ones: judged and named", () => {
    const made = plan([
      service("a", { type: "NodePort", clusterIPs: ["10.96.0.9"], ports: [{ port: 80, nodePort: 30_000 }] }),
      allocation("30000-32767", 0b11),
      allocation("10.96.0.0/30", 0b100),
    ]);
    expect(conflictsOf(made)).toEqual([
      "Unexplained: RangeAllocation 30000-32767 counts the node port 30001 as taken, which no Service has",
      "Invalid: RangeAllocation 10.96.0.0/30 cannot be read: its bit 2 is outside the range 10.96.0.0/30",
    ]);
  });
});
