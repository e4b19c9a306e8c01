import { expect, it } from "vitest";
import { hostsText } from "../../../../src/clients/dns/hosts-text";
import type { NamedService, NamedSlice } from "../../../../src/clients/dns/named-service";

const service = (name: string, ...clusterIPs: string[]): NamedService => ({ namespace: "default", name, clusterIPs });
const headless = (name: string, namespace = "default"): NamedService => ({ namespace, name, clusterIPs: undefined });
/** An endpoint is written `address label`. */
const slice = (of: string, ...endpoints: string[]): NamedSlice => ({
  namespace: "default",
  service: of,
  endpoints: endpoints.map((text) => {
    const [address = "", label = ""] = text.split(" ");
    return { address, label };
  }),
});

function linesOf(services: NamedService[], slices: NamedSlice[], domain = "x"): string[] {
  const [comment, ...lines] = hostsText(services, slices, { domain }).trimEnd().split("\n");
  expect(comment).toMatch(/^# /);
  return lines;
}

it.each<[string, NamedService[], NamedSlice[], string[]]>([
  ["nothing", [], [], []],
  ["a ClusterIP", [service("web", "10.0.0.1")], [], ["10.0.0.1 web.default.svc.x"]],
  ["two families", [service("web", "10.0.0.1", "fd00::1")], [], ["10.0.0.1 web.default.svc.x", "fd00::1 web.default.svc.x"]],
  ["endpoints of a Service with a ClusterIP", [service("web", "10.0.0.1")], [slice("web", "192.0.2.1 a")], ["10.0.0.1 web.default.svc.x"]],
  [
    "a headless Service: the endpoint's name first",
    [headless("db")],
    [slice("db", "192.0.2.1 db-0")],
    ["192.0.2.1 db-0.db.default.svc.x db.default.svc.x"],
  ],
  ["a headless Service without ready endpoints", [headless("db")], [slice("db")], []],
  ["a slice of another namespace's Service", [headless("db", "shop")], [slice("db", "192.0.2.1 db-0")], []],
  ["a slice without its Service", [], [slice("db", "192.0.2.1 db-0")], []],
  [
    "an endpoint in two slices: once",
    [headless("db")],
    [slice("db", "192.0.2.1 db-0"), slice("db", "192.0.2.1 db-0")],
    ["192.0.2.1 db-0.db.default.svc.x db.default.svc.x"],
  ],
  [
    "two hostnames of one address",
    [headless("db")],
    [slice("db", "192.0.2.1 b"), slice("db", "192.0.2.1 a")],
    ["192.0.2.1 a.db.default.svc.x b.db.default.svc.x db.default.svc.x"],
  ],
  [
    "one hostname of two addresses",
    [headless("db")],
    [slice("db", "192.0.2.1 a", "fd00::1 a")],
    ["192.0.2.1 a.db.default.svc.x db.default.svc.x", "fd00::1 a.db.default.svc.x db.default.svc.x"],
  ],
  [
    "one address in two Services: the name with a hostname comes first",
    [headless("a"), headless("z")],
    [slice("a", "192.0.2.1 192-0-2-1"), slice("z", "192.0.2.1 z-0")],
    ["192.0.2.1 z-0.z.default.svc.x z.default.svc.x", "192.0.2.1 192-0-2-1.a.default.svc.x a.default.svc.x"],
  ],
  [
    "a hostname and the address as names of one endpoint: the hostname first",
    [headless("a")],
    [slice("a", "192.0.2.1 192-0-2-1", "192.0.2.1 web-0")],
    ["192.0.2.1 web-0.a.default.svc.x 192-0-2-1.a.default.svc.x a.default.svc.x"],
  ],
  [
    "ClusterIPs before endpoints, both by name",
    [headless("a"), service("z", "10.0.0.2"), service("b", "10.0.0.1")],
    [slice("a", "10.0.0.1 one")],
    ["10.0.0.1 b.default.svc.x", "10.0.0.2 z.default.svc.x", "10.0.0.1 one.a.default.svc.x a.default.svc.x"],
  ],
])("hostsText, %s: in any order of its input", (_, services, slices, expected) => {
  expect(linesOf(services, slices)).toEqual(expected);
  expect(linesOf([...services].reverse(), [...slices].reverse())).toEqual(expected);
});

it("placeOf: where ClusterIPs and endpoints stand instead", () => {
  const placeOf = (address: string, of: string): string => `${address}@${of}`;
  const text = hostsText([service("web", "10.0.0.1"), headless("db")], [slice("db", "192.0.2.1 a")], { domain: "x", placeOf });
  expect(text.split("\n").slice(1)).toEqual([
    "10.0.0.1@clusterIP web.default.svc.x",
    "192.0.2.1@endpoint a.db.default.svc.x db.default.svc.x",
    "",
  ]);
});
