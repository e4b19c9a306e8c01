import { expect, it } from "vitest";
import { type KnownRanges, rangesBesidePools } from "../../../../src/addresses/coordinator/ranges-beside-pools";
import type { ServiceCIDR } from "../../../../src/api/meta/kubernetes";

const [V4, V6, OTHER] = ["10.0.0.0/24", "fd00::/120", "10.9.0.0/24"] as const;

function range(name: string, cidrs: readonly string[], natDomain?: string): ServiceCIDR {
  return { metadata: { name, ...(natDomain && { annotations: { "servicenet.dev/nat-domain": natDomain } }) }, spec: { cidrs: [...cidrs] } };
}

it.each<[string, Partial<KnownRanges>, string[]]>([
  [
    "stored ones, with their NAT domains",
    { stored: [range("kubernetes", [V4]), range("r", [OTHER], "x")], configured: [V4] },
    [`kubernetes  ${V4}`, `r x ${OTHER}`],
  ],
  ["the default one is missing: the configured ranges come", { configured: [V4, V6] }, [`kubernetes  ${V4},${V6}`]],
  [
    "the default one lacks its second family: it comes",
    { stored: [range("kubernetes", [V4], "x")], configured: [V4, V6] },
    [`kubernetes x ${V4}`, `kubernetes x ${V6}`],
  ],
  [
    "the default one is another: the configured ranges come when somebody deletes it, in no NAT domain",
    { stored: [range("kubernetes", [OTHER], "x")], configured: [V4] },
    [`kubernetes x ${OTHER}`, `kubernetes  ${V4}`],
  ],
  [
    "ClusterIPs come from configured ranges only: these count beside what is stored",
    { stored: [range("kubernetes", [OTHER])], configured: [OTHER], onlyRanges: [V4], claims: [V4] },
    [`kubernetes  ${OTHER}`, `  ${V4}`],
  ],
  [
    "an owner's prefix whose object is gone counts in every NAT domain; one within a range adds nothing",
    { stored: [range("kubernetes", [V4]), range("r", [OTHER], "x")], configured: [V4], claims: [V4, "10.9.0.0/25", "10.112.0.0/24"] },
    [`kubernetes  ${V4}`, `r x ${OTHER}`, "  10.112.0.0/24"],
  ],
])("%s", (_name, given, want) => {
  const all = { stored: [], configured: [], onlyRanges: undefined, claims: [], ...given };
  const found = rangesBesidePools(all).map(({ name, natDomain, cidrs }) => `${name} ${natDomain} ${cidrs.join()}`);
  expect(found).toEqual(want);
});
