/**
 * The events of the controllers of Services' addresses, each provoked by a state or a failing write, with its metric. The list is
 * upstream's: repairip.go, repair.go of the old allocator, and the two controllers of ServiceCIDRs.
 */
import { describe, expect, it } from "vitest";
import type { EventReport } from "../../src/api/events/event-recorder";
import { CoordinatorWorld } from "../support/worlds/coordinator-world";
import { aService, anIPAddress, RepairWorld } from "../support/worlds/repair-world";
import { NO_FAULTS } from "../support/sim/platform/network";

const RANGES = ["10.0.0.0/16", "2001:db8::/64"];
const IP = "10.0.1.1";
/** age of Services and IPAddresses: longer than every grace */
const AGE_MS = 300_000;

type Told = Pick<EventReport, "type" | "reason" | "action" | "note"> & { about: string };

function told(reports: readonly EventReport[]): Told[] {
  return reports.map(({ type, reason, action, note, regarding }) => {
    return { type, reason, action, note, about: `${regarding.kind ?? ""} ${regarding.name ?? ""}` };
  });
}

interface Case {
  rule: string;
  /** [name, its addresses] */
  services?: readonly (readonly [string, readonly string[]])[];
  /** [address, the Service that it refers to, other members of its parentRef] */
  addresses?: readonly (readonly [string, string, object?])[];
  /** the services store reaches no peer during `makeWhole` */
  unreachable?: boolean;
  /** the old allocator */
  legacy?: boolean;
  about: string;
  event: readonly [reason: string, action: string, note: string];
  /** type of apiserver_clusterip_repair_ip_errors_total */
  counted: string;
}

const WEB = [["web", [IP]]] as const;
const ofIP = "IPAddressAllocation";
const ofService = "ClusterIPAllocation";

