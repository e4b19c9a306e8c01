import { describe, expect, it } from "vitest";
import type { ServiceCIDR } from "../../../../src/api/meta/kubernetes";
import { formatPrefix } from "../../../../src/core/net/prefix";
import { coversPrefix, normalizePrefixes } from "../../../../src/core/net/prefix-set";
import { type MergedRanges, rangeSourceOf, serviceRanges } from "../../../../src/addresses/ranges/service-ranges";
import { prefixOf } from "../../../model/prefix-of";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { firstSeeds, itOfSeeds } from "../../../support/sim/platform/seeds";
import { randomPrefix } from "../topology/random-prefix";

const prefixes = ({ IPv4, IPv6 }: MergedRanges): string => [...IPv4.prefixes, ...IPv6.prefixes].join(" ");
const zones = ({ IPv4, IPv6 }: MergedRanges): string => [...IPv4.zones, ...IPv6.zones].join(" ");
const allReady = (text: string) => serviceRanges(text.split(" ").map((cidr) => ({ cidrs: [cidr], ready: true })));

describe("merged ranges", () => {
  it.each([
    ["one range", "10.96.0.0/24", "10.96.0.0/24", "0.96.10.in-addr.arpa"],
    ["an inner and an outer one", "10.96.0.0/24 10.96.0.0/16", "10.96.0.0/16", "96.10.in-addr.arpa"],
    ["the same one twice", "10.96.0.0/24 10.96.0.0/24", "10.96.0.0/24", "0.96.10.in-addr.arpa"],
    ["two halves", "10.96.0.128/25 10.96.0.0/25", "10.96.0.0/24", "0.96.10.in-addr.arpa"],
    [
      "neighbours that are no halves",
      "10.96.1.0/24 10.96.2.0/24",
      "10.96.1.0/24 10.96.2.0/24",
      "1.96.10.in-addr.arpa 2.96.10.in-addr.arpa",
    ],
    ["halves of halves", "10.96.0.0/26 10.96.0.64/26 10.96.0.128/25", "10.96.0.0/24", "0.96.10.in-addr.arpa"],
    [
      "both families, IPv4 first",
      "fd00::/64 10.96.0.0/24",
      "10.96.0.0/24 fd00::/64",
      `0.96.10.in-addr.arpa ${"0.".repeat(14)}d.f.ip6.arpa`,
    ],
    ["everything", "0.0.0.0/0 10.0.0.0/8 ::/0 fd00::/8", "0.0.0.0/0 ::/0", "in-addr.arpa ip6.arpa"],
    ["two halves of everything", "0.0.0.0/1 128.0.0.0/1", "0.0.0.0/0", "in-addr.arpa"],
    ["single addresses", "10.0.0.1/32 fd00::/128", "10.0.0.1/32 fd00::/128", `1.0.0.10.in-addr.arpa ${"0.".repeat(30)}d.f.ip6.arpa`],
    ["texts that are not canonical or no CIDR at all", "2001:DB8::/32 010.0.0.0/8 nonsense", "2001:db8::/32", "8.b.d.0.1.0.0.2.ip6.arpa"],
  ])("%s: the least prefixes, each with its reverse zone", (_, given, wantPrefixes, wantZones) => {
    const { ready, serving, orphaned } = allReady(given);
    expect(prefixes(ready)).toBe(wantPrefixes);
    expect(zones(ready)).toBe(wantZones);
    expect(serving).toEqual(ready);
    expect(orphaned).toEqual([]);
  });

  it("no source: two empty families", () => {
    const empty = { IPv4: { prefixes: [], zones: [] }, IPv6: { prefixes: [], zones: [] } };
    expect(serviceRanges([])).toEqual({ ready: empty, serving: empty, orphaned: [] });
  });

  it("source that is not ready, and held prefix without a source: still serving", () => {
    const sources = [
      { cidrs: ["10.96.0.0/24"], ready: true },
      { cidrs: ["10.96.1.0/24", "fd00::/112"], ready: false },
    ];
    const ranges = serviceRanges(sources, ["10.96.0.0/25", "10.96.2.0/23"]);
    expect(prefixes(ranges.ready)).toBe("10.96.0.0/24");
    expect(prefixes(ranges.serving)).toBe("10.96.0.0/22 fd00::/112");
    expect(ranges.orphaned).toEqual(["10.96.2.0/23"]);
  });

  const cidrs = ["10.0.0.0/24"];
  const ready = (status: string) => ({ conditions: [{ type: "Ready", status, reason: "", message: "", lastTransitionTime: "" }] });
  it.each<[string, ServiceCIDR, boolean]>([
    ["Ready", { spec: { cidrs }, status: ready("True") }, true],
    ["Ready=False", { spec: { cidrs }, status: ready("False") }, false],
    ["Ready=Unknown", { spec: { cidrs }, status: ready("Unknown") }, false],
    ["without a condition", { spec: { cidrs } }, false],
    [
      "being deleted, still Ready",
      { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, spec: { cidrs }, status: ready("True") },
      false,
    ],
  ])("a ServiceCIDR that is %s: ready only with the condition and without a deletion", (_, object, want) => {
    expect(rangeSourceOf(object)).toEqual({ cidrs, ready: want });
  });

  itOfSeeds(
    "random ranges: disjoint, in order, same addresses in prefixes and zones (seed %i)",
    { fixed: firstSeeds(3), further: 2 },
    (seed) => {
      const random = seededRandom(seed);
      for (let round = 0; round < 60; round++) {
        const given = Array.from({ length: 1 + random.below(12) }, () => randomPrefix(random));
        const { ready: merged } = allReady(given.map(formatPrefix).join(" "));
        const got = [...merged.IPv4.prefixes, ...merged.IPv6.prefixes].map(prefixOf);
        expect(got).toEqual(normalizePrefixes(got));
        for (const prefix of given) expect(coversPrefix(got, prefix)).toBe(true);
        for (const prefix of got) expect(coversPrefix(given, prefix)).toBe(true);
        expect(normalizePrefixes([...merged.IPv4.zones, ...merged.IPv6.zones].map(prefixOfZone))).toEqual(got);
      }
    },
  );
});

/** Reads a zone's name back. */
function prefixOfZone(zone: string) {
  const labels = zone
    .replace(/\.?(in-addr|ip6)\.arpa$/, "")
    .split(".")
    .filter(Boolean)
    .reverse();
  if (zone.endsWith("in-addr.arpa")) return prefixOf(`${[...labels, "0", "0", "0", "0"].slice(0, 4).join(".")}/${labels.length * 8}`);
  const base = BigInt(`0x${labels.join("").padEnd(32, "0")}`);
  return { family: "IPv6" as const, base, length: labels.length * 4 };
}
