/** Upstream's assertions about the repair of ClusterIPs, run against the repair controller with the real stores and owners in virtual time. */
import { describe, expect, it } from "vitest";
import type { IPAddress, Service } from "../../src/api/meta/kubernetes";
import { aService, anIPAddress, RepairWorld } from "../support/worlds/repair-world";
import { upstreamRow } from "./upstream-row";

const RANGES = ["10.0.0.0/16", "2001:db8::/64"];

interface Case {
  name: string;
  services?: readonly (readonly [name: string, clusterIPs: readonly string[]])[];
  /** [address, its Service, seconds after the Services were made] */
  addresses?: readonly (readonly [string, string, number])[];
  custom?: readonly string[];
  /** when the pass runs, in seconds after the Services were made */
  at?: number;
  /** addresses afterwards, with the Service that they refer to */
  left: Record<string, string>;
  told?: readonly string[];
}

const SVC = "default/test-svc";
const OTHER = "default/test-svc2";

const CASES: readonly Case[] = [
  {
    name: "no changes needed single stack",
    services: [["test-svc", ["10.0.1.1"]]],
    addresses: [["10.0.1.1", SVC, -1]],
    left: { "10.0.1.1": SVC },
  },
  {
    name: "no changes needed dual stack",
    services: [["test-svc", ["10.0.1.1", "2001:db8::10"]]],
    addresses: [
      ["10.0.1.1", SVC, -1],
      ["2001:db8::10", SVC, -1],
    ],
    left: { "10.0.1.1": SVC, "2001:db8::10": SVC },
  },
  {
    name: "no changes needed dual stack multiple cidrs",
    services: [["test-svc", ["192.168.0.1", "2001:db8:a:b::10"]]],
    addresses: [
      ["192.168.0.1", SVC, -1],
      ["2001:db8:a:b::10", SVC, -1],
    ],
    custom: ["192.168.0.0/24", "2001:db8:a:b::/64"],
    left: { "192.168.0.1": SVC, "2001:db8:a:b::10": SVC },
  },
  {
    name: "create IPAddress single stack",
    services: [["test-svc", ["10.0.1.1"]]],
    left: { "10.0.1.1": SVC },
    told: ["Warning ClusterIPNotAllocated Cluster IP [IPv4]: 10.0.1.1 is not allocated; repairing"],
  },
  {
    name: "create IPAddresses dual stack",
    services: [["test-svc", ["10.0.1.1", "2001:db8::10"]]],
    left: { "10.0.1.1": SVC, "2001:db8::10": SVC },
    told: [
      "Warning ClusterIPNotAllocated Cluster IP [IPv4]: 10.0.1.1 is not allocated; repairing",
      "Warning ClusterIPNotAllocated Cluster IP [IPv6]: 2001:db8::10 is not allocated; repairing",
    ],
  },
  {
    name: "create IPAddress single stack from secondary",
    services: [["test-svc", ["192.168.1.1"]]],
    custom: ["192.168.1.0/24"],
    left: { "192.168.1.1": SVC },
    told: ["Warning ClusterIPNotAllocated Cluster IP [IPv4]: 192.168.1.1 is not allocated; repairing"],
  },
  {
    name: "reconcile IPAddress single stack wrong reference",
    services: [["test-svc", ["10.0.1.1"]]],
    addresses: [["10.0.1.1", OTHER, -1]],
    left: { "10.0.1.1": SVC },
    told: ["Warning ClusterIPNotAllocated the ClusterIP [IPv4]: 10.0.1.1 for Service default/test-svc has a wrong reference; repairing"],
  },
  {
    name: "reconcile IPAddresses dual stack",
    services: [["test-svc", ["10.0.1.1", "2001:db8::10"]]],
    addresses: [
      ["10.0.1.1", OTHER, 1],
      ["2001:db8::10", OTHER, 1],
    ],
    left: { "10.0.1.1": SVC, "2001:db8::10": SVC },
    told: [
      "Warning ClusterIPNotAllocated the ClusterIP [IPv4]: 10.0.1.1 for Service default/test-svc has a wrong reference; repairing",
      "Warning ClusterIPNotAllocated the ClusterIP [IPv6]: 2001:db8::10 for Service default/test-svc has a wrong reference; repairing",
    ],
  },
  {
    name: "one IP out of range",
    services: [["test-svc", ["192.168.1.1", "2001:db8::10"]]],
    addresses: [
      ["192.168.1.1", SVC, -1],
      ["2001:db8::10", SVC, -1],
    ],
    left: { "192.168.1.1": SVC, "2001:db8::10": SVC },
    told: ["Warning ClusterIPOutOfRange Cluster IP [IPv4]: 192.168.1.1 is not within any configured Service CIDR; please recreate service"],
  },
  { name: "one IP orphan within grace period", addresses: [["10.0.1.1", SVC, 0]], left: { "10.0.1.1": SVC } },
  {
    name: "one IP orphan after grace period",
    addresses: [["10.0.1.1", SVC, 0]],
    at: 70,
    left: {},
    told: ["Warning IPAddressNotAllocated IPAddress: 10.0.1.1 for Service default/test-svc appears to have leaked: cleaning up"],
  },
  {
    name: "one IP out of range matching the network address",
    services: [["test-svc", ["10.0.0.0"]]],
    addresses: [["10.0.0.0", SVC, -1]],
    left: { "10.0.0.0": SVC },
    told: ["Warning ClusterIPOutOfRange Cluster IP [IPv4]: 10.0.0.0 is not within any configured Service CIDR; please recreate service"],
  },
  {
    name: "one IP out of range matching the broadcast address",
    services: [["test-svc", ["10.0.255.255"]]],
    addresses: [["10.0.255.255", SVC, -1]],
    left: { "10.0.255.255": SVC },
    told: [
      "Warning ClusterIPOutOfRange Cluster IP [IPv4]: 10.0.255.255 is not within any configured Service CIDR; please recreate service",
    ],
  },
  {
    name: "one IPv6 out of range matching the subnet address",
    services: [["test-svc", ["2001:db8::"]]],
    addresses: [["2001:db8::", SVC, -1]],
    left: { "2001:db8::": SVC },
    told: ["Warning ClusterIPOutOfRange Cluster IP [IPv6]: 2001:db8:: is not within any configured Service CIDR; please recreate service"],
  },
  {
    name: "one IPv6 matching the broadcast address",
    services: [["test-svc", ["2001:db8::ffff:ffff:ffff:ffff"]]],
    addresses: [["2001:db8::ffff:ffff:ffff:ffff", SVC, -1]],
    left: { "2001:db8::ffff:ffff:ffff:ffff": SVC },
  },
  {
    name: "one IP orphan matching the broadcast address within grace period",
    addresses: [["10.0.255.255", SVC, 0]],
    left: { "10.0.255.255": SVC },
  },
  {
    name: "one IP orphan matching the broadcast address after grace period",
    addresses: [["10.0.255.255", SVC, 0]],
    at: 90,
    left: {},
    told: ["Warning IPAddressNotAllocated IPAddress: 10.0.255.255 for Service default/test-svc appears to have leaked: cleaning up"],
  },
  {
    name: "Two IPAddresses referencing the same service",
    services: [["test-svc", ["10.0.1.1"]]],
    addresses: [
      ["10.0.1.1", SVC, -1],
      ["10.0.1.2", SVC, -1],
    ],
    left: { "10.0.1.1": SVC },
    told: ["Warning IPAddressWrongReference IPAddress: 10.0.1.2 for Service default/test-svc has a wrong reference; cleaning up"],
  },
  {
    name: "Two IPAddresses referencing the same service when service create is called again and ip address is in grace period",
    services: [["test-svc", ["10.0.1.1"]]],
    addresses: [
      ["10.0.1.1", SVC, -1],
      ["10.0.1.2", SVC, 1],
    ],
    at: 2,
    left: { "10.0.1.1": SVC, "10.0.1.2": SVC },
  },
  {
    name: "Two IPAddresses referencing the same service when service create is called again and ip address is not in grace period",
    services: [["test-svc", ["10.0.1.1"]]],
    addresses: [
      ["10.0.1.1", SVC, -1],
      ["10.0.1.2", SVC, 1],
    ],
    at: 9,
    left: { "10.0.1.1": SVC },
    told: ["Warning IPAddressWrongReference IPAddress: 10.0.1.2 for Service default/test-svc has a wrong reference; cleaning up"],
  },
  {
    name: "Two Services with same ClusterIP",
    services: [
      ["test-svc", ["10.0.1.1"]],
      ["test-svc2", ["10.0.1.1"]],
    ],
    addresses: [["10.0.1.1", OTHER, -1]],
    left: { "10.0.1.1": OTHER },
    told: ["Warning ClusterIPAlreadyAllocated Cluster IP [IPv4]:10.0.1.1 was assigned to multiple services; please recreate service"],
  },
];