const CASES: readonly Case[] = [
  {
    rule: "the ClusterIP is no address",
    services: [["web", ["10.0.1.256"]]],
    about: "Service web",
    event: ["ClusterIPNotValid", "ClusterIPValidation", "Cluster IP <nil> is not a valid IP; please recreate Service"],
    counted: "invalid",
  },
  {
    rule: "the ClusterIP is in no ServiceCIDR",
    services: [["web", ["192.168.1.1"]]],
    addresses: [["192.168.1.1", "default/web"]],
    about: "Service web",
    event: [
      "ClusterIPOutOfRange",
      ofService,
      "Cluster IP [IPv4]: 192.168.1.1 is not within any configured Service CIDR; please recreate service",
    ],
    counted: "outOfRange",
  },
  {
    rule: "its IPAddress is missing",
    services: WEB,
    about: "Service web",
    event: ["ClusterIPNotAllocated", ofService, `Cluster IP [IPv4]: ${IP} is not allocated; repairing`],
    counted: "repair",
  },
  {
    rule: "nobody can tell whether it is held",
    services: WEB,
    unreachable: true,
    about: "Service web",
    event: ["UnknownError", ofService, `Unable to allocate ClusterIP [IPv4]: ${IP} due to an unknown error`],
    counted: "unknown",
  },
  {
    rule: "its IPAddress refers to something else",
    services: WEB,
    addresses: [[IP, "default/web", { group: "example.com", resource: "foos" }]],
    about: "Service web",
    event: ["ClusterIPNotAllocated", ofService, `the ClusterIP [IPv4]: ${IP} for Service default/web has a wrong reference; repairing`],
    counted: "repair",
  },
  {
    rule: "two Services have it",
    services: [...WEB, ["two", [IP]]],
    addresses: [[IP, "default/web"]],
    about: "Service two",
    event: ["ClusterIPAlreadyAllocated", ofService, `Cluster IP [IPv4]:${IP} was assigned to multiple services; please recreate service`],
    counted: "duplicate",
  },
  {
    rule: "an IPAddress of the allocator refers to no Service",
    addresses: [[IP, "default/web", { group: "example.com", resource: "foos" }]],
    about: `IPAddress ${IP}`,
    event: [
      "IPAddressNotAllocated",
      ofIP,
      `IPAddress ${IP} appears to have been modified, not referencing a Service ` +
        "&ParentReference{Group:example.com,Resource:foos,Namespace:default,Name:web,}: cleaning up",
    ],
    counted: "leak",
  },
  {
    rule: "its Service is gone",
    addresses: [[IP, "default/web"]],
    about: `IPAddress ${IP}`,
    event: ["IPAddressNotAllocated", ofIP, `IPAddress: ${IP} for Service default/web appears to have leaked: cleaning up`],
    counted: "leak",
  },
  {
    rule: "its Service has another address",
    services: WEB,
    addresses: [
      [IP, "default/web"],
      ["10.0.1.2", "default/web"],
    ],
    about: "IPAddress 10.0.1.2",
    event: ["IPAddressWrongReference", ofIP, "IPAddress: 10.0.1.2 for Service default/web has a wrong reference; cleaning up"],
    counted: "leak",
  },
  {
    rule: "the old allocator: the ClusterIP is no address",
    legacy: true,
    services: [["web", ["10.0.1.256"]]],
    about: "Service web",
    event: ["ClusterIPNotValid", "ClusterIPValidation", "Cluster IP <nil> is not a valid IP; please recreate service"],
    counted: "invalid",
  },
  {
    rule: "the old allocator: of a family that is no longer configured",
    legacy: true,
    services: [["web", ["2001:db8:1::9"]]],
    about: "Service web",
    event: [
      "ClusterIPNotValid",
      "ClusterIPValidation",
      "Cluster IP 2001:db8:1::9(IPv6) is of ip family that is no longer configured on cluster; please recreate service",
    ],
    counted: "invalid",
  },
  {
    rule: "the old allocator: not allocated",
    legacy: true,
    services: WEB,
    about: "Service web",
    event: ["ClusterIPNotAllocated", ofService, `Cluster IP [IPv4]:${IP} is not allocated; repairing`],
    counted: "repair",
  },
  {
    rule: "the old allocator: two Services have it",
    legacy: true,
    services: [...WEB, ["two", [IP]]],
    addresses: [[IP, "default/web"]],
    about: "Service two",
    event: ["ClusterIPAlreadyAllocated", ofService, `Cluster IP [IPv4]:${IP} was assigned to multiple services; please recreate service`],
    counted: "duplicate",
  },
  {
    rule: "the old allocator: out of range",
    legacy: true,
    services: [["web", ["192.168.1.1"]]],
    about: "Service web",
    event: [
      "ClusterIPOutOfRange",
      ofService,
      "Cluster IP [IPv4]:192.168.1.1 is not within the service CIDR 10.0.0.0/16; please recreate service",
    ],
    counted: "outOfRange",
  },
  {
    rule: "the old allocator: nobody can tell",
    legacy: true,
    services: WEB,
    unreachable: true,
    about: "Service web",
    event: ["UnknownError", ofService, `Unable to allocate cluster IP [IPv4]:${IP} due to an unknown error`],
    counted: "unknown",
  },
];

describe("repair", () => {
  it.each(CASES)(
    "$rule: $event.0, counted as $counted",
    async ({ services = [], addresses = [], unreachable, legacy, about, event, counted }) => {
      const world = await RepairWorld.of(RANGES, ["IPv4", "IPv6"]);
      if (legacy) world.runUnder({ serviceRanges: ["10.0.0.0/16"], onlyRanges: ["10.0.0.0/16"] });
      const made = world.now - AGE_MS;
      await world.plant("services", ...services.map(([name, ips]) => aService(name, ips, made)));
      await world.plant(
        "ipaddresses",
        ...addresses.map(([name, parent, parentRef = {}]) => anIPAddress(name, parent, made - AGE_MS, { parentRef })),
      );
      const { network } = world.cluster;
      world.fails = (call) => {
        network.faults = NO_FAULTS;
        // The calls that follow from this one fail, not this one.
        if (unreachable && call === "services.makeWhole") queueMicrotask(() => (network.faults = { ...NO_FAULTS, lost: 1 }));
        return false;
      };
      await world.pass();
      const [reason, action, note] = event;
      expect(told(world.reported)).toEqual([{ type: "Warning", reason, action, note, about }]);
      expect(world.storage.countsLoad()).toEqual({ ipErrors: { [counted]: 1 }, reconcileErrors: 0 });
    },
  );
});

