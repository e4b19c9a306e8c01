/**
 * Identity Leases: each instance that serves a cluster has one in `kube-system` (KEP-1965). Pure rules: which Leases are such, when one has run
 * out, and what an instance does about its own.
 *
 *   the Lease                                  the instance
 *   there is none                              makes it
 *   its own, renewed less than an interval ago leaves it
 *   its own, renewed before                    renews it
 *   of another start, renewed recently         leaves it: isolates of one location share the Lease
 *   of another start, three renewals missed,   takes it over, and counts the transition
 *   or run out before
 *
 * A renewal is late by its own time, or by how long it was seen here without a change. So a clock that is far ahead keeps nobody out. Upstream writes
 * holder, acquireTime and leaseTransitions otherwise (docs/compatibility.md).
 */
import type { KubeObject, Lease } from "../../api/meta/kubernetes";
import { validateLabelValue } from "../../api/meta/names";
import { parseTime } from "../../api/meta/time";
import type { ExpiryRule } from "../../controllers/object-expiry";
import { createdBy, type Holding, renewedBy, type SeenLease, takenBy } from "../election/leader-record";

export const IDENTITY_NAMESPACE = "kube-system";
export const LABEL_IDENTITY = "apiserver.kubernetes.io/identity";
export const LABEL_HOSTNAME = "kubernetes.io/hostname";
/** The label of the KEP's text, beside upstream's. */
const LABEL_COMPONENT = "k8s.io/component";
const IDENTITY = "kube-apiserver";
/** A label selector of identity Leases. */
export const IDENTITY_SELECTOR = `${LABEL_IDENTITY}=${IDENTITY}`;
const MISSED_RENEWALS_MAX = 3;

/** An instance: one start of the server at one place. */
export interface Instance {
  readonly hostname: string;
  /** new at each start */
  readonly identity: string;
  readonly durationSeconds: number;
  readonly renewSeconds: number;
}

/** Whether a Lease of the collected namespace is an identity Lease, whatever its name. */
export function isIdentityLease({ metadata }: KubeObject): boolean {
  return metadata?.namespace === IDENTITY_NAMESPACE && metadata.labels?.[LABEL_IDENTITY] === IDENTITY;
}

/** Whether nobody has renewed the Lease for its duration. One without a time or a duration has run out, as upstream. */
export function hasRunOut(lease: Lease, nowMs: number): boolean {
  const endMs = endOf(lease);
  return endMs === undefined || endMs < nowMs;
}

/** When the Lease runs out unless it is renewed, in milliseconds since the epoch. */
export function endOf({ spec }: Lease): number | undefined {
  const renewedMs = parseTime(spec?.renewTime);
  const { leaseDurationSeconds } = spec ?? {};
  return renewedMs === undefined || leaseDurationSeconds === undefined ? undefined : renewedMs + leaseDurationSeconds * 1000;
}

/**
 * The collection of identity Leases that have run out. Its clock may be minutes away from those of the writers: a Lease lasts for hundreds of
 * renewals. Leases of others have no end here.
 */
export const IDENTITY_EXPIRY: ExpiryRule = {
  namespace: IDENTITY_NAMESPACE,
  isOver: (object, nowMs) => (isIdentityLease(object) ? hasRunOut(object as Lease, nowMs) : undefined),
};

export type IdentityStep =
  | { readonly kind: "create" | "update"; readonly lease: Lease }
  /** nothing to do before then */
  | { readonly kind: "rest"; readonly untilMs: number };

/** What the instance does now. `seen` on the clock of `nowMs`, since the Unix epoch; undefined = there is no Lease. */
export function nextStep(name: string, seen: SeenLease | undefined, instance: Instance, nowMs: number): IdentityStep {
  const holding = holdingOf(instance);
  if (!seen) return { kind: "create", lease: createdBy(IDENTITY_NAMESPACE, name, holding, nowMs) };
  const { lease, atMs } = seen;
  const renewMs = instance.renewSeconds * 1000;
  const renewedMs = parseTime(lease.spec?.renewTime) ?? 0;
  if (lease.spec?.holderIdentity === instance.identity) {
    const dueMs = renewedMs + renewMs;
    // A time to come was not written by this instance.
    return dueMs > nowMs && renewedMs <= nowMs ? { kind: "rest", untilMs: dueMs } : renewal(lease, instance, nowMs);
  }
  const missedMs = Math.min(MISSED_RENEWALS_MAX * renewMs, (lease.spec?.leaseDurationSeconds ?? 0) * 1000);
  const untilMs = Math.min(renewedMs, atMs) + missedMs;
  return untilMs > nowMs ? { kind: "rest", untilMs } : { kind: "update", lease: takenBy(lease, holding, nowMs) };
}

/** The instance's own Lease for another duration. */
export function renewal(lease: Lease, instance: Instance, nowMs: number): Extract<IdentityStep, { kind: "create" | "update" }> {
  return { kind: "update", lease: renewedBy(lease, holdingOf(instance), nowMs) };
}

function holdingOf({ hostname, identity, durationSeconds }: Instance): Holding {
  // Upstream's writes of a Lease whose host name is no label value are refused.
  const host: Record<string, string> = validateLabelValue(hostname).length === 0 ? { [LABEL_HOSTNAME]: hostname } : {};
  return { identity, durationSeconds, labels: { [LABEL_IDENTITY]: IDENTITY, [LABEL_COMPONENT]: IDENTITY, ...host } };
}
