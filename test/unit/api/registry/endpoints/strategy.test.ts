import { describe, expect, it } from "vitest";
import type { Endpoints } from "../../../../../src/api/meta/kubernetes";
import { endpointsDefinition as definition } from "../../../../../src/api/registry/endpoints/definition";
import { create, NOW, update } from "../outcomes";

type Subset = NonNullable<Endpoints["subsets"]>[number];

function errorsOf(...subsets: Subset[]): string[] {
  return create<Endpoints>(definition, { metadata: { name: "a" }, subsets }).errors;
}

const addresses = [{ ip: "10.0.0.1" }];

describe("validation", () => {
  it.each<[string, Subset, (string | RegExp)[]]>([
    ["good", { addresses, notReadyAddresses: [{ ip: "2001:db8::1", hostname: "h", nodeName: "n" }], ports: [{ port: 80 }] }, []],
    ["no address", { ports: [{ port: 80 }] }, ["subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`"]],
    [
      "no IP",
      { addresses: [{ ip: "x" }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
      ],
    ],
    ["loopback", { notReadyAddresses: [{ ip: "127.0.0.1" }] }, [/^subsets\[0\]\.notReadyAddresses\[0\]\.ip: .*loopback/]],
    [
      "hostname",
      { addresses: [{ ip: "10.0.0.1", hostname: "a.b" }] },
      ['subsets[0].addresses[0].hostname: Invalid value: "a.b": must not contain dots'],
    ],
    [
      "port number",
      { addresses, ports: [{ port: 0 }] },
      ["subsets[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
    ],
    [
      "protocol",
      { addresses, ports: [{ port: 1, protocol: "x" }] },
      ['subsets[0].ports[0].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP"'],
    ],
    ["several ports need names", { addresses, ports: [{ port: 1 }, { name: "b", port: 2 }] }, ["subsets[0].ports[0].name: Required value"]],
  ])("%s: upstream's errors", (_, subset, want) => {
    const got = errorsOf(subset);
    expect(got).toHaveLength(want.length);
    want.forEach((text, i) => (typeof text === "string" ? expect(got[i]).toBe(text) : expect(got[i]).toMatch(text)));
  });
});

it.each<[string, Subset[], string[]]>([
  ["the same subsets with another label", [{ addresses: [{ ip: "127.0.0.1" }] }], []],
  ["the same subsets with an empty list", [{ addresses: [{ ip: "127.0.0.1" }], notReadyAddresses: [] }], []],
  ["another bad address", [{ addresses: [{ ip: "127.0.0.2" }] }], ["subsets[0].addresses[0].ip"]],
  ["a good subset beside", [{ addresses: [{ ip: "127.0.0.1" }] }, { addresses }], ["subsets[0].addresses[0].ip"]],
])("an update of subsets that no rule allows, %s: refused where subsets change", (_, subsets, want) => {
  const metadata = { namespace: "ns", name: "a", uid: "u", resourceVersion: "1" };
  const before: Endpoints = { metadata, subsets: [{ addresses: [{ ip: "127.0.0.1" }] }] };
  const { errors } = update<Endpoints>(definition, { after: { metadata: { ...metadata, labels: { a: "b" } }, subsets }, before });
  expect(errors.map((error) => error.split(":")[0])).toEqual(want);
});

it("a write: sets the protocol TCP, and warns of addresses in another form", () => {
  const notReadyAddresses = [{ ip: "2001:DB8::1" }];
  const subsets = [{ addresses, notReadyAddresses, ports: [{ port: 80 }] }];
  const { object, warnings } = create<Endpoints>(definition, { metadata: { name: "a" }, subsets });
  expect(warnings).toEqual([
    'subsets[0].notReadyAddresses[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
  ]);
  expect(object.subsets?.[0]?.ports).toEqual([{ port: 80, protocol: "TCP" }]);
});

it.each<[Subset[] | undefined, string]>([
  [undefined, "<none>"],
  [[{ notReadyAddresses: addresses, ports: [{ port: 80 }] }], ""],
  [[{ addresses: [{ ip: "10.0.0.1" }, { ip: "2001:db8::1" }], ports: [{ port: 80 }] }], "10.0.0.1:80,[2001:db8::1]:80"],
  [[{ addresses, ports: [1, 2, 3, 4].map((port) => ({ port })) }], "10.0.0.1:1,10.0.0.1:2,10.0.0.1:3 + 1 more..."],
  [
    [
      {
        addresses: [{ ip: "10.0.0.9" }, { ip: "10.0.0.3" }],
        ports: [
          { name: "b", port: 2 },
          { name: "a", port: 1 },
        ],
      },
    ],
    "10.0.0.9:2,10.0.0.3:2,10.0.0.9:1 + 1 more...",
  ],
  [[{ addresses }], "10.0.0.1"],
])("cells of %j: as kubectl shows them upstream", (subsets, want) => {
  expect(definition.cells({ metadata: { name: "a" }, subsets } as Endpoints, 0)).toEqual(["a", want, "<unknown>"]);
});

describe("the cell of the addresses", () => {
  const cell = (...subsets: Subset[]): unknown => definition.cells({ metadata: { name: "a" }, subsets } as Endpoints, 0)[1];
  const many = <T>(item: T): T[] => Array.from({ length: 100_000 }, () => item);

  it("the first three pairs, ports before addresses, and how many more", () => {
    expect(cell({ addresses: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }], ports: [{ port: 1 }, { port: 2 }] })).toBe(
      "10.0.0.1:1,[fd00::1]:1,10.0.0.1:2 + 1 more...",
    );
    expect(cell({ addresses }, { addresses, ports: [{ port: 1 }] })).toBe("10.0.0.1,10.0.0.1:1");
  });

  it("ports times addresses that are ten thousand millions: counted, not made", () => {
    expect(cell({ addresses: many({ ip: "10.0.0.1" }), ports: many({ port: 1 }) })).toBe(
      "10.0.0.1:1,10.0.0.1:1,10.0.0.1:1 + 9999999997 more...",
    );
    expect(cell({ addresses: many({ ip: "10.0.0.1" }) })).toBe("10.0.0.1,10.0.0.1,10.0.0.1 + 99997 more...");
  });
});

it.each<[string, Subset[], string]>([
  ["no subsets", [], "<none>"],
  ["two families", [{ addresses: [{ ip: "10.0.0.1" }, { ip: "2001:db8::1" }], ports: [{ port: 80 }] }], "10.0.0.1:80,[2001:db8::1]:80"],
  ["no ports", [{ addresses }, { addresses: [{ ip: "10.0.0.2" }] }], "10.0.0.1,10.0.0.2"],
  ["none ready", [{ notReadyAddresses: addresses, ports: [{ port: 80 }] }], ""],
  [
    "more than three in the first subset",
    [{ addresses: [1, 2, 3, 4].map((i) => ({ ip: `10.0.0.${i}` })), ports: [{ port: 80 }, { port: 81 }] }, { addresses }],
    "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80 + 6 more...",
  ],
])("the column of endpoints, %s: the first three", (_, subsets, shown) => {
  expect(definition.cells({ metadata: { name: "a" }, subsets } as Endpoints, NOW)[1]).toBe(shown);
});
