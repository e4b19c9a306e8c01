import { describe, expect, it } from "vitest";
import { addressStrategy } from "../../../../../src/api/registry/ipam/address-strategy";
import { claimStrategy } from "../../../../../src/api/registry/ipam/claim-strategy";
import type { AddressClaim, AddressPool, PoolSpec } from "../../../../../src/api/registry/ipam/ipam";
import { rangesOf } from "../../../../../src/api/registry/ipam/pool-ranges";
import { prefixPoolStrategy } from "../../../../../src/api/registry/ipam/prefix-pool-strategy";
import type { FieldError } from "../../../../../src/api/meta/field-errors";

const CONTEXT = { now: 0, serviceFamilies: ["IPv4"] } as const;
const GROUP = "ipam.cluster.x-k8s.io";
const LENGTH = "servicenet.dev/prefix-length";

function texts(errors: readonly FieldError[]): string[] {
  return errors.map(({ field, body }) => `${field}: ${body}`);
}

function defaulted(spec: PoolSpec): AddressPool {
  const pool: AddressPool = { spec: { ...spec } };
  prefixPoolStrategy.defaults(pool);
  return pool;
}

describe("pools of prefixes: the webhook's texts, of either family", () => {
  const V4 = { prefixes: ["10.0.0.0/16"], allocationPrefixLength: 24 };

  it.each<[string, PoolSpec, string[]]>([
    ["IPv4", V4, []],
    ["IPv6, whose length has a default", { prefixes: ["fd00::/48"] }, []],
    ["another spelling", { prefixes: ["FD00:0::/48"] }, []],
    ["everything", { ...V4, gateway: "10.9.0.1", excludedPrefixes: ["10.0.1.1", "10.0.2.0-10.0.3.9", "10.0.9.0/25"] }, []],
    ["none", {}, ["spec.prefixes: Required value: prefixes is required"]],
    ["IPv4 without a length", { prefixes: ["10.0.0.0/16"] }, ["spec.allocationPrefixLength: Required value: an IPv4 pool has no default"]],
    [
      "a length beyond the family",
      { ...V4, allocationPrefixLength: 33 },
      ["spec.allocationPrefixLength: Invalid value: 33: allocationPrefixLength must be between 1 and 32"],
    ],
    [
      "a negative length",
      { prefixes: ["fd00::/48"], allocationPrefixLength: -1 },
      ["spec.allocationPrefixLength: Invalid value: -1: allocationPrefixLength must be between 1 and 128"],
    ],
    [
      "no prefixes",
      { ...V4, prefixes: ["10.0.0.0/16", "x", "10.1.0.0", "10.1.0.0/33", "::ffff:10.0.0.0/112"] },
      ["x", "10.1.0.0", "10.1.0.0/33", "::ffff:10.0.0.0/112"].map(
        (text) => `spec.prefixes: Invalid value: "${text}": provided entry is not a valid IPv4 CIDR`,
      ),
    ],
    [
      "two families",
      { prefixes: ["fd00::/48", "10.0.0.0/16"] },
      ['spec.prefixes: Invalid value: "10.0.0.0/16": only IPv6 prefixes are supported'],
    ],
    ["host bits", { ...V4, prefixes: ["10.0.0.1/16"] }, ['spec.prefixes: Invalid value: "10.0.0.1/16": CIDR must be network-aligned']],
    [
      "a prefix that is longer than what it is to give",
      { ...V4, prefixes: ["10.0.0.0/25"] },
      ['spec.prefixes: Invalid value: "10.0.0.0/25": CIDR prefix length must be <= allocationPrefixLength (24)'],
    ],
    [
      "a gateway of another family, and one that is none",
      { ...V4, gateway: "fd00::1" },
      ['spec.gateway: Invalid value: "fd00::1": provided gateway must be IPv4'],
    ],
    [
      "excluded ones of another family, and what is none",
      { ...V4, excludedPrefixes: ["fd00::/64", "x"] },
      [
        'spec.excludedPrefixes: Invalid value: "x": provided entry is not a valid IP, range, nor CIDR',
        'spec.excludedPrefixes: Invalid value: "fd00::/64": only IPv4 excluded prefixes are supported',
      ],
    ],
    [
      "a negative grace",
      { ...V4, addressReuseGracePeriodSeconds: -1 },
      ["spec.addressReuseGracePeriodSeconds: Invalid value: -1: addressReuseGracePeriodSeconds must not be negative"],
    ],
    [
      "too many",
      { ...V4, excludedPrefixes: Array.from({ length: 4_097 }, () => "10.0.0.1") },
      ["spec.excludedPrefixes: Too many: 4097: must have at most 4096 items"],
    ],
  ])("%s", (_, spec, errors) => {
    expect(texts(prefixPoolStrategy.validate(defaulted(spec), CONTEXT))).toEqual(errors);
  });

  it("the length: 64 where an IPv6 pool has none, and a warning where it gives out single addresses", () => {
    expect(defaulted({ prefixes: ["fd00::/48"] }).spec?.allocationPrefixLength).toBe(64);
    expect(defaulted({ prefixes: ["fd00::/48"], allocationPrefixLength: 0 }).spec?.allocationPrefixLength).toBe(64);
    expect(prefixPoolStrategy.warnings(defaulted(V4))).toEqual([]);
    expect(prefixPoolStrategy.warnings(defaulted({ prefixes: ["fd00::/64"], allocationPrefixLength: 128 }))).toEqual([
      "spec.allocationPrefixLength=128 behaves like host-address allocation; consider InClusterIPPool for single-address semantics",
    ]);
  });

  it("Services: get nothing of it, and whoever wants that is told", () => {
    const pool: AddressPool = { metadata: { annotations: { "servicenet.dev/load-balancer": "true" } }, spec: V4 };
    expect(texts(prefixPoolStrategy.validate(pool, CONTEXT))).toEqual([
      "metadata.annotations[servicenet.dev/load-balancer]: Forbidden: a pool of prefixes serves no Services",
    ]);
  });
});

