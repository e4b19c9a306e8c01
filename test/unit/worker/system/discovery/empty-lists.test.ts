import { describe, expect, it } from "vitest";
import { get, json } from "../../client";

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

  const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  it.each<[query: string, message: string]>([
    ["limit=", 'strconv.ParseInt: parsing "": invalid syntax'],
    ["limit=x", 'strconv.ParseInt: parsing "x": invalid syntax'],
    ["labelSelector=a,,b", "found ','"],
    ["labelSelector=!", "unable to parse requirement"],
    ["fieldSelector=a", "invalid selector: 'a'"],
    ["fieldSelector=spec.group=a", '"spec.group" is not a known field selector'],
    ["resourceVersion=x", "invalid resource version"],
    ["resourceVersionMatch=Exact", "resourceVersionMatch is forbidden unless resourceVersion is provided"],
    ["continue=x", "continue key is not valid"],
    ["sendInitialEvents=true", "sendInitialEvents is forbidden for list"],
  ])("%s: refused as for other kinds", async (query, message) => {
    const [served, empty] = await Promise.all([get(`/api/v1/namespaces?${query}`), get(`${CRDS}?${query}`)]);
    const text = await empty.text();
    expect(empty.status).toBeGreaterThanOrEqual(400);
    expect((JSON.parse(text) as { message: string }).message).toContain(message);
    if (served.status >= 400) expect(empty.status).toBe(served.status);
    expect((await get(`${APPS}/deployments?${query}`)).status).toBe(empty.status);
  });

  it.each<[accept: string, code: number, what: string]>([
    ["application/vnd.kubernetes.protobuf", 406, "only the following media types are accepted: application/json, application/yaml"],
    ["text/html", 406, "406: Not Acceptable"],
    ["application/json;as=Other;v=v1;g=meta.k8s.io", 406, "only the following media types are accepted"],
    ["application/vnd.kubernetes.protobuf,application/json", 200, '"kind":"CustomResourceDefinitionList"'],
    ["application/vnd.kubernetes.protobuf, */*;q=0.1", 200, '"kind":"CustomResourceDefinitionList"'],
    ["application/yaml", 200, "kind: CustomResourceDefinitionList"],
    ["application/json;as=Table;v=v1;g=meta.k8s.io,application/json", 200, '"kind":"Table"'],
    ["application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", 200, '"kind":"PartialObjectMetadataList"'],
  ])("Accept %s: %d", async (accept, code, what) => {
    const response = await get(CRDS, { Accept: accept });
    expect(response.status).toBe(code);
    const text = new TextDecoder().decode(await response.arrayBuffer());
    expect(text).toContain(what);
  });

  it("a Table with an unknown includeObject: 400", async () => {
    const headers = { Accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    expect((await get(`${CRDS}?includeObject=x`, headers)).status).toBe(400);
    expect((await get(`${CRDS}?includeObject=None`, headers)).status).toBe(200);
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
