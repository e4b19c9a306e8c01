/** The controllers of endpoints on the real server, as users and the JavaScript client see them. */
import { DiscoveryV1Api, KubeConfig } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import type { Endpoints, EndpointSlice } from "../../src/api/meta/kubernetes";
import { upstreamRow } from "../conformance/upstream-row";
import { Api, STRATEGIC_PATCH } from "../support/clients/api";
import { serverForTests } from "../support/server/server-for-tests";

const PATIENCE = { timeout: 60_000, interval: 20 };
const NAMESPACES = "/api/v1/namespaces";
const server = serverForTests();
const api = new Api(() => server.url);

const core = (namespace = "default"): string => `${NAMESPACES}/${namespace}`;

/** By the JavaScript client, as the controllers of a user read them. */
async function slicesOf(service: string, namespace = "default"): Promise<EndpointSlice[]> {
  const config = new KubeConfig();
  config.loadFromFile(server.kubeconfig);
  const client = config.makeApiClient(DiscoveryV1Api);
  const { items } = await client.listNamespacedEndpointSlice({ namespace, labelSelector: `kubernetes.io/service-name=${service}` });
  return items as unknown as EndpointSlice[];
}

/** Address and readiness of each endpoint, sorted. */
async function endpoints(service: string, namespace?: string): Promise<string[]> {
  return (await slicesOf(service, namespace))
    .flatMap((slice) =>
      ((slice.endpoints as EndpointSlice["endpoints"] | null) ?? []).map(
        ({ addresses, conditions }) => `${addresses.join()} ${String(conditions?.ready)}`,
      ),
    )
    .sort();
}

async function pod(name: string, ip: string, namespace = "default"): Promise<void> {
  const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
  await api.must("POST", `${core(namespace)}/pods`, { body: { metadata: { name, labels: { app: "web" } }, spec } });
  await ready(name, ip, "True", namespace);
}

async function ready(name: string, ip: string, status: string, namespace = "default"): Promise<void> {
  const body = { status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions: [{ type: "Ready", status }] } };
  await api.must("PATCH", `${core(namespace)}/pods/${name}/status`, { body, headers: { "Content-Type": STRATEGIC_PATCH } });
}

function service(name: string, selector?: Record<string, string>): object {
  return { metadata: { name }, spec: { ...(selector && { selector }), ports: [{ port: 80, targetPort: 8080 }] } };
}

upstreamRow("endpointslice: selector / multiple ports; endpointslicemirroring", () => {
  it("a Service with a selector: slices and Endpoints follow its Pods, come back when deleted, and go with it", async () => {
    await api.must("POST", "/api/v1/nodes", { body: { metadata: { name: "n1", labels: { "topology.kubernetes.io/zone": "z1" } } } });
    await pod("web-0", "10.1.0.1");
    await api.must("POST", `${core()}/services`, { body: service("web", { app: "web" }) });
    await expect.poll(() => endpoints("web"), PATIENCE).toEqual(["10.1.0.1 true"]);
    await pod("web-1", "10.1.0.2");
    await expect.poll(() => endpoints("web"), PATIENCE).toEqual(["10.1.0.1 true", "10.1.0.2 true"]);
    await ready("web-0", "10.1.0.1", "False");
    await expect.poll(() => endpoints("web"), PATIENCE).toEqual(["10.1.0.1 false", "10.1.0.2 true"]);
    expect(await slicesOf("web")).toHaveLength(1);
    const stored = async () => (await api.get(`${core()}/endpoints/web`)).body as unknown as Endpoints;
    await expect.poll(async () => (await stored()).subsets?.[0]?.notReadyAddresses?.map(({ ip }) => ip), PATIENCE).toEqual(["10.1.0.1"]);

    const [slice] = await slicesOf("web");
    await api.must("DELETE", `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/${slice?.metadata?.name ?? ""}`);
    await expect.poll(() => endpoints("web"), PATIENCE).toEqual(["10.1.0.1 false", "10.1.0.2 true"]);

    await api.must("DELETE", `${core()}/services/web`);
    await expect.poll(() => slicesOf("web"), PATIENCE).toEqual([]);
    await expect.poll(async () => (await api.get(`${core()}/endpoints/web`)).code, PATIENCE).toBe(404);
  });

  it("a Service whose selector names no Pod: one empty slice of the controller", async () => {
    await api.must("POST", `${core()}/services`, { body: service("lonely", { app: "nobody" }) });
    await expect.poll(async () => (await slicesOf("lonely")).length, PATIENCE).toBe(1);
    const [slice] = await slicesOf("lonely");
    expect(slice?.metadata?.labels?.["endpointslice.kubernetes.io/managed-by"]).toBe("endpointslice-controller.k8s.io");
    expect(await endpoints("lonely")).toEqual([]);
  });

  it("Endpoints by hand of a Service without selector: mirrored, changed and gone with them", async () => {
    const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ port: 80 }] }];
    await api.must("POST", `${core()}/services`, { body: service("hand") });
    await api.must("POST", `${core()}/endpoints`, { body: { metadata: { name: "hand" }, subsets: subsets("10.2.0.1") } });
    await expect.poll(() => endpoints("hand"), PATIENCE).toEqual(["10.2.0.1 true"]);
    await api.must("PUT", `${core()}/endpoints/hand`, { body: { metadata: { name: "hand" }, subsets: subsets("10.2.0.2") } });
    await expect.poll(() => endpoints("hand"), PATIENCE).toEqual(["10.2.0.2 true"]);
    await api.must("DELETE", `${core()}/endpoints/hand`);
    await expect.poll(() => slicesOf("hand"), PATIENCE).toEqual([]);
  });

  it("a namespace that goes: nothing of its Services stays, and it ends", async () => {
    await api.must("POST", NAMESPACES, { body: { metadata: { name: "short" } } });
    await pod("web-0", "10.3.0.1", "short");
    await api.must("POST", `${core("short")}/services`, { body: service("web", { app: "web" }) });
    await expect.poll(() => endpoints("web", "short"), PATIENCE).toEqual(["10.3.0.1 true"]);
    await api.must("DELETE", `${NAMESPACES}/short`);
    // Pods go first, and no kubelet ends this one.
    await expect.poll(() => endpoints("web", "short"), PATIENCE).toEqual(["10.3.0.1 false"]);
    await api.must("DELETE", `${core("short")}/pods/web-0?gracePeriodSeconds=0`);
    await expect.poll(async () => (await api.get(`${NAMESPACES}/short`)).code, PATIENCE).toBe(404);
    expect(await slicesOf("web", "short")).toEqual([]);
  });

  it("the server starts again: what changed before is there, and the next change is seen", async () => {
    await pod("web-2", "10.1.0.3");
    await server.stop();
    await server.start([]);
    await api.must("POST", `${core()}/services`, { body: service("again", { app: "web" }) });
    await expect.poll(() => endpoints("again"), PATIENCE).toEqual(["10.1.0.1 false", "10.1.0.2 true", "10.1.0.3 true"]);
    await ready("web-0", "10.1.0.1", "True");
    await expect.poll(() => endpoints("again"), PATIENCE).toEqual(["10.1.0.1 true", "10.1.0.2 true", "10.1.0.3 true"]);
  });
});
