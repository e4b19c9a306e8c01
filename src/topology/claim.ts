/** Sticky ownership (DESIGN §4): a new ServiceCIDR claims what nobody owns yet, and creation never moves an address. */
import { subtractPrefixes } from "../net/prefix-set";
import { containsPrefix, IPV4_MAPPED, type Prefix } from "../net/prefix";
import { byPosition } from "./prefix-index";

/**
 * The part of `wanted` that is in no claim, as few prefixes as possible, sorted and disjoint:
 *
 *     wanted  [------------------------------]   10.0.0.0/24
 *     claims         [------]                    10.0.0.64/26
 *     new     [-----]        [---------------]   10.0.0.0/26, 10.0.0.128/25
 *
 * What is left inside ::ffff:0:0/96 is claimed by nobody: nothing in there has a text that an API field accepts.
 */
export function claimUnowned(wanted: readonly Prefix[], claims: readonly Prefix[]): Prefix[] {
  return subtractPrefixes(wanted, claims)
    .filter((prefix) => !containsPrefix(IPV4_MAPPED, prefix))
    .sort(byPosition);
}
