/** The controllers of endpoints on the real server, as users and the JavaScript client see them. */
import { DiscoveryV1Api, KubeConfig, makeInformer, type V1EndpointSlice } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import type { Endpoints } from "../../../src/api/meta/kubernetes";
import { upstreamRow } from "../../conformance/upstream-row";
import { Api, STRATEGIC_PATCH } from "../../support/clients/api";
import { NODES_ARE_NAMES, serverForTests } from "../../support/server/server-for-tests";
import { PATIENCE } from "../../support/server/patience";

const NAMESPACES = "/api/v1/namespaces";
const server = serverForTests(NODES_ARE_NAMES);
const api = new Api(() => server.url);

const core = (namespace = "default"): string => `${NAMESPACES}/${namespace}`;

/** The JavaScript client, with which the controllers of a user read. */
function javaScriptClient(): { config: KubeConfig; client: DiscoveryV1Api } {
  const config = new KubeConfig();
  config.loadFromFile(server.kubeconfig);
  return { config, client: config.makeApiClient(DiscoveryV1Api) };
}

async function slicesOf(service: string, namespace = "default"): Promise<V1EndpointSlice[]> {
  const labelSelector = `kubernetes.io/service-name=${service}`;
  return (await javaScriptClient().client.listNamespacedEndpointSlice({ namespace, labelSelector })).items;
}

/** Address and readiness of each endpoint, sorted. */
function told(slices: readonly V1EndpointSlice[]): string[] {
  return slices
    .flatMap((slice) =>
      ((slice.endpoints as V1EndpointSlice["endpoints"] | null) ?? []).map(
        ({ addresses, conditions }) => `${addresses.join()} ${String(conditions?.ready)}`,
      ),
    )
    .sort();
}

async function endpoints(service: string, namespace?: string): Promise<string[]> {
  return told(await slicesOf(service, namespace));
}

