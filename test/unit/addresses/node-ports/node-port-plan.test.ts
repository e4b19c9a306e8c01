import { describe, expect, it } from "vitest";
import { nodePortRefused } from "../../../../src/addresses/clusterip/errors";
import { applyNodePorts, heldNodePorts, type NodePortTake, planNodePorts } from "../../../../src/addresses/node-ports/node-port-plan";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { applyDefaults } from "../../../../src/api/registry/services/defaults";
import { sent, type Spec, stored } from "../../api/registry/services/a-service";

type Ports = NonNullable<Spec["ports"]>;

function wanted(spec: Spec): Service {
  const service = sent(spec);
  applyDefaults(service);
  return service;
}

/** `[places]protocols=port` of each take, `!` = it clashes, `0` = any port, `[]` = the health check. */
function takesOf(spec: Spec, before?: Service): string[] {
  return planNodePorts({ after: wanted(spec), before }).take.map(
    ({ places, protocols, port, clashes }) => `[${places.join()}]${protocols.join("+")}=${port}${clashes ? "!" : ""}`,
  );
}

function dns(udp: number, tcp: number): Ports {
  return [
    { name: "udp", port: 53, protocol: "UDP", ...(udp ? { nodePort: udp } : {}) },
    { name: "tcp", port: 53, protocol: "TCP", ...(tcp ? { nodePort: tcp } : {}) },
  ];
}

const NODE_PORT = "NodePort";
const LOCAL: Spec = { type: "LoadBalancer", externalTrafficPolicy: "Local" };
const NO_PORTS: Spec = { type: "LoadBalancer", allocateLoadBalancerNodePorts: false };
const one = (nodePort: number, protocol = "TCP"): Ports => [{ port: 80, protocol, nodePort }];

describe("planNodePorts: create", () => {
  it.each<[string, Spec, string[]]>([
    ["ClusterIP", {}, []],
    ["headless", { clusterIP: "None" }, []],
    ["ExternalName", { type: "ExternalName", externalName: "a.b" }, []],
    ["NodePort", { type: NODE_PORT }, ["[0]TCP=0"]],
    ["NodePort, named", { type: NODE_PORT, ports: one(30080) }, ["[0]TCP=30080"]],
    ["LoadBalancer", { type: "LoadBalancer" }, ["[0]TCP=0"]],
    ["LoadBalancer without node ports", NO_PORTS, []],
    ["LoadBalancer without node ports, one named", { ...NO_PORTS, ports: one(30080) }, ["[0]TCP=30080"]],
    ["LoadBalancer without node ports, one protocol named", { ...NO_PORTS, ports: dns(0, 30053) }, ["[1]TCP=30053"]],
    ["one port of two protocols", { type: NODE_PORT, ports: dns(0, 0) }, ["[0,1]UDP+TCP=0"]],
    ["one port of two protocols, the first named", { type: NODE_PORT, ports: dns(30053, 0) }, ["[0,1]UDP+TCP=30053"]],
    ["one port of two protocols, the second named", { type: NODE_PORT, ports: dns(0, 30053) }, ["[0,1]UDP+TCP=30053"]],
    ["one port of two protocols, both named alike", { type: NODE_PORT, ports: dns(30053, 30053) }, ["[0,1]UDP+TCP=30053"]],
    ["one port of two protocols, both named differently", { type: NODE_PORT, ports: dns(30053, 30054) }, ["[0]UDP=30053", "[1]TCP=30054"]],
    [
      "two ports, one number named for both",
      {
        type: NODE_PORT,
        ports: [
          { name: "a", port: 80, nodePort: 30080 },
          { name: "b", port: 81, protocol: "UDP", nodePort: 30080 },
        ],
      },
      ["[0]TCP=30080", "[1]UDP=30080!"],
    ],
    [
      "two ports",
      {
        type: NODE_PORT,
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 81 },
        ],
      },
      ["[0]TCP=0", "[1]TCP=0"],
    ],
    ["externalTrafficPolicy Local", LOCAL, ["[0]TCP=0", "[]TCP=0"]],
    ["externalTrafficPolicy Local, health check named", { ...LOCAL, healthCheckNodePort: 30100 }, ["[0]TCP=0", "[]TCP=30100"]],
    [
      "externalTrafficPolicy Local, health check on a port's number",
      { ...LOCAL, ports: one(30100), healthCheckNodePort: 30100 },
      ["[0]TCP=30100", "[]TCP=30100!"],
    ],
    ["externalTrafficPolicy Local without node ports", { ...NO_PORTS, externalTrafficPolicy: "Local" }, ["[]TCP=0"]],
    ["NodePort with externalTrafficPolicy Local", { type: NODE_PORT, externalTrafficPolicy: "Local" }, ["[0]TCP=0"]],
  ])("%s: takes the numbers of the row", (_, spec, takes) => {
    expect(takesOf(spec)).toEqual(takes);
  });
});

