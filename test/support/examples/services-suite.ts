import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { startServicenet, type TestServer } from "servicenet/testing";
import { afterAll, beforeAll, expect, it } from "vitest";

let server: TestServer;
beforeAll(async () => {
  server = await startServicenet();
}, 60_000);
afterAll(() => server.stop());

/** A client of a cluster that shares nothing with those of other tests. */
async function newCluster(): Promise<CoreV1Api> {
  const { kubeconfig } = await server.cluster();
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return config.makeApiClient(CoreV1Api);
}

const web = { namespace: "default", body: { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } } };

it("a Service: gets an address", async () => {
  const api = await newCluster();
  const { spec } = await api.createNamespacedService(web);
  expect(spec?.clusterIP).toMatch(/^10\.96\./);
});

it("the same Service: there once", async () => {
  const api = await newCluster();
  await api.createNamespacedService(web);
  await expect(api.createNamespacedService(web)).rejects.toMatchObject({ code: 409 });
});
