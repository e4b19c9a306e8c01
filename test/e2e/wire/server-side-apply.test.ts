/** Server-side apply and managedFields with the JavaScript client. */
import { CoreV1Api, KubeConfig, KubernetesObjectApi, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import type { V1Service } from "@kubernetes/client-node";
import { describe, expect, it } from "vitest";
import { getJson } from "../../support/server/server";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const cluster = clusterForTests();

const service = (name: string, targetPort: number, labels?: Record<string, string>): V1Service => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, ...(labels ? { labels } : {}) },
  spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort }] },
});

describe("JavaScript client", () => {
  it("an apply patch: works typed and through the object API", async () => {
    const config = new KubeConfig();
    config.loadFromFile(cluster.kubeconfig);
    const core = config.makeApiClient(CoreV1Api);
    const body = service("from-js", 80, { a: "1" });
    const options = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);
    const target = { namespace: "default", name: "from-js" };
    const created = await core.patchNamespacedService({ ...target, body, fieldManager: "js", force: true }, options);
    expect(created.spec?.clusterIP).toMatch(/^10\.96\./);
    expect(created.metadata?.managedFields).toMatchObject([{ manager: "js", operation: "Apply" }]);
    const objects = KubernetesObjectApi.makeApiClient(config);
    const again = await objects.patch(body, undefined, undefined, "js", true, PatchStrategy.ServerSideApply);
    expect(again.metadata?.resourceVersion).toBe(created.metadata?.resourceVersion);
    const refusal = core.patchNamespacedService({ ...target, body: service("from-js", 81), fieldManager: "second" }, options);
    await expect(refusal).rejects.toMatchObject({ code: 409 });
    await core.deleteNamespacedService(target);
  });

  it("a plain create: tracked under the client's name from its User-Agent", async () => {
    const response = await fetch(`${cluster.url}/api/v1/namespaces/default/services`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "User-Agent": "my-tool/1.2 (linux)" },
      body: JSON.stringify(service("by-agent", 80)),
    });
    expect(response.status).toBe(201);
    const { metadata } = await getJson<V1Service>(response.url.concat("/by-agent"));
    expect(metadata?.managedFields).toMatchObject([{ manager: "my-tool", operation: "Update" }]);
  });
});
