import { describe, expect, it } from "vitest";
import type { ObservedNode } from "../../../../src/tools/check/observed";
import { advertisedIn, overlaps, untold } from "../../../../src/tools/check/surroundings";

const ranges = [
  { labelled: { label: "ServiceCIDR kubernetes", uid: "uid-k" }, cidrs: ["10.96.0.0/16", "fd00:10:96::/112"] },
  { labelled: { label: "ServiceCIDR inner", uid: "uid-i" }, cidrs: ["10.96.4.0/24"] },
];

function node(name: string, podCIDRs: string[], addresses: [type: string, address: string][] = []): ObservedNode {
  return {
    metadata: { name, uid: `uid-${name}` },
    spec: { podCIDRs },
    status: { addresses: addresses.map(([type, address]) => ({ type, address })) },
  };
}

describe("overlap of a ServiceCIDR with what the cluster uses besides", () => {
  it.each<[string, ObservedNode[], string[], string[]]>([
    [
      "ranges beside each other: no notice",
      [node("a", ["10.95.0.0/16", "10.97.0.0/24"], [["InternalIP", "192.0.2.1"]])],
      ["192.0.2.9"],
      [],
    ],
    [
      "podCIDR inside a range: a notice",
      [node("a", ["10.96.9.0/24"])],
      [],
      ["10.96.0.0/16 of the ServiceCIDR kubernetes overlaps the podCIDR 10.96.9.0/24 of the Node a"],
    ],
    [
      "podCIDR around two ranges: a notice for each",
      [node("a", ["10.0.0.0/8"])],
      [],
      [
        "10.96.0.0/16 of the ServiceCIDR kubernetes overlaps the podCIDR 10.0.0.0/8 of the Node a",
        "10.96.4.0/24 of the ServiceCIDR inner overlaps the podCIDR 10.0.0.0/8 of the Node a",
      ],
    ],
    [
      "second podCIDR of the other family: a notice",
      [node("a", ["10.244.0.0/24", "fd00:10:96::8000/113"])],
      [],
      ["fd00:10:96::/112 of the ServiceCIDR kubernetes overlaps the podCIDR fd00:10:96::8000/113 of the Node a"],
    ],
    [
      "address of a Node: a notice for each range around it",
      [node("a", [], [["InternalIP", "10.96.4.7"]])],
      [],
      [
        "10.96.0.0/16 of the ServiceCIDR kubernetes contains the InternalIP 10.96.4.7 of the Node a",
        "10.96.4.0/24 of the ServiceCIDR inner contains the InternalIP 10.96.4.7 of the Node a",
      ],
    ],
    [
      "advertised address: a notice",
      [],
      ["fd00:10:96::5"],
      [
        "fd00:10:96::/112 of the ServiceCIDR kubernetes contains fd00:10:96::5, an address of the API servers (endpoints of default/kubernetes)",
      ],
    ],
    ["names and broken texts: no notice", [node("a", ["10.96.0.0", ""], [["Hostname", "a.example.com"]])], ["", "nothing"], []],
  ])("%s", (_, nodes, advertised, messages) => {
    const found = overlaps(ranges, { nodes, advertised });
    expect(found.map(({ message }) => message).sort()).toEqual(messages.sort());
    expect(new Set(found.map(({ rule, lastingMs }) => `${rule} ${String(lastingMs)}`))).toEqual(
      new Set(messages.length > 0 ? ["notice 0"] : []),
    );
  });

  it("podCIDR without podCIDRs: read from the older field", () => {
    const [notice] = overlaps(ranges, { nodes: [{ metadata: { name: "a" }, spec: { podCIDR: "10.96.9.0/25" } }], advertised: [] });
    expect(notice?.objects).toEqual(["ServiceCIDR kubernetes", "Node a"]);
  });
});

describe("addresses of the API servers", () => {
  it("endpoints and slice with the same addresses: each address once", () => {
    const subsets = [{ addresses: [{ ip: "192.0.2.1" }], notReadyAddresses: [{ ip: "192.0.2.2" }] }];
    const slice = { addressType: "IPv4", endpoints: [{ addresses: ["192.0.2.1", "192.0.2.3"] }] };
    expect(advertisedIn({ subsets }, slice)).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
  });

  it("neither endpoints nor slice: no address", () => {
    expect(advertisedIn(undefined, undefined)).toEqual([]);
    expect(advertisedIn({}, { addressType: "IPv4", endpoints: [] })).toEqual([]);
  });
});

describe("a server that nobody is told where to reach", () => {
  it("others are to reach it: one notice", () => {
    const [notice, ...more] = untold({ nodes: [], advertised: [], isUnreachable: true });
    expect(notice).toMatchObject({ rule: "notice", lastingMs: 0 });
    expect(notice?.message).toBe(
      "the Service default/kubernetes has no endpoints: ADVERTISE_ADDRESSES names no address of the API servers",
    );
    expect(more).toEqual([]);
  });

  it("addresses written by others, or nobody else is to reach it: none", () => {
    expect(untold({ nodes: [], advertised: ["192.0.2.1"], isUnreachable: true })).toEqual([]);
    expect(untold({ nodes: [], advertised: [] })).toEqual([]);
  });
});
