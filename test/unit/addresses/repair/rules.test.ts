/** Each rule of upstream's repair controller: the finding and the event (repairip.go, in the order of its rules). */
import { describe, expect, it } from "vitest";
import { addressEvent, serviceEvent } from "../../../../src/addresses/repair/repair-events";
import { judgeClusterIP, judgeIPAddress, readClusterIP } from "../../../../src/addresses/repair/rules";
import type { IPAddress, Service } from "../../../../src/api/meta/kubernetes";
import { aService, anIPAddress } from "../../../support/worlds/repair-world";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const IP = "10.0.0.9";
const V6 = "2001:db8::9";
const web = aService("web", [IP], NOW - 300_000);
const other = aService("other", [IP], NOW - 300_000);
const idle = aService("idle", ["10.0.0.77"], NOW - 300_000);
const MANAGED = "ipaddress.kubernetes.io/managed-by";
const FAMILY = "ipaddress.kubernetes.io/ip-family";

const told = (reason: string, action: string, note: string) => ({ reason, action, note });
const refersTo = (parent: string, changes: Parameters<typeof anIPAddress>[3] = {}, name = IP): IPAddress =>
  anIPAddress(name, parent, NOW - 200_000, changes);
const MISSING = "Cluster IP [IPv4]: 10.0.0.9 is not allocated; repairing";
const WRONG = "the ClusterIP [IPv4]: 10.0.0.9 for Service default/web has a wrong reference; repairing";

describe("address of a Service", () => {
  it.each([
    {
      rule: "unparsable",
      address: "10.0.0.256",
      finding: "invalid",
      event: told("ClusterIPNotValid", "ClusterIPValidation", "Cluster IP <nil> is not a valid IP; please recreate Service"),
    },
    {
      rule: "in no ServiceCIDR",
      covered: false,
      object: refersTo("default/web"),
      finding: "outOfRange",
      event: told(
        "ClusterIPOutOfRange",
        "ClusterIPAllocation",
        "Cluster IP [IPv4]: 10.0.0.9 is not within any configured Service CIDR; please recreate service",
      ),
    },
    { rule: "no IPAddress", finding: "missing", event: told("ClusterIPNotAllocated", "ClusterIPAllocation", MISSING) },
    {
      rule: "no IPAddress, IPv6",
      address: V6,
      finding: "missing",
      event: told("ClusterIPNotAllocated", "ClusterIPAllocation", `Cluster IP [IPv6]: ${V6} is not allocated; repairing`),
    },
    {
      rule: "parentRef of another group",
      object: refersTo("default/web", { parentRef: { group: "example.com" } }),
      finding: "wrongReference",
      event: told("ClusterIPNotAllocated", "ClusterIPAllocation", WRONG),
    },
    {
      rule: "parentRef of another resource",
      object: refersTo("default/web", { parentRef: { resource: "gateways" } }),
      finding: "wrongReference",
      event: told("ClusterIPNotAllocated", "ClusterIPAllocation", WRONG),
    },
    {
      rule: "refers to a Service that is not there",
      object: refersTo("default/gone"),
      finding: "wrongReference",
      event: told("ClusterIPNotAllocated", "ClusterIPAllocation", WRONG),
    },
    {
      rule: "refers to a Service of the same name in another namespace",
      object: refersTo("team/web"),
      finding: "wrongReference",
      event: told("ClusterIPNotAllocated", "ClusterIPAllocation", WRONG),
    },
    {
      rule: "refers to another Service that holds it, too",
      object: refersTo("default/other"),
      finding: "duplicate",
      event: told(
        "ClusterIPAlreadyAllocated",
        "ClusterIPAllocation",
        "Cluster IP [IPv4]:10.0.0.9 was assigned to multiple services; please recreate service",
      ),
    },
    {
      rule: "refers to another Service that does not hold it",
      object: refersTo("default/idle"),
      finding: "wrongReference",
      event: told("ClusterIPNotAllocated", "ClusterIPAllocation", WRONG),
    },
    { rule: "no labels", object: refersTo("default/web", { labels: {} }), finding: "wrongLabels", event: undefined },
    {
      rule: "label of the other family",
      object: refersTo("default/web", { labels: { [FAMILY]: "IPv6", [MANAGED]: "ipallocator.k8s.io" } }),
      finding: "wrongLabels",
      event: undefined,
    },
    {
      rule: "label of another manager",
      object: refersTo("default/web", { labels: { [FAMILY]: "IPv4", [MANAGED]: "controller-foo" } }),
      finding: "wrongLabels",
      event: undefined,
    },
    { rule: "all is well", object: refersTo("default/web"), finding: "fine", event: undefined },
    {
      rule: "all is well, IPv6 in another spelling",
      address: "2001:DB8:0::9",
      object: refersTo("default/web", {}, V6),
      finding: "fine",
      event: undefined,
    },
  ])("$rule: $finding", ({ address = IP, covered = true, object, finding, event }) => {
    const ip = readClusterIP(address);
    const services = [web, other, idle];
    const found = judgeClusterIP(ip, web, {
      isCovered: () => covered,
      object: (name) => (object?.metadata?.name === name ? object : undefined),
      service: (namespace, name) => services.find(({ metadata }) => metadata?.namespace === namespace && metadata.name === name),
    });
    expect([found, serviceEvent(found, web, ip)]).toEqual([finding, event]);
  });

  it("owner or IPAddress that cannot be asked: event of an unknown error", () => {
    expect(serviceEvent("unknown", web, readClusterIP(IP))).toEqual(
      told("UnknownError", "ClusterIPAllocation", "Unable to allocate ClusterIP [IPv4]: 10.0.0.9 due to an unknown error"),
    );
  });
});

