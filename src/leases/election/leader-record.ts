/**
 * Leader election on a Lease: what a candidate concludes from the Lease that it sees, and what it writes. Pure.
 * Source of the rules: client-go tools/leaderelection. A Lease expires by the time since this process saw its last change, on this process's clock.
 * Times that others write are never compared with a clock here, so clocks may be apart by any amount.
 */
import type { Lease } from "../../api/meta/kubernetes";
import { rfc3339Micros } from "../../api/meta/time";

/** A Lease, and when its content was first seen. */
export interface SeenLease {
  readonly lease: Lease;
  /** on the clock that never jumps, in milliseconds */
  readonly atMs: number;
}

/** What a candidate may do now. */
export type LeaderVerdict =
  /** it holds the Lease already */
  | { readonly kind: "renew" }
  /** nobody holds it, or the holder has let it run out */
  | { readonly kind: "take" }
  /** another one holds it, until then at the earliest */
  | { readonly kind: "wait"; readonly untilMs: number };

/** What the candidate `identity` may do at `nowMs`, read before the Lease was. */
export function judge({ lease, atMs }: SeenLease, identity: string, nowMs: number): LeaderVerdict {
  const { holderIdentity, leaseDurationSeconds } = lease.spec ?? {};
  if (!holderIdentity) return { kind: "take" };
  if (holderIdentity === identity) return { kind: "renew" };
  const untilMs = atMs + (leaseDurationSeconds ?? 0) * 1000;
  // Equal counts as not expired: on a clock of milliseconds a Lease without a duration would be expired at first sight.
  return untilMs >= nowMs ? { kind: "wait", untilMs } : { kind: "take" };
}

/** What was seen before, then `lease`. A content that is seen again keeps its time. */
export function seenNext(before: SeenLease | undefined, lease: Lease, nowMs: number): SeenLease {
  const same = before !== undefined && contentOf(before.lease) === contentOf(lease);
  return { lease, atMs: same ? before.atMs : nowMs };
}

function contentOf({ metadata, spec = {} }: Lease): string {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = spec;
  return JSON.stringify([metadata?.uid, holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions]);
}

/** Whether both are of one term: the same object, holder and acquisition. */
export function isSameTerm(a: Lease, b: Lease): boolean {
  const term = ({ metadata, spec = {} }: Lease): string =>
    JSON.stringify([metadata?.uid, spec.holderIdentity, spec.leaseTransitions, spec.acquireTime]);
  return term(a) === term(b);
}

/** What a candidate writes into a Lease. */
export interface Holding {
  readonly identity: string;
  /** whole */
  readonly durationSeconds: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** A Lease that its first holder makes. `nowMs` since the Unix epoch, here and below. */
export function createdBy(namespace: string, name: string, holding: Holding, nowMs: number): Lease {
  const { labels } = holding;
  const metadata = { name, namespace, ...(Object.keys(labels).length > 0 ? { labels: { ...labels } } : {}) };
  return { metadata, spec: heldBy(holding, { acquireTime: rfc3339Micros(nowMs), transitions: 0 }, nowMs) };
}

/** The Lease in other hands. */
export function takenBy(lease: Lease, holding: Holding, nowMs: number): Lease {
  const transitions = (lease.spec?.leaseTransitions ?? 0) + 1;
  return written(lease, holding, heldBy(holding, { acquireTime: rfc3339Micros(nowMs), transitions }, nowMs));
}

/** The Lease for another duration in the same hands. */
export function renewedBy(lease: Lease, holding: Holding, nowMs: number): Lease {
  const { acquireTime = rfc3339Micros(nowMs), leaseTransitions: transitions = 0 } = lease.spec ?? {};
  return written(lease, holding, heldBy(holding, { acquireTime, transitions }, nowMs));
}

/** The Lease without a holder. It runs out after a second even for those that look at its duration alone. */
export function releasedBy(lease: Lease, holding: Holding, nowMs: number): Lease {
  const at = rfc3339Micros(nowMs);
  const { leaseTransitions = 0 } = lease.spec ?? {};
  const spec = { holderIdentity: "", leaseDurationSeconds: 1, acquireTime: at, renewTime: at, leaseTransitions };
  return written(lease, holding, spec);
}

type Spec = NonNullable<Lease["spec"]>;

function heldBy({ identity, durationSeconds }: Holding, term: { acquireTime: string; transitions: number }, nowMs: number): Spec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: durationSeconds,
    acquireTime: term.acquireTime,
    renewTime: rfc3339Micros(nowMs),
    leaseTransitions: term.transitions,
  };
}

/** Fields and labels that are not the election's stay. */
function written(lease: Lease, { labels }: Holding, spec: Spec): Lease {
  const metadata = { ...lease.metadata, ...(Object.keys(labels).length > 0 ? { labels: { ...lease.metadata?.labels, ...labels } } : {}) };
  return { ...lease, metadata, spec: { ...lease.spec, ...spec } };
}
