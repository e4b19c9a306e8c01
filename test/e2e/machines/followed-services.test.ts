/** The merged view of Services, standing on the started server's lists and watches. */
import { expect, it } from "vitest";
import type { EndpointSlice, KubeObject } from "../../../src/api/meta/kubernetes";
import { followRoutes } from "../../support/examples/routes";
import { plainFetch } from "../../support/examples/zones";
import { clusterForTests } from "../../support/server/cluster-for-tests";
import { aSlice, anEndpoint, type SliceEndpoint } from "../../support/values/endpoint-objects";

const SERVICES = "/api/v1/namespaces/default/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const cluster = clusterForTests();

async function send(method: string, path: string, body?: object): Promise<number> {
  const headers = { "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
  return (await fetch(cluster.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })).status;
}

const service = (name: string, spec: object = {}): KubeObject =>
  Object.assign({ metadata: { name } }, { spec: { ports: [{ name: "http", port: 80 }], ...spec } });
const slice = (name: string, endpoints: SliceEndpoint[]): EndpointSlice => aSlice(name, "web", endpoints);

/** `known` is the last that each change said: where each Service's connections go. */
function follow() {
  const known = new Map<string, string>();
  const stop = followRoutes(plainFetch(cluster.url), { name: "node-1", zone: undefined }, ({ name }, routes) => {
    const [route] = routes;
    if (route) known.set(name, route.to.join(" "));
    else known.delete(name);
  });
  return { known: () => Object.fromEntries([...known].filter(([name]) => name !== "kubernetes")), stop };
}

it("Services and slices that come, change and go: the view has them as kube-proxy would", async () => {
  expect(await send("POST", SERVICES, service("web"))).toBe(201);
  expect(await send("POST", SERVICES, service("headless", { clusterIP: "None" }))).toBe(201);
  expect(await send("POST", SLICES, slice("web-a", [anEndpoint("10.1.0.2"), anEndpoint("10.1.0.1")]))).toBe(201);
  const { known, stop } = follow();
  const becomes = (expected: Record<string, string>) => expect.poll(known, { timeout: 20_000 }).toEqual(expected);
  await becomes({ web: "10.1.0.1:8080 10.1.0.2:8080" });

  // An endpoint moves to another slice: it is in both for a moment, and never missing.
  expect(await send("POST", SLICES, slice("web-b", [anEndpoint("10.1.0.2"), anEndpoint("10.1.0.3")]))).toBe(201);
  await becomes({ web: "10.1.0.1:8080 10.1.0.2:8080 10.1.0.3:8080" });
  expect(await send("PUT", `${SLICES}/web-a`, slice("web-a", [anEndpoint("10.1.0.1")]))).toBe(200);
  expect(await send("POST", SERVICES, service("api"))).toBe(201);
  await becomes({ web: "10.1.0.1:8080 10.1.0.2:8080 10.1.0.3:8080", api: "" });

  // A slice that becomes headless leaves the watch's selector, a Service of another proxy too.
  expect(await send("PATCH", `${SLICES}/web-b`, { metadata: { labels: { "service.kubernetes.io/headless": "" } } })).toBe(200);
  await becomes({ web: "10.1.0.1:8080", api: "" });
  expect(await send("PATCH", `${SERVICES}/api`, { metadata: { labels: { "service.kubernetes.io/service-proxy-name": "mine" } } })).toBe(
    200,
  );
  await becomes({ web: "10.1.0.1:8080" });
  expect(await send("DELETE", `${SERVICES}/web`)).toBe(200);
  await becomes({});
  stop();
});
