import { describe, expect, it } from "vitest";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { MergedServices } from "../../../../src/endpoints/merge/merged-services";
import { type ListenerChanges, ProxyTable } from "../../../../src/clients/proxy/proxy-table";
import { prefixOf } from "../../../model/prefix-of";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { aService, aSlice, anEndpoint, type SliceEndpoint } from "../../../support/values/endpoint-objects";

const PLACES = {
  clusterIPs: { IPv4: prefixOf("127.0.0.0/8"), IPv6: prefixOf("127.6.0.0/16") },
  nodePorts: ["127.0.0.1", "::1"],
};

class World {
  readonly view = new MergedServices();
  readonly table = new ProxyTable(PLACES, "n1", seededRandom(3));

  service(name: string, spec?: Service["spec"]): void {
    this.view.putService(aService(name, spec));
  }

  slice(service: string, endpoints: SliceEndpoint[], more: Parameters<typeof aSlice>[3] = {}): void {
    this.view.putSlice(aSlice(`${service}-${more.addressType ?? "IPv4"}`, service, endpoints, more));
  }

  /** `+` opened, `-` closed, `~` changed, `!` not served */
  sync(): string[] {
    return shown(this.table.apply(this.view.sync()));
  }

  choose(listener: string): string {
    return this.table.choose(listener, { client: "c", now: 0, refused: new Set() })?.ip ?? "";
  }
}

function shown({ opened, closed, changed, unserved }: ListenerChanges): string[] {
  return [
    ...opened.map(({ key }) => `+${key}`),
    ...closed.map(({ key }) => `-${key}`),
    ...changed.map((key) => `~${key}`),
    ...unserved.map(({ service, where, reason }) => `!${service} ${where}: ${reason}`),
  ].sort();
}

const HERE = { nodeName: "n1" };
const CLUSTER_IP = "127.96.0.5:80/TCP";

describe("listeners", () => {
  it("a Service with and without endpoints: open while a connection has an endpoint", () => {
    const world = new World();
    world.service("web");
    expect(world.sync()).toEqual([`~${CLUSTER_IP}`]);
    world.slice("web", [anEndpoint("10.1.0.1")]);
    expect(world.sync()).toEqual([`+${CLUSTER_IP}`]);
    expect(world.choose(CLUSTER_IP)).toBe("10.1.0.1");
    world.slice("web", [anEndpoint("10.1.0.2", "servingLast")]);
    expect(world.sync()).toEqual([`~${CLUSTER_IP}`]);
    expect(world.choose(CLUSTER_IP)).toBe("10.1.0.2");
    world.slice("web", [anEndpoint("10.1.0.2", "notReady")]);
    expect(world.sync()).toEqual([`-${CLUSTER_IP}`]);
    expect(world.choose(CLUSTER_IP)).toBe("");
    expect(world.sync()).toEqual([]);
  });

  it("a Service that goes, or is another proxy's: its listeners close, and its flows end", () => {
    const world = new World();
    world.service("web");
    world.slice("web", [anEndpoint("10.1.0.1")]);
    world.sync();
    expect(world.table.keepsFlow(CLUSTER_IP, "10.1.0.1:8080")).toBe(true);
    world.view.deleteService(aService("web"));
    expect(world.sync()).toEqual([`-${CLUSTER_IP}`]);
    expect(world.table.keepsFlow(CLUSTER_IP, "10.1.0.1:8080")).toBe(false);
    expect([world.table.listeners, world.table.serviceCount]).toEqual([[], 0]);
  });

  it("ports, protocols and node ports: one listener each, at the places for them", () => {
    const world = new World();
    const ports = [
      { name: "http", protocol: "TCP", port: 80, nodePort: 30_080 },
      { name: "dns", protocol: "UDP", port: 53 },
      { name: "sctp", protocol: "SCTP", port: 99 },
    ];
    world.service("web", { type: "NodePort", ports });
    const portsOfSlice = ports.map(({ name, protocol }) => ({ name, protocol, port: 8_080 }));
    world.slice("web", [anEndpoint("10.1.0.1")], { ports: portsOfSlice });
    expect(world.sync()).toEqual([
      "!default/web 10.96.0.5:99/SCTP: SCTP needs the system's own proxy",
      "+127.0.0.1:30080/TCP",
      "+127.96.0.5:53/UDP",
      "+127.96.0.5:80/TCP",
    ]);
    world.slice("web", [anEndpoint("10.1.0.2")], { ports: portsOfSlice });
    expect(world.sync()).toEqual(["~127.0.0.1:30080/TCP", "~127.96.0.5:53/UDP", "~127.96.0.5:80/TCP"]);
    world.service("web", { ports: [{ name: "http", protocol: "TCP", port: 81 }] });
    expect(world.sync()).toEqual(["+127.96.0.5:81/TCP", "-127.0.0.1:30080/TCP", "-127.96.0.5:53/UDP", "-127.96.0.5:80/TCP"]);
  });

  it("a dual-stack Service: each family at its place, with its endpoints", () => {
    const world = new World();
    world.service("web", {
      type: "NodePort",
      clusterIPs: ["10.96.0.5", "fd00::9"],
      ports: [{ name: "http", protocol: "TCP", port: 80, nodePort: 30_080 }],
    });
    world.slice("web", [anEndpoint("10.1.0.1")]);
    world.slice("web", [anEndpoint("fd00:1::1")], { addressType: "IPv6" });
    expect(world.sync()).toEqual(["+127.0.0.1:30080/TCP", "+127.6.0.9:80/TCP", "+127.96.0.5:80/TCP", "+[::1]:30080/TCP"]);
    expect(world.choose("127.6.0.9:80/TCP")).toBe("fd00:1::1");
    expect(world.choose("127.0.0.1:30080/TCP")).toBe("10.1.0.1");
    expect(world.table.serviceCount).toBe(2);
  });
});

