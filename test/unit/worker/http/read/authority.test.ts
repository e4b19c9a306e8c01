import { describe, expect, it } from "vitest";
import { authorityOf, hostOf, isForeignPage, isOwnHost, isOwnOrigin } from "../../../../../src/worker/http/read/authority";

it.each<[string, string | undefined]>([
  ["localhost", "localhost"],
  ["LOCALHOST.:8787", "localhost"],
  ["10.0.0.1:80", "10.0.0.1"],
  ["[::1]:8787", "::1"],
  ["[FD00::1]", "fd00::1"],
  ["[fe80::1%25eth0]:8787", "fe80::1"],
  ["[fe80::1%25wlan%2F0.1]", "fe80::1"],
  ["[fe80::1%25]", undefined],
  ["[fe80::1%eth0]", undefined],
  ["name:", "name"],
  ["", undefined],
  [":80", undefined],
  ["::1", undefined],
  ["a, b", undefined],
  ["a b", undefined],
  ["a/b", undefined],
  ["user@a", undefined],
  ["a:b", undefined],
  ["[a", undefined],
  ["[::1", undefined],
  ["[::1]x", undefined],
  ["[::1]:x", undefined],
  ["[127.0.0.1]", undefined],
  ["::ffff:127.0.0.1", undefined],
  ["[::ffff:127.0.0.1]:1", "::ffff:127.0.0.1"],
  ["localhost#", undefined],
  ["localhost\\", undefined],
  ["loc%61lhost", undefined],
  ["m%C3%BCller", "m%c3%bcller"],
  ["localhost:1:2", undefined],
])("hostOf of %j: %s", (authority, host) => {
  expect(hostOf(authority)).toBe(host);
});

it.each([
  ["/version", "a:1", "a:1"],
  ["/version?at=http://b/", "a", "a"],
  ["/version", undefined, ""],
  ["http://b:2/version", "a", "b:2"],
  ["http://b?x=/", "a", "b"],
  ["http:///version", "a", "a"],
  ["http://user@/version", "a", "a"],
  ["http://u:p@b:2/version", "a", "b:2"],
  ["http://localhost@b/version", "a", "b"],
  ["http://b#@localhost/version", "a", "localhost"],
  ["http://b#/version", "a", "b#"],
  ["//b/version", "a", "a"],
])("authorityOf of %s with the Host %s: %s", (url, host, want) => {
  const request = { url, headers: new Headers(host === undefined ? {} : { Host: host }) } as Request;
  expect(authorityOf(request)).toBe(want);
});

describe("names of a server on loopback", () => {
  const allowed = ["my.name"];

  it.each(["localhost", "127.0.0.1", "192.0.2.1", "::1", "fd00::1", "my.name"])("the host %s: its own", (host) => {
    expect(isOwnHost(host, allowed)).toBe(true);
  });

  it.each(["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "127.1", "0x7f.0.0.1", "2130706433", "name"])(
    "the host %j: another one's",
    (host) => {
      expect(isOwnHost(host, allowed)).toBe(false);
    },
  );

  it.each([null, "http://localhost", "https://localhost:3000", "http://127.0.0.1:5", "http://[::1]:80", "https://my.name"])(
    "the origin %s: this machine",
    (origin) => {
      expect(isOwnOrigin(origin, allowed)).toBe(true);
    },
  );

  it.each(["null", "", "http://evil.example", "http://127.evil.example", "http://192.0.2.1", "file://", "chrome-extension://localhost"])(
    "the origin %j: elsewhere",
    (origin) => {
      expect(isOwnOrigin(origin, allowed)).toBe(false);
    },
  );
});

describe("page of another origin", () => {
  const ask = (method: string, headers: Record<string, string>): boolean =>
    isForeignPage(new Request("http://h:8787/api", { method, headers }), ["my.name"]);

  it.each([
    ["POST", "http://evil.example"],
    ["POST", "http://h"],
    ["POST", "http://h:1"],
    ["PUT", "http://localhost:8787"],
    ["PATCH", "null"],
    ["DELETE", ""],
    ["POST", "file://"],
    ["POST", "http://my.name.evil.example"],
  ])("a %s of the origin %j: refused", (method, origin) => {
    expect(ask(method, { Origin: origin })).toBe(true);
  });

  it.each([
    ["POST", {}],
    ["POST", { Origin: "http://h:8787" }],
    ["DELETE", { Origin: "https://H:8787" }],
    ["POST", { Origin: "https://my.name" }],
    ["GET", { Origin: "http://evil.example" }],
    ["HEAD", { Origin: "null" }],
    ["OPTIONS", { Origin: "http://evil.example" }],
    ["GET", { Upgrade: "websocket" }],
    ["GET", { Upgrade: "websocket", Origin: "http://h:8787" }],
  ])("a %s with %j: served", (method, headers) => {
    expect(ask(method, headers)).toBe(false);
  });

  it("a handshake of a WebSocket from elsewhere: refused", () => {
    expect(ask("GET", { Upgrade: "websocket", Origin: "http://evil.example" })).toBe(true);
  });
});
