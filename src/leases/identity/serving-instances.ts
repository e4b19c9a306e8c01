/** The instances that serve a cluster, by its identity Leases. */
import { leastOf } from "../../core/base/extremes";
import { type FetchLike, refusal } from "../../api/client/fetch-like";
import type { Lease } from "../../api/meta/kubernetes";
import { parseJson } from "../../core/encoding/exact-json";
import { endOf, hasRunOut, IDENTITY_SELECTOR, isIdentityLease } from "./identity-lease";

const LEASES = "/apis/coordination.k8s.io/v1/leases";

export interface ServingInstances {
  /** In the order of their names, which is the same for everybody who asks. So work can be shared among them by index. */
  readonly living: readonly Lease[];
  /** Leases that nobody renews any more and that are not collected yet */
  readonly expired: number;
  /** when the first of those ran out, in milliseconds since the epoch; undefined = there is none, or none that says it */
  readonly expiredSinceMs: number | undefined;
}

/** Works on every API server. `nowMs` since the Unix epoch; the writers' clocks may be minutes away. Throws what the server refuses. */
export async function servingInstances(fetch: FetchLike, nowMs: number, signal: AbortSignal): Promise<ServingInstances> {
  const answer = await fetch(`${LEASES}?labelSelector=${encodeURIComponent(IDENTITY_SELECTOR)}`, { signal });
  const text = await answer.text();
  if (answer.status !== 200) throw refusal(answer.status, text);
  const leases = ((parseJson(text) as { items: Lease[] | null }).items ?? []).filter(isIdentityLease);
  const living = leases.filter((lease) => !hasRunOut(lease, nowMs));
  const ends = leases.flatMap((lease) => (hasRunOut(lease, nowMs) ? (endOf(lease) ?? []) : []));
  const nameOf = ({ metadata }: Lease): string => metadata?.name ?? "";
  return {
    living: living.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1)),
    expired: leases.length - living.length,
    expiredSinceMs: ends.length > 0 ? leastOf(ends) : undefined,
  };
}
