/** The ranges of Services that pools of addresses may not meet. */
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import { natDomainOf } from "../../api/registry/ipam/ipam";
import type { RangeOfServices } from "../../api/rpc/pool-book";
import { compareDefault } from "./default-range";
import { DEFAULT_SERVICE_CIDR } from "./state/service-cidr-object";

/** `configured`: the default ranges. They come by themselves where the default ServiceCIDR is missing, or lacks its second family. */
export function rangesBesidePools(stored: readonly ServiceCIDR[], configured: readonly string[]): RangeOfServices[] {
  const ranges = stored.map((object): RangeOfServices => ({
    name: object.metadata?.name ?? "",
    natDomain: natDomainOf(object),
    cidrs: object.spec?.cidrs ?? [],
  }));
  const known = ranges.find(({ name }) => name === DEFAULT_SERVICE_CIDR);
  const isComing = !known || compareDefault(known.cidrs, configured) === "lacksSecond";
  return isComing ? [...ranges, { name: DEFAULT_SERVICE_CIDR, natDomain: known?.natDomain ?? "", cidrs: configured }] : ranges;
}
