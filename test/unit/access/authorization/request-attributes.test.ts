import { describe, expect, it } from "vitest";
import { attributesOf } from "../../../../src/access/authorization/request-attributes";

const of = (method: string, target: string) => {
  const [path = "", query = ""] = target.split("?");
  return attributesOf(method, path, new URLSearchParams(query));
};
const told = (method: string, target: string): string => {
  const asked = of(method, target);
  if (asked.kind === "path") return `path ${asked.verb} ${asked.path}`;
  const { verb, group, version, namespace, resource, subresource, name } = asked;
  return [verb, `${group}/${version}`, namespace, resource, subresource, name].join("|");
};

/** Upstream: apiserver pkg/endpoints/request/requestinfo_test.go. */
describe("requests for resources", () => {
  it.each<[method: string, target: string, want: string]>([
    ["GET", "/api/v1/namespaces", "list|/v1||namespaces||"],
    ["GET", "/api/v1/namespaces/other", "get|/v1|other|namespaces||other"],
    ["PUT", "/api/v1/namespaces/other/finalize", "update|/v1|other|namespaces|finalize|other"],
    ["GET", "/api/v1/namespaces/other/status", "get|/v1|other|namespaces|status|other"],
    ["GET", "/api/v1/namespaces/other/pods", "list|/v1|other|pods||"],
    ["GET", "/api/v1/namespaces/other/pods/", "list|/v1|other|pods||"],
    ["GET", "/api/v1/namespaces/other/pods//", "list|/v1|other|pods||"],
    ["GET", "/api/v1/namespaces//pods", "list|/v1||pods||"],
    ["DELETE", "/api/v1/namespaces//pods/", "deletecollection|/v1||pods||"],
    ["GET", "/api/v1/namespaces//pods?watch=1", "watch|/v1||pods||"],
    ["GET", "/api/v1/namespaces//pods/foo", "get|/v1||pods||foo"],
    ["GET", "/api/v1/namespaces/other/pods/foo", "get|/v1|other|pods||foo"],
    ["HEAD", "/api/v1/namespaces/other/pods/foo", "get|/v1|other|pods||foo"],
    ["HEAD", "/api/v1/namespaces/other/pods", "list|/v1|other|pods||"],
    ["GET", "/api/v1/pods", "list|/v1||pods||"],
    ["GET", "/api/v1/pods?watch=true", "watch|/v1||pods||"],
    ["GET", "/api/v1/pods?watch=false", "list|/v1||pods||"],
    ["GET", "/api/v1/pods?watch=", "watch|/v1||pods||"],
    ["GET", "/api/v1/watch/pods", "watch|/v1||pods||"],
    ["GET", "/api/v1/watch/namespaces/other/pods", "watch|/v1|other|pods||"],
    ["GET", "/api/v1/watch/namespaces/other/pods/foo", "watch|/v1|other|pods||foo"],
    // of the old form only reads are watches
    ["POST", "/api/v1/watch/namespaces/other/bindings", "create|/v1|other|bindings||"],
    ["POST", "/api/v1/watch/namespaces/other/pods/foo/eviction", "create|/v1|other|pods|eviction|foo"],
    ["DELETE", "/api/v1/watch/namespaces/other/pods", "deletecollection|/v1|other|pods||"],
    ["POST", "/api/v1/namespaces/other/pods", "create|/v1|other|pods||"],
    ["POST", "/api/v1/namespaces/other/pods/foo/eviction", "create|/v1|other|pods|eviction|foo"],
    ["PATCH", "/api/v1/namespaces/other/pods/foo", "patch|/v1|other|pods||foo"],
    ["DELETE", "/api/v1/namespaces/other/pods/foo", "delete|/v1|other|pods||foo"],
    ["DELETE", "/api/v1/namespaces/other/pods", "deletecollection|/v1|other|pods||"],
    ["OPTIONS", "/api/v1/namespaces/other/pods", "|/v1|other|pods||"],
    ["GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes", "get|networking.k8s.io/v1||servicecidrs||kubernetes"],
    ["PUT", "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", "update|coordination.k8s.io/v1|n|leases||l"],
    ["GET", "/api/v1/nodes/n:10256/proxy/healthz", "get|/v1||nodes|proxy|n:10256"],
    ["POST", "/api/v1/nodes/n/proxy-health", "create|/v1||nodes|proxy-health|n"],
    // one name that is selected is a name
    ["GET", "/api/v1/pods?fieldSelector=metadata.name=a", "list|/v1||pods||a"],
    ["GET", "/api/v1/pods?watch=1&fieldSelector=metadata.name%3Da,spec.nodeName%3Db", "watch|/v1||pods||a"],
    ["GET", "/api/v1/pods?fieldSelector=metadata.name!=a", "list|/v1||pods||"],
    ["DELETE", "/api/v1/namespaces/n/pods?fieldSelector=metadata.name=a", "deletecollection|/v1|n|pods||"],
    // as in the routes, an encoded slash separates nothing
    ["GET", "/api/v1/namespaces/a%2Fpods", "get|/v1|a/pods|namespaces||a/pods"],
    ["GET", "/api/v1/%6eamespaces/a/pods", "list|/v1|a|pods||"],
  ])("%s %s: %s", (method, target, want) => {
    expect(told(method, target)).toBe(want);
  });

  it("selectors: of collections alone, as they were sent", () => {
    expect(of("GET", "/api/v1/pods?fieldSelector=spec.nodeName=a&labelSelector=b")).toMatchObject({
      fieldSelector: "spec.nodeName=a",
      labelSelector: "b",
    });
    expect(Object.keys(of("GET", "/api/v1/namespaces/n/pods/p?fieldSelector=spec.nodeName=a"))).not.toContain("fieldSelector");
  });
});

describe("requests for paths", () => {
  it.each<[method: string, target: string, want: string]>([
    ["GET", "/", "path get /"],
    ["HEAD", "/version", "path head /version"],
    ["GET", "/api", "path get /api"],
    ["GET", "/api/v1", "path get /api/v1"],
    ["GET", "/api/v1/", "path get /api/v1/"],
    ["GET", "/apis", "path get /apis"],
    ["GET", "/apis/apps", "path get /apis/apps"],
    ["GET", "/apis/apps/v1", "path get /apis/apps/v1"],
    ["GET", "/API/v1/pods", "path get /API/v1/pods"],
    ["GET", "//api/v1/pods", "path get //api/v1/pods"],
    ["GET", "/openapi/v3", "path get /openapi/v3"],
    ["POST", "/check", "path post /check"],
    ["GET", "/nodes/n/healthz", "path get /nodes/n/healthz"],
    ["GET", "/%6detrics", "path get /metrics"],
    ["GET", "/%zz", "path get /%zz"],
  ])("%s %s: %s", (method, target, want) => {
    expect(told(method, target)).toBe(want);
  });
});