describe("what is given out", () => {
  const given = (spec: PoolSpec): string[] =>
    (rangesOf(spec)?.intervals ?? []).map(({ first, last }) => `${first.toString(16)}-${last.toString(16)}`);

  it("excluded entries: every prefix that they touch is out", () => {
    const spec = {
      prefixes: ["10.0.0.0/22", "10.0.8.0/24"],
      allocationPrefixLength: 24,
      excludedPrefixes: ["10.0.1.7", "10.0.2.255-10.0.3.0"],
    };
    expect(given(spec)).toEqual(["a000000-a0000ff", "a000800-a0008ff"]);
    expect(given({ ...spec, excludedPrefixes: [] })).toEqual(["a000000-a0003ff", "a000800-a0008ff"]);
  });

  it("the mapped addresses of IPv4: are never given out", () => {
    expect(given({ prefixes: ["::/64"], allocationPrefixLength: 65 })).toEqual(["8000000000000000-ffffffffffffffff"]);
  });

  it("what is damaged: gives nothing", () => {
    expect(rangesOf({ prefixes: ["x"] })).toBeUndefined();
    expect(rangesOf({ prefixes: ["10.0.0.0/16"], allocationPrefixLength: 64 })).toBeUndefined();
  });
});

describe("the length that a claim asks for", () => {
  const claim = (text: string | undefined, kind = "InClusterPrefixPool", apiGroup = GROUP): AddressClaim => ({
    metadata: { name: "a", namespace: "ns", ...(text !== undefined && { annotations: { [LENGTH]: text } }) },
    spec: { poolRef: { name: "p", kind, apiGroup } },
  });
  const field = `metadata.annotations[${LENGTH}]`;

  it("is a number from 1 to 128, at claims on pools of prefixes alone", () => {
    for (const text of ["1", "9", "20", "99", "100", "119", "128"]) expect(claimStrategy.validate(claim(text), CONTEXT), text).toEqual([]);
    for (const text of ["", "0", "020", "-1", "129", "1e1", "x"])
      expect(texts(claimStrategy.validate(claim(text), CONTEXT))).toEqual([
        `${field}: Invalid value: ${JSON.stringify(text)}: must be a number from 1 to 128`,
      ]);
    expect(texts(claimStrategy.validate(claim("20", "InClusterIPPool"), CONTEXT))).toEqual([
      `${field}: Forbidden: a pool of addresses gives out no prefixes`,
    ]);
    expect(claimStrategy.validate(claim("x", "InClusterPrefixPool", "example.com"), CONTEXT)).toEqual([]);
  });

  it("cannot be changed", () => {
    const change = (before: AddressClaim, after: AddressClaim): string[] => texts(claimStrategy.validateUpdate({ after, before }, CONTEXT));
    expect(change(claim("20"), claim("20"))).toEqual([]);
    expect(change(claim("20"), claim("22"))).toEqual([`${field}: Invalid value: "22": field is immutable`]);
    expect(change(claim("20"), claim(undefined))).toEqual([`${field}: Invalid value: "": field is immutable`]);
  });
});

it("an IPAddress of a pool of prefixes: has the first address of its prefix", () => {
  const judged = (kind: string, address: string): string[] => {
    const spec = { claimRef: { name: "a" }, poolRef: { name: "p", kind, apiGroup: GROUP }, address, prefix: 24 };
    return texts(addressStrategy.validate({ metadata: { name: "a", namespace: "ns" }, spec }, CONTEXT));
  };
  expect(judged("InClusterPrefixPool", "10.0.1.0")).toEqual([]);
  expect(judged("InClusterPrefixPool", "10.0.1.1")).toEqual([
    'spec.address: Invalid value: "10.0.1.1": must be the first address of its prefix',
  ]);
  expect(judged("InClusterIPPool", "10.0.1.1")).toEqual([]);
});
