/** Paths whose namespace is empty mean all namespaces, as upstream's router reads them (go-restful's CurlyRouter; requestinfo.go). */
import { beforeAll, expect, it } from "vitest";
import { Api, brief } from "../../support/clients/api";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const cluster = clusterForTests();
const api = new Api(() => cluster.url);
const SERVICES = "/api/v1/namespaces//services";
const named = (body: { items?: { metadata?: { name?: string } }[] }) => body.items?.map(({ metadata }) => metadata?.name).sort();
const service = (name: string, labels = {}) => ({ metadata: { name, labels }, spec: { ports: [{ port: 80 }] } });

beforeAll(async () => {
  await api.must("POST", "/api/v1/namespaces", { body: { metadata: { name: "other" } } });
  await api.must("POST", "/api/v1/namespaces/default/services", { body: service("a", { app: "x" }) });
  await api.must("POST", "/api/v1/namespaces/other/services", { body: service("b", { app: "x" }) });
});

it.each([SERVICES, `${SERVICES}/`, "/api/v1/services//"])("GET %s: the list of all namespaces", async (path) => {
  expect(named((await api.get(path)).body)).toEqual(["a", "b", "kubernetes"]);
});

it("a group with a name: the same", async () => {
  const { code, body } = await api.get("/apis/discovery.k8s.io/v1/namespaces//endpointslices");
  expect([code, body.kind]).toEqual([200, "EndpointSliceList"]);
});

it("a watch: the objects of all namespaces", async () => {
  const watch = await api.watch(SERVICES, { labelSelector: "app=x" });
  expect(brief(await watch.take(2)).sort()).toEqual(["ADDED a", "ADDED b"]);
  watch.close();
});

it("a create: refused for its missing namespace", async () => {
  const { code, body } = await api.send("POST", SERVICES, { body: service("c") });
  expect([code, body.message]).toEqual([422, 'Service "c" is invalid: metadata.namespace: Required value']);
});

it.each(["GET", "DELETE", "PUT", "PATCH"])("%s of one object: 400", async (method) => {
  const { code, body } = await api.send(method, `${SERVICES}/a`, { body: method === "GET" ? undefined : service("a") });
  expect([code, body.message]).toEqual([400, "Namespace parameter required."]);
});

it("deletecollection: of all namespaces, within the selector", async () => {
  const { code, body } = await api.send("DELETE", SERVICES, { query: { labelSelector: "app=x" } });
  expect([code, named(body)]).toEqual([200, ["a", "b"]]);
  await api.until(async () => named((await api.get(SERVICES)).body)?.join() === "kubernetes", "both are gone");
});
