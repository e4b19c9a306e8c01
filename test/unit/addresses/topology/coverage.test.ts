import { describe, expect, it } from "vitest";
import { onlyCoveredBy, splitByOwner } from "../../../../src/addresses/topology/coverage";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";

describe("onlyCoveredBy", () => {
  it.each([
    { name: "nobody else", own: ["10.0.0.0/24"], others: [], want: ["10.0.0.1-10.0.0.254"] },
    { name: "an equal one", own: ["10.0.0.0/24"], others: ["10.0.0.0/24"], want: [] },
    { name: "a larger one", own: ["10.0.4.0/24"], others: ["10.0.0.0/16"], want: [] },
    {
      name: "a smaller one, which does not cover its network and broadcast address",
      own: ["10.0.0.0/16"],
      others: ["10.0.4.0/24"],
      want: ["10.0.0.1-10.0.4.0", "10.0.4.255-10.0.255.254"],
    },
    { name: "two halves", own: ["10.0.0.0/24"], others: ["10.0.0.0/25", "10.0.0.128/25"], want: ["10.0.0.127-10.0.0.128"] },
    { name: "an inner and an outer one", own: ["10.0.0.0/24"], others: ["10.0.0.0/16"], want: [] },
    { name: "the last usable ones", own: ["10.0.0.0/30"], others: ["10.0.0.0/31"], want: ["10.0.0.1-10.0.0.2"] },
    { name: "/31 and /32, without a usable address", own: ["10.0.0.0/31"], others: [], want: [] },
    { name: "IPv6, without a broadcast address", own: ["fd00::/124"], others: [], want: ["fd00::1-fd00::f"] },
    { name: "IPv6 inside IPv6", own: ["fd00::/120"], others: ["fd00::10/124"], want: ["fd00::1-fd00::10", "fd00::20-fd00::ff"] },
    {
      name: "a range of the other family",
      own: ["10.0.0.0/30", "fd00::/127"],
      others: ["::/0"],
      want: ["10.0.0.1-10.0.0.2"],
    },
    { name: "dual-stack, one family covered", own: ["10.0.0.0/30", "fd00::/126"], others: ["10.0.0.0/8"], want: ["fd00::1-fd00::3"] },
  ])("$name: the addresses that lose their cover", ({ own, others, want }) => {
    const intervals = onlyCoveredBy(own.map(storedPrefix), others.map(storedPrefix));
    expect(intervals.map(({ first, last }) => `${first}-${last}`)).toEqual(want);
  });
});

describe("splitByOwner", () => {
  it.each<{ name: string; intervals: string[]; claims: [prefix: string, ownerUid: string][]; want: Record<string, string[]> }>([
    { name: "nobody has it", intervals: ["10.0.0.1-10.0.0.9"], claims: [["10.0.1.0/24", "a"]], want: {} },
    {
      name: "one interval over several segments",
      intervals: ["10.0.0.200-10.0.2.9"],
      claims: [
        ["10.0.2.0/24", "a"],
        ["10.0.0.0/24", "a"],
        ["10.0.1.0/24", "b"],
      ],
      want: { a: ["10.0.0.200-10.0.0.255", "10.0.2.0-10.0.2.9"], b: ["10.0.1.0-10.0.1.255"] },
    },
    {
      name: "several in one segment, and the other family",
      intervals: ["10.0.0.0-10.0.0.0", "10.0.0.255-10.0.1.0", "fd00::-fd00::"],
      claims: [
        ["fd00::/64", "b"],
        ["10.0.0.0/24", "a"],
      ],
      want: { a: ["10.0.0.0-10.0.0.0", "10.0.0.255-10.0.0.255"], b: ["fd00::-fd00::"] },
    },
  ])("$name: one interval for each owner and segment", ({ intervals, claims, want }) => {
    const parsed = intervals.map((text) => ({ first: text.split("-")[0] ?? "", last: text.split("-")[1] ?? "" }));
    const split = splitByOwner(
      parsed,
      claims.map(([prefix, ownerUid]) => ({ parsed: storedPrefix(prefix), ownerUid })),
    );
    const texts = [...split].map(([uid, parts]) => [uid, parts.map(({ first, last }) => `${first}-${last}`)]);
    expect(Object.fromEntries(texts)).toEqual(want);
  });
});
