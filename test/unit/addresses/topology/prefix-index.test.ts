import { describe, expect, it } from "vitest";
import { formatPrefix, relation } from "../../../../src/core/net/prefix";
import { PrefixIndex } from "../../../../src/addresses/topology/prefix-index";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import { seededRandom } from "../../../support/sim/platform/seeded-random";
import { randomPrefix } from "./random-prefix";

const indexOf = (texts: string[]): PrefixIndex<string> =>
  new PrefixIndex(texts.map((text) => ({ prefix: storedPrefix(text), value: text })));

describe("PrefixIndex", () => {
  const index = indexOf(["10.0.0.0/8", "10.0.0.0/16", "10.0.4.0/24", "10.1.0.0/16", "192.168.0.0/24", "fd00::/64"]);

  it.each([
    { query: "10.0.4.0/24", want: ["10.0.0.0/16", "10.0.0.0/8", "10.0.4.0/24"] },
    { query: "10.0.0.0/15", want: ["10.0.0.0/16", "10.0.0.0/8", "10.0.4.0/24", "10.1.0.0/16"] },
    { query: "10.0.5.0/24", want: ["10.0.0.0/16", "10.0.0.0/8"] },
    { query: "10.2.0.0/16", want: ["10.0.0.0/8"] },
    { query: "172.16.0.0/12", want: [] },
    { query: "0.0.0.0/0", want: ["10.0.0.0/16", "10.0.0.0/8", "10.0.4.0/24", "10.1.0.0/16", "192.168.0.0/24"] },
    { query: "fd00::1/128", want: ["fd00::/64"] },
  ])("intersecting: $query", ({ query, want }) => {
    expect(index.intersecting(storedPrefix(query)).sort()).toEqual(want);
  });

  it("containing: finds a prefix by its first and last address", () => {
    const at = (text: string): string[] => index.containing("IPv4", storedPrefix(`${text}/32`).base).sort();
    expect(at("192.168.0.0")).toEqual(["192.168.0.0/24"]);
    expect(at("192.168.0.255")).toEqual(["192.168.0.0/24"]);
    expect(at("192.168.1.0")).toEqual([]);
  });

  it("intersecting: finds the same as a scan of the list", () => {
    const seed = 20261121;
    const random = seededRandom(seed);
    for (let round = 0; round < 200; round++) {
      const prefixes = Array.from({ length: random.below(20) }, () => randomPrefix(random));
      const built = new PrefixIndex(prefixes.map((prefix) => ({ prefix, value: formatPrefix(prefix) })));
      const query = randomPrefix(random);
      const scanned = prefixes.filter((prefix) => relation(prefix, query) !== "disjoint").map(formatPrefix);
      expect(built.intersecting(query).sort(), `seed ${seed}, round ${round}`).toEqual(scanned.sort());
    }
  });
});
