/** Sticky ownership: a new ServiceCIDR claims what nobody owns yet, and creation never moves an address. */
import { subtractPrefixes } from "../../core/net/prefix-set";
import { containsPrefix, formatPrefix, hostBitsOf, IPV4_MAPPED, lastOf, type Prefix } from "../../core/net/prefix";
import { byPosition } from "./prefix-index";
import type { NamedPrefix } from "./stored-prefix";

/**
 * The part of `wanted` that is in no claim, as the fewest prefixes, sorted and disjoint:
 *
 *     wanted  [------------------------------]   10.0.0.0/24
 *     claims         [------]                    10.0.0.64/26
 *     new     [-----]        [---------------]   10.0.0.0/26, 10.0.0.128/25
 *
 * Nobody claims what is left inside ::ffff:0:0/96: no API field accepts the text of an address in there.
 */
export function claimUnowned(wanted: readonly Prefix[], claims: readonly Prefix[]): Prefix[] {
  return subtractPrefixes(wanted, claims)
    .filter((prefix) => !containsPrefix(IPV4_MAPPED, prefix))
    .sort(byPosition);
}

/**
 * At most `max` of the prefixes, those with the most addresses, in address order: for an owner that cannot be told of more. Nobody claims the
 * others, so they give out nothing; they lie closest to smaller ranges.
 */
export function largestOf(prefixes: readonly Prefix[], max: number): Prefix[] {
  if (prefixes.length <= max) return [...prefixes];
  return [...prefixes]
    .sort((a, b) => hostBitsOf(b) - hostBitsOf(a))
    .slice(0, Math.max(max, 0))
    .sort(byPosition);
}

/** The largest prefixes that two or more of the disjoint `claims` make up together, with the texts of their parts. */
export function mergeSiblings(claims: readonly NamedPrefix[]): { merged: string; parts: string[] }[] {
  const stack: { parsed: Prefix; parts: string[] }[] = [];
  for (const { prefix, parsed } of [...claims].sort((a, b) => byPosition(a.parsed, b.parsed))) {
    let top = { parsed, parts: [prefix] };
    for (let below = stack.at(-1); below && areSiblings(below.parsed, top.parsed); below = stack.at(-1)) {
      stack.pop();
      top = { parsed: { ...below.parsed, length: below.parsed.length - 1 }, parts: [...below.parts, ...top.parts] };
    }
    stack.push(top);
  }
  return stack.filter(({ parts }) => parts.length > 1).map(({ parsed, parts }) => ({ merged: formatPrefix(parsed), parts }));
}

/** Whether the two are the lower and the upper half of one prefix. */
function areSiblings(low: Prefix, high: Prefix): boolean {
  if (low.family !== high.family || low.length !== high.length || low.length === 0) return false;
  const whole: Prefix = { ...low, length: low.length - 1 };
  return (low.base >> hostBits(whole)) << hostBits(whole) === low.base && lastOf(whole) === lastOf(high);
}

function hostBits(prefix: Prefix): bigint {
  return BigInt(hostBitsOf(prefix));
}
