/** The ranges of Services that pools of addresses may not meet. */
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import { natDomainOf } from "../../api/registry/ipam/ipam";
import type { RangeOfServices } from "../../api/rpc/pool-book";
import { containsPrefix, prefixesIn } from "../../core/net/prefix";
import { compareDefault } from "./default-range";
import { DEFAULT_SERVICE_CIDR } from "./state/service-cidr-object";

export interface KnownRanges {
  stored: readonly ServiceCIDR[];
  /** The default ranges. What the default ServiceCIDR lacks of them comes with its second family, or when somebody deletes it. */
  configured: readonly string[];
  /** the ranges that ClusterIPs come from instead of objects; undefined = they come from objects */
  onlyRanges: readonly string[] | undefined;
  /** Prefixes that owners keep. Where the object went by force, or counts no more, Services still hold addresses there. */
  claims: readonly string[];
}

/** Ranges that no object stands for have the name "". */
export function rangesBesidePools({ stored, configured, onlyRanges, claims }: KnownRanges): RangeOfServices[] {
  const ranges = stored.map((object): RangeOfServices => ({
    name: object.metadata?.name ?? "",
    natDomain: natDomainOf(object),
    cidrs: object.spec?.cidrs ?? [],
  }));
  if (onlyRanges) ranges.push({ name: "", natDomain: "", cidrs: onlyRanges });
  const named = ranges.flatMap(({ cidrs }) => prefixesIn(cidrs));
  const left = claims.filter((claim) => !prefixesIn([claim]).every((prefix) => named.some((other) => containsPrefix(other, prefix))));
  const known = ranges.find(({ name }) => name === DEFAULT_SERVICE_CIDR);
  const coming = configured.filter((cidr) => !known?.cidrs.includes(cidr));
  if (coming.length > 0) {
    // An object that is made anew is in no domain; one that gets its second family keeps its own.
    const natDomain = known && compareDefault(known.cidrs, configured) === "lacksSecond" ? known.natDomain : "";
    ranges.push({ name: DEFAULT_SERVICE_CIDR, natDomain, cidrs: coming });
  }
  return left.length > 0 ? [...ranges, { name: "", natDomain: "", cidrs: left }] : ranges;
}
