import { describe, expect, it } from "vitest";
import { splitRequestUrl } from "../../../../src/worker/http/request-url";

describe("splitRequestUrl", () => {
  it.each([
    { url: "http://h/api/v1/pods?limit=5", want: { cluster: "default", path: "/api/v1/pods", query: "limit=5" } },
    { url: "http://h:8787/", want: { cluster: "default", path: "/", query: "" } },
    { url: "http://h", want: { cluster: "default", path: "/", query: "" } },
    { url: "http://h?/healthz", want: { cluster: "default", path: "/", query: "/healthz" } },
    { url: "http://h?/clusters/east/api", want: { cluster: "default", path: "/", query: "/clusters/east/api" } },
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
