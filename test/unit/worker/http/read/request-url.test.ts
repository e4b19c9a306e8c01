import { describe, expect, it } from "vitest";
import { originForm, splitRequestUrl, splitTarget, urlOf } from "../../../../../src/worker/http/read/request-url";

describe("splitRequestUrl", () => {
  it.each([
    { url: "http://h/api/v1/pods?limit=5", want: { cluster: "default", path: "/api/v1/pods", query: "limit=5" } },
    { url: "http://h:8787/", want: { cluster: "default", path: "/", query: "" } },
    { url: "http://h", want: { cluster: "default", path: "/", query: "" } },
    { url: "http://h?/healthz", want: { cluster: "default", path: "/", query: "/healthz" } },
    { url: "http://h?/clusters/east/api", want: { cluster: "default", path: "/", query: "/clusters/east/api" } },
    { url: "http://h#/healthz", want: { cluster: "default", path: "/healthz", query: "" } },
    { url: "http://h/healthz#/x", want: { cluster: "default", path: "/healthz#/x", query: "" } },
    { url: "http://u:p@h/healthz", want: { cluster: "default", path: "/healthz", query: "" } },
    { url: "http:///healthz", want: { cluster: "default", path: "/healthz", query: "" } },
    { url: "//h/healthz", want: { cluster: "default", path: "//h/healthz", query: "" } },
    { url: "/x://h/healthz", want: { cluster: "default", path: "/x://h/healthz", query: "" } },
    { url: "x?://h/healthz", want: { cluster: "default", path: "x", query: "://h/healthz" } },
    { url: "http://h?", want: { cluster: "default", path: "/", query: "" } },
    { url: "/?/healthz", want: { cluster: "default", path: "/", query: "/healthz" } },
    { url: "https://h/clusters/east-1/apis", want: { cluster: "east-1", path: "/apis", query: "" } },
    { url: "http://h/clusters/east/apis/?a=/b?c", want: { cluster: "east", path: "/apis/", query: "a=/b?c" } },
    { url: "http://h/apis/x/v1/ips/2001%3Adb8%3A%3A1", want: { cluster: "default", path: "/apis/x/v1/ips/2001%3Adb8%3A%3A1", query: "" } },
    { url: "http://h/clusters/east", want: { cluster: "", path: "/clusters/east", query: "" } },
    { url: "http://h/clusters/Bad_Name/api", want: { cluster: "", path: "/clusters/Bad_Name/api", query: "" } },
    { url: "http://h/clusters/a%2Fb/api", want: { cluster: "", path: "/clusters/a%2Fb/api", query: "" } },
    { url: "http://h/clusters//api", want: { cluster: "", path: "/clusters//api", query: "" } },
    { url: `http://h/clusters/${"a".repeat(63)}/api`, want: { cluster: "a".repeat(63), path: "/api", query: "" } },
    { url: `http://h/clusters/${"a".repeat(64)}/api`, want: { cluster: "", path: `/clusters/${"a".repeat(64)}/api`, query: "" } },
  ])("$url: its cluster, path and query", ({ url, want }) => {
    const { cluster, path, rawQuery } = splitRequestUrl(url);
    expect({ cluster, path, query: rawQuery }).toEqual(want);
  });

  it("the query: is parsed once", () => {
    const url = splitRequestUrl("http://h/api?watch=1&a=b%20c");
    expect([...url.query]).toEqual([
      ["watch", "1"],
      ["a", "b c"],
    ]);
    expect(url.query).toBe(url.query);
  });

  it.each([
    ["/check/owners/u-1", "u-1"],
    ["/apis/apps/", "apps"],
    ["/clusters/a%2Fb", "a%2Fb"],
    ["/", ""],
  ])("the last segment of %s: %j", (path, want) => {
    expect(splitRequestUrl(`http://h${path}`).lastSegment).toBe(want);
  });
});

it("the URL of a request: is split once, and each request has its own", () => {
  const [first, second] = [new Request("http://h/api"), new Request("http://h/api")];
  expect(urlOf(first).path).toBe("/api");
  expect(urlOf(first)).toBe(urlOf(first));
  expect(urlOf(second)).not.toBe(urlOf(first));
});

it.each([
  ["http://h/clusters/east/apis?a=b", "/clusters/east/apis?a=b"],
  ["http://u:p@h:1/a#/b", "/a#/b"],
  ["/a?", "/a?"],
  ["/a?b=http://h/c?d", "/a?b=http://h/c?d"],
  ["http://h", "/"],
  ["http://h?/healthz", "/?/healthz"],
  ["*", "*"],
])("the target of %s in an audit record: %s", (url, want) => {
  expect(originForm(url)).toBe(want);
});

it.each([
  ["http://h#/healthz", "h#"],
  ["http://h?x=http://i/", "h"],
  ["http://u:p@h:1/a", "u:p@h:1"],
  ["http://h\\healthz", "h\\healthz"],
  ["http:///a", ""],
  ["/a?b=http://h/", undefined],
  ["//h/a", undefined],
])("the authority of %s: %j", (url, authority) => {
  expect(splitTarget(url).authority).toBe(authority);
});