describe("ServiceCIDRs", () => {
  const V4 = "10.96.0.0/16";
  const V6 = "fd00:10:96::/112";

  /** A server with these ranges on the storage of another one. With `refuses` its store commits no write of its own. */
  async function visited(before: CoordinatorWorld | undefined, ranges: string[], refuses = ""): Promise<CoordinatorWorld> {
    const world = new CoordinatorWorld({ ranges });
    if (before) world.storage.contents = before.storage.contents;
    world.refuses = refuses;
    await world.run(world.coordinator.readyTopology(1_000));
    await world.run(world.coordinator.maintain());
    return world;
  }

  /** A server whose ServiceCIDRs have lost their condition and whose store commits no write. */
  async function withoutConditions(...names: string[]): Promise<CoordinatorWorld> {
    const world = await visited(undefined, [V4]);
    for (const name of names) if (name !== "kubernetes") await world.run(world.create(name, ["10.7.0.0/24"]));
    await world.until(() => names.every((name) => world.readyOf(name)?.status === "True"));
    world.refuses = "disk is full";
    for (const name of names) await world.run(world.edit(name, ({ status: _, ...object }) => object));
    await world.run(world.coordinator.maintain());
    return world;
  }

  it.each<[string, () => Promise<CoordinatorWorld>, string, string, string]>([
    [
      "the default ServiceCIDR cannot be made",
      () => visited(undefined, [V4], "disk is full"),
      "kubernetes",
      "KubernetesDefaultServiceCIDRError",
      "The default ServiceCIDR can not be created",
    ],
    [
      "the default ServiceCIDR cannot get its second family",
      async () => visited(await visited(undefined, [V4]), [V4, V6], "disk is full"),
      "kubernetes",
      "KubernetesDefaultServiceCIDRError",
      `The default ServiceCIDR can not be upgraded from ${V4} to dual stack [${V4} ${V6}] : Error: disk is full`,
    ],
    [
      "the default ServiceCIDR is not the configured one",
      async () => visited(await visited(undefined, [V4]), [V6]),
      "kubernetes",
      "KubernetesDefaultServiceCIDRInconsistent",
      `The default ServiceCIDR [${V4}] does not match the controller flag configurations [${V6}]`,
    ],
    [
      "the condition of the default ServiceCIDR cannot be written",
      () => withoutConditions("kubernetes"),
      "kubernetes",
      "KubernetesDefaultServiceCIDRError",
      "The default ServiceCIDR Status can not be set to Ready=True",
    ],
    [
      "a user has set the default ServiceCIDR to not ready",
      async () => {
        const first = await visited(undefined, [V4]);
        await first.run(first.setReady("kubernetes", "False"));
        return visited(first, [V4]);
      },
      "kubernetes",
      "ByUser",
      "Configuration matches, but ",
    ],
    [
      "the condition of another ServiceCIDR cannot be written",
      () => withoutConditions("more"),
      "more",
      "KubernetesServiceCIDRError",
      "The ServiceCIDR Status can not be set to Ready=True",
    ],
  ])("%s: event and reason", async (_, provoked, name, reason, note) => {
    const world = await provoked();
    const action = name === "kubernetes" ? "DefaultServiceCIDRSync" : "ServiceCIDRSync";
    expect(told(world.reported)).toEqual([{ type: "Warning", reason, action, note, about: `ServiceCIDR ${name}` }]);
  });
});