async function pod(name: string, ip: string, { namespace = "default", labels = { app: "web" } } = {}): Promise<void> {
  const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
  await api.must("POST", `${core(namespace)}/pods`, { body: { metadata: { name, labels }, spec } });
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

  it("an informer of the JavaScript client: has each change of the slices, and the list in the end", async () => {
    const { config, client } = javaScriptClient();
    const path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    const informer = makeInformer(config, path, () => client.listNamespacedEndpointSlice({ namespace: "default" }));
    const cached = (): V1EndpointSlice[] =>
      informer.list("default").filter(({ metadata }) => metadata?.labels?.["kubernetes.io/service-name"] === "watched");
    const verbs: string[] = [];
    for (const verb of ["add", "update", "delete"] as const) {
      informer.on(verb, ({ metadata }) => void (metadata?.generateName === "watched-" && verbs.push(verb)));
    }
    await informer.start();
    try {
      await pod("watched-0", "10.4.0.1", { labels: { app: "watched" } });
      await api.must("POST", `${core()}/services`, { body: service("watched", { app: "watched" }) });
      await expect.poll(() => told(cached()), PATIENCE).toEqual(["10.4.0.1 true"]);
      await ready("watched-0", "10.4.0.1", "False");
      await expect.poll(() => told(cached()), PATIENCE).toEqual(["10.4.0.1 false"]);
      await api.must("DELETE", `${core()}/pods/watched-0?gracePeriodSeconds=0`);
      await expect.poll(() => [cached().length, told(cached())], PATIENCE).toEqual([1, []]);
      expect(cached().map(({ metadata }) => metadata?.resourceVersion)).toEqual(
        (await slicesOf("watched")).map(({ metadata }) => metadata?.resourceVersion),
      );
      // The Service may be looked at before the Pod, which makes one change more: each is a generation.
      const changes = (cached()[0]?.metadata?.generation ?? 0) - 1;
      expect(changes).toBeGreaterThan(1);
      await api.must("DELETE", `${core()}/services/watched`);
      await expect.poll(() => cached().length, PATIENCE).toBe(0);
      expect(verbs).toEqual(["add", ...Array<string>(changes).fill("update"), "delete"]);
    } finally {
      await informer.stop();
    }
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
    await pod("web-0", "10.3.0.1", { namespace: "short" });
    await api.must("POST", `${core("short")}/services`, { body: service("web", { app: "web" }) });
    await expect.poll(() => endpoints("web", "short"), PATIENCE).toEqual(["10.3.0.1 true"]);
    await api.must("DELETE", `${NAMESPACES}/short`);
    // Pods go first, and no kubelet ends this one.
    await expect.poll(() => endpoints("web", "short"), PATIENCE).toEqual(["10.3.0.1 false"]);
    await api.must("DELETE", `${core("short")}/pods/web-0?gracePeriodSeconds=0`);
    await expect.poll(async () => (await api.get(`${NAMESPACES}/short`)).code, PATIENCE).toBe(404);
    expect(await slicesOf("web", "short")).toEqual([]);
  });

  it("the server starts again: nothing is written, what changed before is there, and the next change is seen", async () => {
    await pod("web-2", "10.1.0.3");
    const versions = async (): Promise<string[]> => {
      const lists = await Promise.all(
        ["/apis/discovery.k8s.io/v1/endpointslices", "/api/v1/endpoints"].map((path) => api.must("GET", path)),
      );
      return lists.flatMap(({ items }) =>
        (items ?? []).map(({ metadata }) => `${metadata?.name ?? ""} ${metadata?.resourceVersion ?? ""}`),
      );
    };
    await api.must("POST", `${core()}/services`, { body: service("stays", { app: "web" }) });
    const addresses = async (): Promise<number | undefined> => {
      const { subsets } = (await api.get(`${core()}/endpoints/stays`)).body as unknown as Endpoints;
      return subsets?.flatMap((subset) => [...(subset.addresses ?? []), ...(subset.notReadyAddresses ?? [])]).length;
    };
    await expect.poll(async () => [(await endpoints("stays")).length, await addresses()], PATIENCE).toEqual([3, 3]);
    const before = await versions();
    await server.stop();
    await server.start(NODES_ARE_NAMES);
    await api.must("POST", `${core()}/services`, { body: service("again", { app: "web" }) });
    await expect.poll(() => endpoints("again"), PATIENCE).toEqual(["10.1.0.1 false", "10.1.0.2 true", "10.1.0.3 true"]);
    expect(await versions()).toEqual(expect.arrayContaining(before));
    await ready("web-0", "10.1.0.1", "True");
    await expect.poll(() => endpoints("again"), PATIENCE).toEqual(["10.1.0.1 true", "10.1.0.2 true", "10.1.0.3 true"]);
  });

  it("the server starts again with MAX_ENDPOINTS_PER_SLICE and a batch period: small slices, and one write each of changes that come together", async () => {
    await server.stop();
    await server.start([...NODES_ARE_NAMES, "--var", "MAX_ENDPOINTS_PER_SLICE=2", "--var", "ENDPOINTSLICE_UPDATES_BATCH_PERIOD=3s"]);
    const pods = [0, 1, 2].map((i) => ({ name: `small-${i}`, ip: `10.5.0.${i + 1}` }));
    for (const { name, ip } of pods) await pod(name, ip, { labels: { app: "small" } });
    await api.must("POST", `${core()}/services`, { body: service("small", { app: "small" }) });
    await expect.poll(() => endpoints("small"), PATIENCE).toEqual(["10.5.0.1 true", "10.5.0.2 true", "10.5.0.3 true"]);
    const before = await slicesOf("small");
    expect(before.map((slice) => slice.endpoints.length).sort()).toEqual([1, 2]);

    await Promise.all(pods.map(({ name, ip }) => ready(name, ip, "False")));
    await expect.poll(() => endpoints("small"), PATIENCE).toEqual(["10.5.0.1 false", "10.5.0.2 false", "10.5.0.3 false"]);
    const written = (slices: readonly V1EndpointSlice[]): number =>
      slices.reduce((sum, { metadata }) => sum + (metadata?.generation ?? 0), 0);
    expect(written(await slicesOf("small")) - written(before)).toBe(2);
  });
});
