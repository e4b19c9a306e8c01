import { describe, expect, it } from "vitest";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import { drawInZone, drawOwner, ownersWith, sizesOf } from "../../../../src/addresses/topology/route";
import { fullText, isZoned, placeOf, placesFor, refusalOf } from "../../../../src/addresses/topology/tenants";
import { seededRandom } from "../../../support/sim/platform/seeded-random";

type Range = Topology["ranges"][number];
type Labels = Record<string, string>;

const DEFAULT: Range = { prefix: "10.96.0.0/16", name: "kubernetes" };
const A: Range = { prefix: "10.96.7.0/24", name: "for-a", selector: "tenant=a" };
const B_IN_A: Range = { prefix: "10.96.7.64/26", name: "for-b", selector: "tenant=b" };
const OUTER: Range = { prefix: "10.96.0.0/20", name: "outer", selector: "team in (x,y)", whenFull: "Any" };
const A_ANY: Range = { prefix: "10.98.0.0/24", name: "more-a", selector: "tenant=a", whenFull: "Any" };
const A_SIX: Range = { prefix: "fd00:a::/112", name: "for-a", selector: "tenant=a" };

function topology(...ranges: Range[]): Topology {
  const claims = [
    { prefix: "10.96.0.0/16", ownerUid: "kubernetes" },
    { prefix: "10.98.0.0/24", ownerUid: "more-a" },
    { prefix: "fd00:a::/112", ownerUid: "six" },
  ];
  return { epoch: 1, claims, ranges: [DEFAULT, ...ranges], zoned: true, owners: [], free: [] };
}

describe("where the Services of a namespace take from", () => {
  it.each<[string, Range[], Labels | undefined, string[], string[]]>([
    ["no range is kept", [], { tenant: "a" }, [""], [""]],
    ["matches", [A], { tenant: "a" }, ["10.96.7.0/24"], [""]],
    ["matches in both families", [A, A_SIX], { tenant: "a" }, ["10.96.7.0/24"], ["fd00:a::/112"]],
    ["does not match", [A, A_SIX], { tenant: "c" }, [""], [""]],
    ["has no labels", [A], undefined, [""], [""]],
    ["matches the inner range alone", [A, B_IN_A], { tenant: "b" }, ["10.96.7.64/26"], [""]],
    ["matches one that it may leave", [OUTER, A], { team: "y" }, ["10.96.0.0/20", ""], [""]],
    [
      "matches one that it may leave, and one that it may not",
      [OUTER, A],
      { team: "x", tenant: "a" },
      ["10.96.0.0/20", "10.96.7.0/24"],
      [""],
    ],
    ["matches several: in the order of addresses", [A_ANY, A], { tenant: "a" }, ["10.96.7.0/24", "10.98.0.0/24"], [""]],
    ["matches a range that is no longer Ready: it is not in the topology", [B_IN_A], { tenant: "a" }, [""], [""]],
  ])("%s", (_, ranges, labels, four, six) => {
    const all = topology(...ranges);
    expect(placesFor(all, "IPv4", labels)).toEqual(four);
    expect(placesFor(all, "IPv6", labels)).toEqual(six);
  });

  it("a topology without the mark: has no zones", () => {
    expect(isZoned({ ...topology(), zoned: undefined } as unknown as Topology)).toBe(false);
  });
});