upstreamRow("TestRepairServiceIP", () => {
  it.each(CASES)("$name: the expected addresses and events", async ({ services = [], addresses = [], custom, at = 0, left, told = [] }) => {
    const world = await RepairWorld.of(RANGES, ["IPv4", "IPv6"]);
    if (custom) await world.createRange("custom", ...custom);
    const made = Math.ceil(world.now / 1000) * 1000 + 2_000;
    await world.plant("services", ...services.map(([name, clusterIPs]): Service => aService(name, clusterIPs, made)));
    await world.plant(
      "ipaddresses",
      ...addresses.map(([name, parent, after]): IPAddress => anIPAddress(name, parent, made + after * 1000)),
    );
    await world.cluster.scheduler.pass(made + at * 1000 - world.now);
    await world.pass();
    expect(world.parents()).toEqual(left);
    expect(world.told()).toEqual(told);
    const before = world.cluster.network.calls;
    await world.pass();
    expect(world.told(), "a second pass reports nothing more").toEqual(told);
    expect(world.cluster.network.calls - before, "a second pass asks only for changes").toBeLessThan(20);
  });
});

const LABELS = { "ipaddress.kubernetes.io/ip-family": "IPv6", "ipaddress.kubernetes.io/managed-by": "controller-foo" };
const GATEWAY = { group: "networking.gateway.k8s.io", resource: "gateway" };

