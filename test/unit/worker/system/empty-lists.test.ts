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

  it("discovery: does not name its group", async () => {
    const groups = JSON.stringify(await json("/apis"));
    expect(groups).not.toContain("apiextensions");
    expect(groups).not.toContain("apps");
    expect(JSON.stringify(await json("/api/v1"))).not.toContain("replicationcontrollers");
  });
});
