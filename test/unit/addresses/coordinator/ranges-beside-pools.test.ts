import { expect, it } from "vitest";
import { rangesBesidePools } from "../../../../src/addresses/coordinator/ranges-beside-pools";
import type { ServiceCIDR } from "../../../../src/api/meta/kubernetes";

const [V4, V6, OTHER] = ["10.0.0.0/24", "fd00::/120", "10.9.0.0/24"] as const;

function range(name: string, cidrs: readonly string[], natDomain?: string): ServiceCIDR {
  return { metadata: { name, ...(natDomain && { annotations: { "servicenet.dev/nat-domain": natDomain } }) }, spec: { cidrs: [...cidrs] } };
}

it.each<[string, ServiceCIDR[], string[], string[]]>([
  [
    "stored ones, with their NAT domains",
    [range("kubernetes", [V4]), range("r", [OTHER], "x")],
    [V4],
    [`kubernetes  ${V4}`, `r x ${OTHER}`],
  ],
  ["the default one is missing: the configured ranges come", [], [V4, V6], [`kubernetes  ${V4},${V6}`]],
  [
    "the default one lacks its second family: it comes",
    [range("kubernetes", [V4], "x")],
    [V4, V6],
    [`kubernetes x ${V4}`, `kubernetes x ${V4},${V6}`],
  ],
  [
    "the default one is another: it stays, and the configured ranges never come",
    [range("kubernetes", [OTHER])],
    [V4],
    [`kubernetes  ${OTHER}`],
  ],
])("%s", (_name, stored, configured, want) => {
  const found = rangesBesidePools(stored, configured).map(({ name, natDomain, cidrs }) => `${name} ${natDomain} ${cidrs.join()}`);
  expect(found).toEqual(want);
});