upstreamRow("TestRepairIPAddress_syncIPAddress", () => {
  it.each([
    { name: "correct ipv4 address", address: "10.0.1.1", stays: true },
    { name: "correct ipv6 address", address: "2001:db8::11", stays: true },
    { name: "not managed by this controller", address: "2001:db8::11", foreign: true, stays: true },
    { name: "out of range", address: "fd00:db8::11", stays: true },
    { name: "leaked ip", address: "10.0.1.1", service: "noexist", at: 90, stays: false },
  ])("$name: stays $stays", async ({ address, foreign = false, service = "foo", at = 0, stays }) => {
    const world = await RepairWorld.of(RANGES, ["IPv4", "IPv6"]);
    const made = world.now;
    // A Service at the address of another controller's IPAddress is another case.
    if (!foreign) await world.plant("services", aService("foo", [address], made));
    await world.plant(
      "ipaddresses",
      anIPAddress(address, `default/${service}`, made, foreign ? { labels: LABELS, parentRef: GATEWAY } : {}),
    );
    await world.wait(at * 1000);
    await world.pass();
    if (stays) expect(Object.keys(world.parents())).toEqual([address]);
    else expect(world.parents()[address]).not.toBe(`default/${service}`);
  });

  it("the IPAddress of a Service that became ExternalName: kept for 60 s", async () => {
    const world = await RepairWorld.of(RANGES, ["IPv4", "IPv6"]);
    await world.plant("services", aService("foo", [], world.now, { type: "ExternalName", externalName: "example.com" }));
    await world.plant("ipaddresses", anIPAddress("10.0.1.1", "default/foo", world.now));
    await world.pass();
    await world.wait(58_000);
    expect(Object.keys(world.parents())).toEqual(["10.0.1.1"]);
    await world.wait(5_000);
    expect(world.parents()).toEqual({});
    expect(world.told()).toEqual([
      "Warning IPAddressWrongReference IPAddress: 10.0.1.1 for Service default/foo has a wrong reference; cleaning up",
    ]);
  });
});

