import { describe, expect, it } from "vitest";
import { get, json } from "../client";

const APPS = "/apis/apps/v1/namespaces/default";

describe("the list of a kind that is not served and that kubectl asks for", () => {
  it.each([
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "apiextensions.k8s.io/v1", "CustomResourceDefinitionList"],
    ["/api/v1/namespaces/default/replicationcontrollers", "v1", "ReplicationControllerList"],
    [`${APPS}/daemonsets`, "apps/v1", "DaemonSetList"],
    [`${APPS}/deployments/`, "apps/v1", "DeploymentList"],
    ["/clusters/blue/apis/apps/v1/namespaces/nowhere/replicasets?limit=500", "apps/v1", "ReplicaSetList"],
  ])("%s: empty", async (path, apiVersion, kind) => {
    expect(await json(path)).toEqual({ apiVersion, kind, metadata: { resourceVersion: "1" }, items: [] });
  });

  it.each([
    [`${APPS}/deployments?watch=true`, "deployments.apps is not served"],
    ["/api/v1/namespaces/default/replicationcontrollers?watch=1", "replicationcontrollers is not served"],
    ["/apis/apps/v1/watch/namespaces/default/deployments", "deployments.apps is not served"],
    ["/apis/apps/v1/deployments", "deployments.apps is not served"],
    [`${APPS}/deployments/web`, "deployments.apps is not served"],
    [`${APPS}/statefulsets`, "statefulsets.apps is not served"],
  ])("%s: 404 that names it", async (path, text) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(text);
  });

  it("discovery: names custom resource definitions with the verbs get and list, and none of the others", async () => {
    const groups = JSON.stringify(await json("/apis"));
    expect(groups).toContain('"apiextensions.k8s.io/v1"');
    expect(groups).not.toContain("apps");
    expect(JSON.stringify(await json("/api/v1"))).not.toContain("replicationcontrollers");
    expect(await json("/apis/apiextensions.k8s.io/v1")).toEqual({
      kind: "APIResourceList",
      apiVersion: "v1",
      groupVersion: "apiextensions.k8s.io/v1",
      resources: [
        {
          name: "customresourcedefinitions",
          singularName: "customresourcedefinition",
          namespaced: false,
          kind: "CustomResourceDefinition",
          verbs: ["get", "list"],
          shortNames: ["crd", "crds"],
          categories: ["api-extensions"],
        },
      ],
    });
  });

  it("OpenAPI: has no document of theirs", async () => {
    expect(JSON.stringify(await json("/openapi/v3"))).not.toContain("apiextensions");
    expect(JSON.stringify(await json("/"))).not.toContain("/openapi/v3/apis/apiextensions");
  });

  it("GET of a custom resource definition: not found", async () => {
    const response = await get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/a.example.com");
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      reason: "NotFound",
      message: 'customresourcedefinitions.apiextensions.k8s.io "a.example.com" not found',
      details: { name: "a.example.com", group: "apiextensions.k8s.io", kind: "customresourcedefinitions" },
    });
  });

  it("a watch of custom resource definitions: 404 that names them", async () => {
    const response = await get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1");
    expect([response.status, await response.text()]).toEqual([
      404,
      expect.stringContaining("customresourcedefinitions.apiextensions.k8s.io is not served"),
    ]);
  });
});
