import { describe, expect, it } from "vitest";
import type { Topology } from "../../../../src/addresses/rpc/topology";
import { keepsNodePorts, nodePortPlaces } from "../../../../src/addresses/topology/tenant-ports";

type Range = Topology["ranges"][number];

const DEFAULT: Range = { prefix: "10.96.0.0/16", name: "kubernetes" };
const A: Range = { prefix: "10.98.0.0/24", name: "for-a", selector: "tenant=a", nodePorts: { first: 31_000, last: 31_099 } };
const A_SIX: Range = { ...A, prefix: "fd00:a::/112" };
const B_ANY: Range = {
  ...{ prefix: "10.98.1.0/24", name: "for-b", selector: "tenant=b", whenFull: "Any" },
  nodePorts: { first: 30_500, last: 30_509 },
};
const A_WITHOUT: Range = { prefix: "10.98.2.0/24", name: "more-a", selector: "tenant=a" };

function topology(...ranges: Range[]): Topology {
  return { epoch: 1, claims: [], ranges: [DEFAULT, ...ranges], zoned: true, owners: [], free: [] };
}

it.each<[string, Topology, boolean]>([
  ["no selector", topology(), false],
  ["selectors alone", topology(A_WITHOUT), false],
  ["node ports", topology(A), true],
  ["node ports of a topology without the mark", { ...topology(A), zoned: undefined } as unknown as Topology, false],
])("%s: keeps node ports, or none", (_, given, want) => {
  expect(keepsNodePorts(given)).toBe(want);
});

describe("where the Services of a namespace take node ports", () => {
  const all = topology(A, A_SIX, B_ANY, A_WITHOUT);
  it.each<[string, Record<string, string> | undefined, object]>([
    ["matches", { tenant: "a" }, { own: [A.nodePorts], isOpen: false }],
    ["matches one that it may leave", { tenant: "b" }, { own: [B_ANY.nodePorts], isOpen: true }],
    ["matches none", { tenant: "c" }, { own: [], isOpen: true }],
    ["has no labels", undefined, { own: [], isOpen: true }],
  ])("%s", (_, labels, want) => {
    expect(nodePortPlaces(all, "ns", labels)).toMatchObject({ ...want, kept: [B_ANY.nodePorts, A.nodePorts] });
  });

  it.each<[string, Record<string, string>, number, string | undefined]>([
    ["its own", { tenant: "a" }, 31_000, undefined],
    ["its own, the last", { tenant: "a" }, 31_099, undefined],
    [
      "one that nobody keeps, to which it may not go",
      { tenant: "a" },
      31_100,
      'take node ports from 31000-31099 of ServiceCIDR "for-a" alone',
    ],
    ["one that nobody keeps, to which it may go", { tenant: "b" }, 31_100, undefined],
    [
      "another's",
      { tenant: "b" },
      31_050,
      'ServiceCIDR "for-a" keeps 31000-31099 for namespaces that match "tenant=a", and namespace "ns" does not',
    ],
    ["another's, of nobody's tenant", {}, 30_505, 'ServiceCIDR "for-b" keeps 30500-30509 for namespaces that match "tenant=b"'],
    ["one that nobody keeps, of nobody's tenant", {}, 30_510, undefined],
  ])("a port that the client names: %s", (_, labels, port, want) => {
    const text = nodePortPlaces(all, "ns", labels).refusal(port);
    if (want === undefined) expect(text).toBeUndefined();
    else expect(text).toContain(want);
  });

  it("full: says whose ports, unless it may leave them", () => {
    expect(nodePortPlaces(all, "ns", { tenant: "a" }).fullText).toBe(
      'range is full: 31000-31099 of ServiceCIDR "for-a", from which the Services of namespace "ns" take',
    );
    for (const labels of [{ tenant: "b" }, {}] as Record<string, string>[])
      expect(nodePortPlaces(all, "ns", labels).fullText).toBe("range is full");
  });
});
