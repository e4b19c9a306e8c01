/** Services of type LoadBalancer and their addresses of pools: who shows an address of a pool for load balancers holds it, and the other way round. */
import { keyOf } from "../../api/meta/object-key";
import { formatAddress, parseAddress } from "../../core/net/address";
import { memberAt } from "../../core/net/interval";
import { labelled, suspect } from "./objects";
import type { ObservedCluster } from "./observed";
import { CONTROLLER_LASTING_MS, type ObservedPools } from "./pools";
import type { Suspicion } from "./suspicion";

export function wrongBalancers(
  { pools, addresses }: Pick<ObservedPools, "addresses" | "pools">,
  { services, unreadable = new Set() }: Pick<ObservedCluster, "services" | "unreadable">,
): Suspicion[] {
  const found: Suspicion[] = [];
  // What a write takes, or gives back, is stored in two places.
  const note = (rule: "pool" | "notice", objects: Parameters<typeof suspect>[1], message: string): void =>
    void found.push({ ...suspect(rule, objects, message), lastingMs: CONTROLLER_LASTING_MS });
  const balancers = pools.filter(({ isBalancer }) => isBalancer);
  const rows = addresses.filter(({ service }) => service !== undefined);
  if (rows.length === 0 && balancers.length === 0) return [];
  const held = new Set(rows.map(({ service, place }) => `${service ?? ""} ${place ? formatAddress(place.family, place.value) : ""}`));
  const shown = new Set<string>();
  const byUid = new Map(services.map((service) => [service.metadata?.uid ?? "", service]));
  for (const service of services) {
    for (const text of service.shows ?? []) {
      const parsed = parseAddress(text);
      if (!parsed.ok) continue;
      const { family, value } = parsed.value;
      const canonical = `${service.metadata?.uid ?? ""} ${formatAddress(family, value)}`;
      shown.add(canonical);
      const pool = balancers.find((one) => one.family === family && memberAt(one.intervals, value) !== undefined);
      if (!pool || held.has(canonical)) continue;
      note(
        "pool",
        [labelled("Service", service), pool.labelled],
        `${keyOf(service)} shows ${text} of ${pool.labelled.label}, and does not hold it`,
      );
    }
  }
  for (const { labelled: by, service: uid = "", claimKey, place } of rows) {
    const service = byUid.get(uid);
    if (!service) {
      if (!unreadable.has(`Service ${claimKey}`)) note("pool", [by], `${by.label} is of a Service that is gone`);
    } else if (place && !shown.has(`${uid} ${formatAddress(place.family, place.value)}`))
      note("notice", [by, labelled("Service", service)], `${by.label} is held for ${keyOf(service)}, which does not show it`);
  }
  return found;
}
