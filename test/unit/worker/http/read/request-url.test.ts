import { describe, expect, it } from "vitest";
import { splitRequestUrl, splitTarget } from "../../../../../src/worker/http/read/request-url";

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
    expect(splitRequestUrl(url)).toEqual(want);
  });
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