describe("planNodePorts: update", () => {
  const clusterIP = stored({ clusterIP: "10.0.0.1" });
  const external = stored({ type: "ExternalName", externalName: "a.b" });
  const node = stored({ type: NODE_PORT, ports: one(30080) });
  const balancer = stored({ ...LOCAL, ports: one(30080), healthCheckNodePort: 30100 });
  it.each<[string, Service, Spec, string[]]>([
    ["NodePort, the same number", node, { type: NODE_PORT, ports: one(30080) }, []],
    ["NodePort, another number", node, { type: NODE_PORT, ports: one(30081) }, ["[0]TCP=30081"]],
    ["NodePort, another protocol of its number", node, { type: NODE_PORT, ports: one(30080, "UDP") }, ["[0]UDP=30080"]],
    ["a second port", node, { type: NODE_PORT, ports: [...one(30080), { name: "b", port: 81 }] }, ["[1]TCP=0"]],
    ["ClusterIP to NodePort", clusterIP, { type: NODE_PORT }, ["[0]TCP=0"]],
    ["ClusterIP to NodePort, two protocols", clusterIP, { type: NODE_PORT, ports: dns(0, 0) }, ["[0]UDP=0", "[1]TCP=0"]],
    [
      "ClusterIP to NodePort, one number named for two protocols",
      clusterIP,
      { type: NODE_PORT, ports: dns(30053, 30053) },
      ["[0]UDP=30053", "[1]TCP=30053"],
    ],
    ["ExternalName to LoadBalancer", external, { type: "LoadBalancer" }, ["[0]TCP=0"]],
    ["NodePort to LoadBalancer", node, { type: "LoadBalancer", ports: one(30080) }, []],
    ["NodePort to LoadBalancer with Local", node, { ...LOCAL, ports: one(30080) }, ["[]TCP=0"]],
    ["NodePort to ClusterIP", node, {}, []],
    ["NodePort to ExternalName", node, { type: "ExternalName", externalName: "a.b" }, []],
    ["Local, unchanged", balancer, { ...LOCAL, ports: one(30080), healthCheckNodePort: 30100 }, []],
    ["Local to Cluster", balancer, { type: "LoadBalancer", ports: one(30080) }, []],
    ["the number of the health check for a port", balancer, { ...LOCAL, ports: one(30100), healthCheckNodePort: 30100 }, ["[0]TCP=30100!"]],
    ["a stored LoadBalancer without a health check", stored({ ...LOCAL, ports: one(30080) }), { ...LOCAL, ports: one(30080) }, ["[]TCP=0"]],
    [
      "NodePort to LoadBalancer without node ports, a second port",
      node,
      { ...NO_PORTS, ports: [...one(30080), { name: "b", port: 81 }] },
      [],
    ],
  ])("%s: takes the numbers of the row", (_, before, spec, takes) => {
    expect(takesOf(spec, before)).toEqual(takes);
  });

  it("delete: takes nothing", () => {
    expect(planNodePorts({ after: undefined, before: node }).take).toEqual([]);
  });

  it("numbers that the write names: listed, so that no other port gets them", () => {
    const after = wanted({ ...LOCAL, ports: [...one(30080), { name: "b", port: 81 }], healthCheckNodePort: 30100 });
    expect(planNodePorts({ after, before: undefined }).named).toEqual([30080, 30100]);
  });
});

describe("heldNodePorts", () => {
  it.each<[string, Spec, string[]]>([
    ["ClusterIP", {}, []],
    ["NodePort", { type: NODE_PORT, ports: dns(30053, 30053) }, ["UDP/30053", "TCP/30053"]],
    ["a port without a number", { ...NO_PORTS, ports: dns(0, 30053) }, ["TCP/30053"]],
    ["a health check", { ...LOCAL, ports: one(30080), healthCheckNodePort: 30100 }, ["TCP/30080", "TCP/30100"]],
  ])("%s: holds the ports of the row", (_, spec, held) => {
    expect(heldNodePorts(wanted(spec)).map(({ protocol, port }) => `${protocol}/${port}`)).toEqual(held);
  });
});

describe("applyNodePorts", () => {
  it("numbers of a plan: written to their ports and the health check", () => {
    const after = wanted({ ...LOCAL, ports: [...dns(0, 0), { name: "b", port: 81 }] });
    applyNodePorts(after, planNodePorts({ after, before: undefined }).take, [30200, 30201, 30202]);
    expect(after.spec?.ports?.map(({ nodePort }) => nodePort)).toEqual([30200, 30200, 30201]);
    expect(after.spec?.healthCheckNodePort).toBe(30202);
  });
});

describe("nodePortRefused", () => {
  const take = (places: number[], port: number): NodePortTake => ({ places, protocols: ["TCP"], port, clashes: false });
  const prefix = "Internal error occurred: failed to allocate";
  it.each([
    [
      take([1], 30080),
      "taken",
      422,
      'Service "foo" is invalid: spec.ports[1].nodePort: Invalid value: 30080: provided port is already allocated',
    ],
    [take([0], 0), "full", 500, `${prefix} a nodePort: range is full`],
    [take([], 30100), "taken", 500, `${prefix} requested HealthCheck NodePort 30100: provided port is already allocated`],
    [
      take([], 80),
      "outsideRange",
      500,
      `${prefix} requested HealthCheck NodePort 80: provided port is not in the valid range. The range of valid ports is 30000-32767`,
    ],
    [take([], 0), "full", 500, `${prefix} a HealthCheck NodePort 0: range is full`],
  ] as const)("%o %s: upstream's Status", (refused, reason, code, message) => {
    const refusal = reason === "full" ? { reason, text: "range is full" } : { reason };
    expect(nodePortRefused(wanted({}), refused, refusal)).toMatchObject({ code, message });
  });
});
