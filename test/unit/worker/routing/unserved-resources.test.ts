import { describe, expect, it } from "vitest";
import { definitions } from "../../../../src/api/registry/all";
import { unservedResource } from "../../../../src/worker/routing/unserved-resources";
import { send } from "../client";
import { fakeEnv } from "../fake-env";

const SEE = "see kubectl api-resources and docs/compatibility.md for what is";

async function answer(method: string, path: string): Promise<unknown> {
  const response = await send(`http://h${path}`, { method, ...(method === "POST" ? { body: "{}" } : {}) }, fakeEnv().env);
  return response.headers.get("Content-Type")?.includes("json") ? response.json() : `${response.status} ${await response.text()}`;
}

function notServed(name: string): object {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the server could not find the requested resource: ${name} is not served; ${SEE}`,
    reason: "NotFound",
    details: {},
    code: 404,
  };
}

describe("a resource of Kubernetes that is not served", () => {
  it.each([
    ["POST", "/apis/apps/v1/namespaces/default/deployments", "deployments.apps"],
    ["GET", "/apis/apps/v1/deployments", "deployments.apps"],
    ["GET", "/apis/apps/v1/watch/deployments", "deployments.apps"],
    ["PATCH", "/apis/apps/v1/namespaces/default/deployments/web/scale", "deployments.apps"],
    ["DELETE", "/clusters/east/apis/batch/v1/namespaces/default/jobs/a", "jobs.batch"],
    ["POST", "/api/v1/persistentvolumes", "persistentvolumes"],
    ["PUT", "/api/v1/namespaces/default/limitranges/c/", "limitranges"],
    ["GET", "/api/v1/watch/secrets", "secrets"],
    ["POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", "ingresses.networking.k8s.io"],
    ["POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "customresourcedefinitions.apiextensions.k8s.io"],
    ["GET", "/api/v1/namespaces/default/pods/p/log", "pods/log"],
    ["GET", "/api/v1/namespaces/default/services/s/proxy/index.html", "services/proxy"],
  ])("%s %s: 404 that names it", async (method, path, name) => {
    expect(await answer(method, path)).toEqual(notServed(name));
  });

  it.each([
    ["/apis/apps/v1", "404 404 page not found\n"],
    ["/apis/apps/v1/namespaces/default", "404 404 page not found\n"],
    ["/apis/example.com/v1/widgets", "404 404 page not found\n"],
    ["/apis/apps/v1/%zz", "404 404 page not found\n"],
  ])("%s: the router's 404, as upstream", async (path, want) => {
    expect(await answer("GET", path)).toBe(want);
  });

  it("a resource that Kubernetes does not have: the plain 404, as upstream", async () => {
    expect(await answer("GET", "/api/v1/widgets")).toMatchObject({
      code: 404,
      message: "the server could not find the requested resource",
    });
  });

  it("resources of the registry that every server serves: not in the table of unserved ones", () => {
    const everywhere = definitions.filter(({ confidential }) => !confidential);
    const wrong = everywhere.flatMap(({ group, resource, subresources }) =>
      [[resource], ...subresources.map((name) => [resource, "x", name])].filter((parts) => unservedResource(group, parts)),
    );
    expect(wrong).toEqual([]);
  });
});
