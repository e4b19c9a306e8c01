/**
 * Controllers that are off on the real server, by the variable and by the list of a cluster. Somebody else's namespace controller does its work by the
 * calls of upstream's (pkg/controller/namespace/deletion): delete the content, list nothing, finalize.
 */
import { expect, it } from "vitest";
import { Api, type Body } from "../../support/clients/api";
import { serverForTests } from "../../support/server/server-for-tests";
import { PATIENCE } from "../../support/server/patience";

const OFF = ["--var", "CONTROLLERS=*,-namespace,-garbagecollector"];
const NAMESPACES = "/api/v1/namespaces";
const server = serverForTests(OFF);
const api = new Api(() => server.url);

async function deleted(cluster: string, name: string): Promise<void> {
  await api.must("POST", cluster + NAMESPACES, { body: { metadata: { name } } });
  await api.must("POST", `${cluster}${NAMESPACES}/${name}/configmaps`, { body: { metadata: { name: "inside" } } });
  await api.must("DELETE", `${cluster}${NAMESPACES}/${name}`);
}

async function phase(cluster: string, name: string): Promise<string | undefined> {
  const { code, body } = await api.get(`${cluster}${NAMESPACES}/${name}`);
  return code === 404 ? undefined : (body.status as { phase?: string }).phase;
}

/** `owner` and its `dependent` in the cluster, and then no owner any more. */
async function orphaned(cluster: string): Promise<void> {
  const maps = `${cluster}${NAMESPACES}/default/configmaps`;
  const { metadata } = await api.must("POST", maps, { body: { metadata: { name: "owner" } } });
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata?.uid }];
  await api.must("POST", maps, { body: { metadata: { name: "dependent", ownerReferences } } });
  await api.must("DELETE", `${maps}/owner`);
}

const hasDependent = async (cluster: string): Promise<boolean> =>
  (await api.get(`${cluster}${NAMESPACES}/default/configmaps/dependent`)).code === 200;

it("off by the variable, on in a cluster by its own list; another namespace controller ends the namespace; on by the next start: catches up", async () => {
  const running = async (cluster: string): Promise<unknown> => (await api.must("GET", `/clusters/${cluster}`))["running"];
  await api.must("PUT", "/clusters/blue", { body: { controllers: ["*"] } });
  const others = [
    "node-lifecycle-controller",
    "pod-garbage-collector-controller",
    "resourcequota-controller",
    "service-cidr-controller",
    "taint-eviction-controller",
  ];
  const endpoints = ["endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller"];
  expect(await running("default")).toEqual([...endpoints, ...others]);
  expect(await running("blue")).toContain("namespace-controller");
  for (const cluster of ["", "/clusters/blue"]) {
    for (const name of ["one", "two"]) await deleted(cluster, name);
    await orphaned(cluster);
  }
  await expect.poll(() => phase("/clusters/blue", "two"), PATIENCE).toBeUndefined();
  await expect.poll(() => hasDependent("/clusters/blue"), PATIENCE).toBe(false);
  expect([await phase("", "one"), await phase("", "two"), await hasDependent("")]).toEqual(["Terminating", "Terminating", true]);

  await api.must("DELETE", `${NAMESPACES}/one/configmaps`);
  const one = await api.must("GET", `${NAMESPACES}/one`);
  expect((await api.send("POST", `${NAMESPACES}/one/configmaps`, { body: { metadata: { name: "late" } } })).code).toBe(403);
  const finalized: Body = { ...one, spec: { finalizers: [] } };
  await api.must("PUT", `${NAMESPACES}/one/finalize`, { body: finalized });
  expect(await phase("", "one")).toBeUndefined();
  expect((await api.send("POST", `${NAMESPACES}/one/configmaps`, { body: { metadata: { name: "late" } } })).code).toBe(404);
  expect((await api.get("/api/v1/configmaps", { fieldSelector: "metadata.namespace=one" })).body.items).toEqual([]);

  // The next start knows from repair's first pass what has changed.
  await api.must("POST", "/check");
  await expect.poll(() => server.output(), PATIENCE).toMatch(/"repair looked at everything","object":"default\//);
  await server.stop();
  await server.start([]);
  await expect.poll(() => phase("", "two"), PATIENCE).toBeUndefined();
  await expect.poll(() => hasDependent(""), PATIENCE).toBe(false);
});
