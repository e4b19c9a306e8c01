import { expect, it } from "vitest";
import { malformedRequest } from "../../../../../src/worker/http/connection/request-target";

const answer = (method: string, url: string, host?: string): Response | undefined =>
  malformedRequest({ method, url, headers: new Headers(host === undefined ? {} : { Host: host }) } as Request);

it.each([
  ["GET", "/version", "localhost:8787"],
  ["GET", "/version", undefined],
  ["GET", "//", "a"],
  ["OPTIONS", "/version", "a"],
  ["GET", "http://a/version", "b"],
  ["GET", "HTTPS://a:1", undefined],
  ["GET", "http:///version", "a"],
  ["GET", "http://user:pass@a/version", "a"],
  ["GET", "http://a:/version", "a"],
  ["GET", "http://a:99999/version", "a"],
  ["GET", "http://[::1]:1/version", "a"],
  ["GET", "/version#a", "a"],
  ["GET", "/a\\b", "a"],
  ["GET", "/version", ""],
])("%s %s with the Host %s: goes on", (method, url, host) => {
  expect(answer(method, url, host)).toBeUndefined();
});

it.each([
  ["GET", "*", "a", "request target"],
  ["GET", "version", "a", "request target"],
  ["GET", "?a=b", "a", "request target"],
  ["GET", "ftp://a/", "a", "request target"],
  ["OPTIONS", "**", "a", "request target"],
  ["GET", "/version", "a, b", "Host header"],
  ["GET", "/version", "a b", "Host header"],
  ["GET", "/version", "a#", "Host header"],
  ["GET", "/version", "user@a", "Host header"],
  ["GET", "http://a/version", "b c", "Host header"],
  ["GET", "http://localhost#/healthz", "a", "request target"],
  ["GET", "http://localhost#", "a", "request target"],
  ["GET", "http://a#@localhost/healthz", "a", "request target"],
  ["GET", "http://a\\@localhost/healthz", "a", "request target"],
  ["GET", "http://localhost\\healthz", "a", "request target"],
  ["GET", "http:\\\\localhost\\healthz", "a", "request target"],
  ["GET", "http://local host/healthz", "a", "request target"],
  ["GET", "http://localhost:x/healthz", "a", "request target"],
  ["GET", "http://localhost:1:2/healthz", "a", "request target"],
  ["GET", "http://[::1/healthz", "a", "request target"],
  ["GET", "http://[::1]a/healthz", "a", "request target"],
  ["GET", "http://[127.0.0.1]/healthz", "a", "request target"],
  ["GET", "http://loc%61lhost/healthz", "a", "request target"],
  ["GET", "/health\tz", "a", "request target"],
  ["GET", "http://a/\x7f", "a", "request target"],
])("%s %s with the Host %s: 400 that names the %s", async (method, url, host, what) => {
  const refused = answer(method, url, host);
  expect([refused?.status, await refused?.text()]).toEqual([400, `400 Bad Request: malformed ${what}`]);
});

it("OPTIONS *: 200 without a body, as Go", async () => {
  const response = answer("OPTIONS", "*", "a");
  expect([response?.status, await response?.text()]).toEqual([200, ""]);
});