upstreamRow("TestRepairIPAddress_runOnce", () => {
  it.each(["services.makeWhole", "ipaddresses.objectsNamed", "ranges", "services.objectsAfter"])(
    "a pass that fails at %s: counted, repeated, and nothing is lost",
    async (call) => {
      const world = await RepairWorld.of(RANGES, ["IPv4", "IPv6"]);
      await world.plant("services", aService("test-svc", ["10.0.1.1"], world.now));
      let left = 2;
      world.fails = (made) => made === call && left-- > 0;
      for (let attempt = 0; attempt < 2; attempt++) await expect(world.pass()).rejects.toThrow(`${call} failed`);
      await world.pass();
      expect(world.parents()).toEqual({ "10.0.1.1": "default/test-svc" });
      expect(world.storage.countsLoad()).toEqual({ ipErrors: { repair: 1 }, reconcileErrors: 2 });
    },
  );

  it("a leaked IPAddress whose Service cannot be read: stays, with an event, until the Service is read", async () => {
    const world = await RepairWorld.of(RANGES, ["IPv4", "IPv6"]);
    await world.plant("ipaddresses", anIPAddress("10.0.1.1", SVC, world.now - 90_000));
    let reads = 0;
    // The first read finds no Service; the second one, before the deletion, fails.
    world.fails = (call) => call === "services.objectsNamed" && ++reads === 2;
    await expect(world.pass()).rejects.toThrow("services.objectsNamed failed");
    expect(Object.keys(world.parents())).toEqual(["10.0.1.1"]);
    await world.pass();
    expect([world.parents(), world.told()]).toEqual([
      {},
      [
        "Warning UnknownError Unable to get parent Service for IPAddress 10.0.1.1 due to an unknown error",
        "Warning IPAddressNotAllocated IPAddress: 10.0.1.1 for Service default/test-svc appears to have leaked: cleaning up",
      ],
    ]);
    expect(world.storage.countsLoad()).toEqual({ ipErrors: { unknown: 1, leak: 1 }, reconcileErrors: 1 });
  });
});

upstreamRow("TestRepairLeak, TestRepairWithExisting (+DualStack)", () => {
  it("Services without rows, out of range and doubled: two rows are made, so 252 of 254 addresses stay free", async () => {
    const world = await RepairWorld.of(["192.168.1.0/24"]);
    const made = world.now;
    await world.plant(
      "services",
      aService("one", ["192.168.1.1"], made),
      aService("two", ["192.168.1.100"], made),
      aService("three", ["192.168.1.1"], made),
      aService("four", ["192.168.0.1"], made),
      aService("five", [], made, { type: "ExternalName", externalName: "example.com" }),
      aService("six", ["None"], made),
    );
    await world.pass();
    expect(Object.keys(world.parents()).sort()).toEqual(["192.168.1.1", "192.168.1.100"]);
    expect(await world.rows()).toEqual({ "192.168.1.1": "service", "192.168.1.100": "service" });
    const { ipErrors } = world.storage.countsLoad();
    expect(ipErrors).toMatchObject({ repair: 2, outOfRange: 1 });
    await world.wait(10_000);
    await world.pass();
    expect(
      world.reported.filter(({ reason }) => reason === "ClusterIPAlreadyAllocated").map(({ regarding }) => regarding.name),
    ).toHaveLength(1);
    expect(world.services().map(({ spec }) => spec?.clusterIP)).toContain("192.168.1.1");
  });

  describe("a leak", () => {
    it("of an IPAddress: its address becomes free", async () => {
      const world = await RepairWorld.of(["192.168.1.0/29"]);
      const made = await world.create("ipaddresses", anIPAddress("192.168.1.3", "default/gone", world.now));
      expect(made.ok).toBe(true);
      expect(await world.rows()).toEqual({ "192.168.1.3": "ipaddress" });
      await world.pass();
      await world.wait(75_000);
      expect([world.parents(), await world.rows()]).toEqual([{}, {}]);
    });
  });
});