describe("IPAddress with the allocator's label", () => {
  const aged = (seconds: number, parent = "default/web", name = "10.0.0.8") => anIPAddress(name, parent, NOW - seconds * 1_000);
  const external = aService("web", [], NOW - 300_000, { type: "ExternalName", externalName: "example.com" });

  it.each<{ rule: string; object: IPAddress; service?: Service; finding: object }>([
    {
      rule: "of another manager",
      object: anIPAddress(IP, "default/gone", NOW - 300_000, { labels: { [MANAGED]: "controller-foo" } }),
      finding: { kind: "fine" },
    },
    {
      rule: "without a reference to a Service",
      object: refersTo("default/web", { parentRef: { group: "example.com" } }),
      finding: { kind: "notReferencing" },
    },
    { rule: "without its Service, 61 s old", object: aged(61), finding: { kind: "leaked" } },
    { rule: "without its Service, 60 s old", object: aged(60), finding: { kind: "young", until: NOW + 1 } },
    { rule: "without its Service, just made", object: aged(0), finding: { kind: "young", until: NOW + 60_001 } },
    { rule: "without its Service, made by a clock that is ahead", object: aged(-30), finding: { kind: "young", until: NOW + 90_001 } },
    { rule: "with the address of its Service", object: aged(3_600, "default/web", IP), service: web, finding: { kind: "fine" } },
    {
      rule: "of an ExternalName Service, 59 s old",
      object: aged(59),
      service: external,
      finding: { kind: "young", until: NOW + 1_000 },
    },
    { rule: "of an ExternalName Service, 60 s old", object: aged(60), service: external, finding: { kind: "wrongReference" } },
    { rule: "newer than its Service, 4 s old", object: aged(4), service: web, finding: { kind: "young", until: NOW + 1_000 } },
    { rule: "newer than its Service, 5 s old", object: aged(5), service: web, finding: { kind: "wrongReference" } },
    { rule: "older than its Service, which has another address", object: aged(400), service: web, finding: { kind: "wrongReference" } },
  ])("$rule: $finding.kind", ({ object, service, finding }) => {
    expect(judgeIPAddress(object, service, NOW)).toEqual(finding);
  });

  it.each([
    [
      "notReferencing",
      "IPAddressNotAllocated",
      "IPAddress 10.0.0.9 appears to have been modified, not referencing a Service " +
        "&ParentReference{Group:,Resource:services,Namespace:default,Name:web,}: cleaning up",
    ],
    ["leaked", "IPAddressNotAllocated", "IPAddress: 10.0.0.9 for Service default/web appears to have leaked: cleaning up"],
    ["wrongReference", "IPAddressWrongReference", "IPAddress: 10.0.0.9 for Service default/web has a wrong reference; cleaning up"],
    ["unknown", "UnknownError", "Unable to get parent Service for IPAddress 10.0.0.9 due to an unknown error"],
  ] as const)("%s: its event", (finding, reason, note) => {
    expect(addressEvent(finding, refersTo("default/web"))).toEqual(told(reason, "IPAddressAllocation", note));
  });
});