describe("policies", () => {
  const ports = [{ name: "http", protocol: "TCP", port: 80, nodePort: 30_080 }];

  it.each([
    { name: "both Cluster", policies: {}, endpoints: [anEndpoint("10.1.0.1")], open: ["127.0.0.1:30080/TCP", CLUSTER_IP] },
    {
      name: "internal Local, endpoint elsewhere",
      policies: { internalTrafficPolicy: "Local" },
      endpoints: [anEndpoint("10.1.0.1")],
      open: ["127.0.0.1:30080/TCP"],
    },
    {
      name: "external Local, endpoint elsewhere",
      policies: { externalTrafficPolicy: "Local" },
      endpoints: [anEndpoint("10.1.0.1")],
      open: [CLUSTER_IP],
    },
    {
      name: "external Local, local endpoint that drains",
      policies: { externalTrafficPolicy: "Local" },
      endpoints: [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2", "servingLast", HERE)],
      open: ["127.0.0.1:30080/TCP", CLUSTER_IP],
    },
  ])("$name: listens where a connection has an endpoint", ({ policies, endpoints, open }) => {
    const world = new World();
    world.service("web", { type: "NodePort", ports, ...policies });
    world.slice("web", endpoints);
    world.sync();
    expect(world.table.listeners.map(({ key }) => key).sort()).toEqual(open.sort());
  });

  it("local and remote endpoints: each way goes where its policy says", () => {
    const world = new World();
    world.service("web", { type: "NodePort", ports, externalTrafficPolicy: "Local" });
    world.slice("web", [anEndpoint("10.1.0.1"), anEndpoint("10.1.0.2", "ready", HERE)]);
    world.sync();
    const outside = new Set(Array.from({ length: 40 }, () => world.choose("127.0.0.1:30080/TCP")));
    const inside = new Set(Array.from({ length: 40 }, () => world.choose(CLUSTER_IP)));
    expect([[...outside], [...inside].sort()]).toEqual([["10.1.0.2"], ["10.1.0.1", "10.1.0.2"]]);
  });

  it("withoutLocalEndpoints: ports that only other nodes serve, by policy and family", () => {
    const world = new World();
    world.service("web", { type: "NodePort", ports, externalTrafficPolicy: "Local" });
    world.service("inner", { clusterIP: "10.96.0.6", clusterIPs: ["10.96.0.6"], internalTrafficPolicy: "Local" });
    world.service("empty", { clusterIP: "10.96.0.7", clusterIPs: ["10.96.0.7"], internalTrafficPolicy: "Local" });
    for (const name of ["web", "inner"]) world.slice(name, [anEndpoint("10.1.0.1")]);
    world.sync();
    const counts = (["internalTrafficPolicy", "externalTrafficPolicy"] as const).map((policy) => [
      world.table.withoutLocalEndpoints(policy, "IPv4"),
      world.table.withoutLocalEndpoints(policy, "IPv6"),
    ]);
    expect(counts).toEqual([
      [1, 0],
      [1, 0],
    ]);
  });

  it("a node that moves to another zone: its endpoints are chosen anew", () => {
    const world = new World();
    world.service("web");
    world.slice("web", [
      anEndpoint("10.1.0.1", "ready", { hints: { forZones: [{ name: "a" }] } }),
      anEndpoint("10.1.0.2", "ready", { hints: { forZones: [{ name: "b" }] } }),
    ]);
    world.sync();
    expect(shown(world.table.move("b"))).toEqual([`~${CLUSTER_IP}`]);
    expect(new Set(Array.from({ length: 20 }, () => world.choose(CLUSTER_IP)))).toEqual(new Set(["10.1.0.2"]));
    expect(shown(world.table.move("b"))).toEqual([]);
  });
});

describe("two Services at one place", () => {
  function clash(): World {
    const world = new World();
    world.service("first");
    world.slice("first", [anEndpoint("10.1.0.1")]);
    world.sync();
    world.service("second", { clusterIP: "192.96.0.5", clusterIPs: ["192.96.0.5"] });
    world.slice("second", [anEndpoint("10.1.0.2")]);
    return world;
  }

  it("the second: not served, told once, and served when the first is gone", () => {
    const world = clash();
    expect(world.sync()).toEqual([`!default/second 192.96.0.5:80/TCP: default/first is served at ${CLUSTER_IP}`, `~${CLUSTER_IP}`]);
    expect(world.choose(CLUSTER_IP)).toBe("10.1.0.1");
    world.slice("second", [anEndpoint("10.1.0.3")]);
    expect(world.sync()).toEqual([`~${CLUSTER_IP}`]);
    world.view.deleteService(aService("first"));
    expect(world.sync()).toEqual([`~${CLUSTER_IP}`]);
    expect(world.choose(CLUSTER_IP)).toBe("10.1.0.3");
    expect(world.table.keepsFlow(CLUSTER_IP, "10.1.0.1:8080")).toBe(false);
  });

  it("the first changes: it stays the first", () => {
    const world = clash();
    world.sync();
    world.service("first", { sessionAffinity: "ClientIP" });
    expect(world.sync()).toEqual([`~${CLUSTER_IP}`]);
    expect(world.choose(CLUSTER_IP)).toBe("10.1.0.1");
  });

  it("the first is deleted in the sync that brings the second: the second is served, without a line", () => {
    const world = clash();
    world.view.deleteService(aService("first"));
    expect(world.sync()).toEqual([`~${CLUSTER_IP}`]);
    expect(world.choose(CLUSTER_IP)).toBe("10.1.0.2");
  });
});

it("health checks: the Services with a healthCheckNodePort, and their local ready endpoints", () => {
  const world = new World();
  const spec = { type: "LoadBalancer", externalTrafficPolicy: "Local", healthCheckNodePort: 32_000 };
  world.service("web", spec);
  world.slice("web", [anEndpoint("10.1.0.1", "ready", HERE), anEndpoint("10.1.0.2"), anEndpoint("10.1.0.3", "servingLast", HERE)]);
  world.sync();
  const check = { namespace: "default", name: "web", family: "IPv4", port: 32_000 };
  expect(world.table.healthChecks).toEqual([{ ...check, localEndpoints: 1 }]);
  world.slice("web", [anEndpoint("10.1.0.1", "ready", HERE), anEndpoint("10.1.0.4", "ready", HERE)], {
    ports: [{ name: "other", port: 9 }],
  });
  world.sync();
  expect(world.table.healthChecks, "a port that the Service does not have").toEqual([{ ...check, localEndpoints: 2 }]);
  world.slice("web", []);
  world.sync();
  expect(world.table.healthChecks).toEqual([{ ...check, localEndpoints: 0 }]);
  world.service("web", { type: "LoadBalancer" });
  world.sync();
  expect(world.table.healthChecks).toEqual([]);
});
