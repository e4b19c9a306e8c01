import { expect, it } from "vitest";
import { collectionOf } from "../../../../../src/api/store/list/collection-path";

it("list in pages: what the store is asked", () => {
  expect(collectionOf("/api/v1/services?limit=50&continue=a%3Db&labelSelector=!x%2Fy&fieldSelector=spec.clusterIP%21%3DNone")).toEqual({
    verb: "list",
    namespace: "",
    labelSelector: "!x/y",
    fieldSelector: "spec.clusterIP!=None",
    limit: 50,
    continueToken: "a=b",
    resourceVersion: "",
    resourceVersionMatch: "",
    allowWatchBookmarks: false,
    timeoutSeconds: 0,
    group: "",
    version: "v1",
    resource: "services",
    representation: { as: "object" },
  });
});

it("watch of a named group: what the store is asked", () => {
  const path = "/apis/discovery.k8s.io/v1/endpointslices?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=7";
  expect(collectionOf(path)).toMatchObject({
    verb: "watch",
    allowWatchBookmarks: true,
    timeoutSeconds: 300,
    resourceVersion: "7",
    group: "discovery.k8s.io",
    version: "v1",
    resource: "endpointslices",
  });
});