describe("an address that the client names", () => {
  const kept = (name: string, prefix: string, selector: string): string =>
    `ServiceCIDR "${name}" (${prefix}) is kept for namespaces that match "${selector}", and namespace "ns" does not`;

  it.each<[string, Range[], Labels, string, string | undefined]>([
    ["outside of every zone, by nobody's tenant", [A], {}, "10.96.9.9", undefined],
    ["in its own zone", [A], { tenant: "a" }, "10.96.7.9", undefined],
    ["in another's zone", [A], { tenant: "c" }, "10.96.7.9", kept("for-a", "10.96.7.0/24", "tenant=a")],
    [
      "the network address of another's zone, which the outer range gives out",
      [A],
      {},
      "10.96.7.0",
      kept("for-a", "10.96.7.0/24", "tenant=a"),
    ],
    [
      "in the inner zone, by the tenant of the outer one",
      [A, B_IN_A],
      { tenant: "a" },
      "10.96.7.70",
      kept("for-b", "10.96.7.64/26", "tenant=b"),
    ],
    [
      "in the outer zone, by the tenant of the inner one",
      [A, B_IN_A],
      { tenant: "b" },
      "10.96.7.9",
      kept("for-a", "10.96.7.0/24", "tenant=a"),
    ],
    [
      "outside of its own zone, which it may not leave",
      [A],
      { tenant: "a" },
      "10.96.9.9",
      'the Services of namespace "ns" take addresses from ServiceCIDR "for-a" (10.96.7.0/24) alone',
    ],
    ["outside of its own zone, which it may leave", [OUTER], { team: "x" }, "10.96.99.9", undefined],
    ["in another's zone, by one that may leave its own", [OUTER, A], { team: "x" }, "10.96.7.9", kept("for-a", "10.96.7.0/24", "tenant=a")],
    ["of a family in which it has no zone", [A], { tenant: "a" }, "fd00:a::9", undefined],
  ])("%s", (_, ranges, labels, address, want) => {
    const family = address.includes(":") ? "IPv6" : "IPv4";
    expect(refusalOf(topology(...ranges), { family, address }, { namespace: "ns", labels })).toBe(want);
  });

  it("its place: the longest prefix with a selector", () => {
    const all = topology(A, B_IN_A, { prefix: "10.96.7.96/27", name: "plain" });
    expect(["10.96.7.1", "10.96.7.64", "10.96.7.97", "10.96.8.1", "fd00::1"].map((address) => placeOf(all, address))).toEqual([
      ...["10.96.7.0/24", "10.96.7.64/26", "10.96.7.64/26", "", ""],
    ]);
  });
});

it.each<[Range[], readonly string[], string | undefined]>([
  [[A], ["10.96.7.0/24"], 'range is full: ServiceCIDR "for-a" (10.96.7.0/24), from which the Services of namespace "ns" take'],
  [
    [OUTER],
    ["10.96.0.0/20", ""],
    'range is full: ServiceCIDR "outer" (10.96.0.0/20), from which the Services of namespace "ns" take, and so is every range that is kept for no namespaces',
  ],
  [[A], [""], 'range is full: no range of IPv4 that is kept for no namespaces has an address left, and namespace "ns" matches no other'],
  [[], [""], undefined],
])("full: names the ranges and the tenant", (ranges, places, want) => {
  expect(fullText(topology(...ranges), "IPv4", "ns", places)).toBe(want);
});

describe("which owner is asked", () => {
  const random = seededRandom(1);
  const none = { dynamic: new Set<string>(), static: new Set<string>() };
  const freeOf = (_: string, __: string, size: { dynamic: number; static: number }) => size;

  it("sizes: what zones have is not among what others get", () => {
    const all = topology(A, A_ANY);
    const whole = sizesOf(topology(), "kubernetes", "IPv4");
    const less = sizesOf(all, "kubernetes", "IPv4");
    expect(whole.dynamic + whole.static - less.dynamic - less.static).toBe(256);
    expect(ownersWith(all, "IPv4")).toEqual(["kubernetes"]);
    expect(drawOwner(all, "IPv4", { random, freeOf, full: none })).toEqual({ ownerUid: "kubernetes", band: "dynamic" });
  });

  it("a zone: its owner, first for the dynamic band, then for the static one", () => {
    const all = topology(A, A_ANY);
    expect(drawInZone(all, "10.98.0.0/24", { random, full: none })).toEqual({ ownerUid: "more-a", band: "dynamic", zone: "10.98.0.0/24" });
    const full = { dynamic: new Set(["more-a"]), static: new Set<string>() };
    expect(drawInZone(all, "10.98.0.0/24", { random, full })).toEqual({ ownerUid: "more-a", band: "static", zone: "10.98.0.0/24" });
    expect(drawInZone(all, "10.98.0.0/24", { random, full: { dynamic: full.dynamic, static: full.dynamic } })).toBeUndefined();
    expect(drawInZone(all, "10.99.0.0/24", { random, full: none })).toBeUndefined();
    expect(drawInZone(all, "10.96.7.0/24", { random, full: none })).toMatchObject({ ownerUid: "kubernetes" });
  });
});
