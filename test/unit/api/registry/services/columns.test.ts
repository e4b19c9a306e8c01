import { describe, expect, it } from "vitest";
import type { Service } from "../../../../../src/api/meta/kubernetes";
import { serviceCells, serviceColumns } from "../../../../../src/api/registry/services/columns";
import { deepFreeze, sent, type Spec } from "./a-service";

const CREATED = "2026-01-01T00:00:00Z";
const NOW = Date.parse(CREATED) + 5 * 60_000;

describe("serviceColumns", () => {
  it("columns: upstream's; the selector alone is wide", () => {
    expect(serviceColumns.map(({ name, priority }) => `${name} ${priority}`)).toEqual([
      "Name 0",
      "Type 0",
      "Cluster-IP 0",
      "External-IP 0",
      "Port(s) 0",
      "Age 0",
      "Selector 1",
    ]);
    expect(serviceColumns.map(({ type, format }) => type + format)).toEqual([
      "stringname",
      "string",
      "string",
      "string",
      "string",
      "string",
      "string",
    ]);
  });
});

describe("serviceCells", () => {
  it.each<{ name: string; spec: Spec; status?: Service["status"]; want: string[] }>([
    {
      name: "ClusterIP",
      spec: {
        type: "ClusterIP",
        clusterIPs: ["10.0.0.1", "2001:db8::1"],
        ports: [{ port: 80, protocol: "TCP" }],
        selector: { b: "2", a: "1", "a-b": "3" },
      },
      want: ["foo", "ClusterIP", "10.0.0.1", "<none>", "80/TCP", "5m", "a-b=3,a=1,b=2"],
    },
    {
      name: "externalIPs and several ports",
      spec: {
        type: "NodePort",
        clusterIPs: ["10.0.0.1"],
        externalIPs: ["192.0.2.1", "192.0.2.2"],
        ports: [
          { port: 80, nodePort: 30080, protocol: "TCP" },
          { port: 53, protocol: "UDP" },
        ],
        selector: undefined,
      },
      want: ["foo", "NodePort", "10.0.0.1", "192.0.2.1,192.0.2.2", "80:30080/TCP,53/UDP", "5m", "<none>"],
    },
    {
      name: "LoadBalancer without an address",
      spec: { type: "LoadBalancer", clusterIPs: ["10.0.0.1"] },
      want: ["foo", "LoadBalancer", "10.0.0.1", "<pending>", "80/TCP", "5m", "app=foo"],
    },
    {
      name: "LoadBalancer: sorted, each once, then externalIPs",
      spec: { type: "LoadBalancer", clusterIPs: ["10.0.0.1"], externalIPs: ["192.0.2.9"] },
      status: { loadBalancer: { ingress: [{ hostname: "lb.example" }, { ip: "192.0.2.2" }, { ip: "192.0.2.1" }, { ip: "192.0.2.2" }] } },
      want: ["foo", "LoadBalancer", "10.0.0.1", "192.0.2.1,192.0.2.2,lb.example,192.0.2.9", "80/TCP", "5m", "app=foo"],
    },
    {
      name: "headless without ports",
      spec: { type: "ClusterIP", clusterIPs: ["None"], ports: [] },
      want: ["foo", "ClusterIP", "None", "<none>", "<none>", "5m", "app=foo"],
    },
    {
      name: "ExternalName",
      spec: { type: "ExternalName", externalName: "db.example", ports: [], selector: {} },
      want: ["foo", "ExternalName", "<none>", "db.example", "<none>", "5m", "<none>"],
    },
  ])("$name: cells as kubectl shows them upstream", ({ spec, status, want }) => {
    const service = deepFreeze({ ...sent(spec), metadata: { name: "foo", creationTimestamp: CREATED }, status });
    const cells = serviceCells(service, NOW);
    expect(cells).toEqual(want);
    expect(cells).toHaveLength(serviceColumns.length);
  });

  it("an unset age: <unknown>", () => {
    expect(serviceCells(deepFreeze(sent({ type: "ClusterIP" })), NOW)[5]).toBe("<unknown>");
  });
});
