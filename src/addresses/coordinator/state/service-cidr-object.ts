/** The ServiceCIDR object as clients see it: its finalizer, its Ready condition, its event (upstream: pkg/controller/servicecidrs). */
import { DEFAULT_NAME } from "../../../api/registry/default-objects";
import { type EventReport, referenceTo } from "../../../api/events/event-recorder";
import type { Condition, KubeObject, ServiceCIDR } from "../../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../../api/meta/time";
import { tenancyOf } from "../../../api/registry/service-cidrs/tenancy";
import { serviceCIDRsDefinition } from "../../../api/registry/service-cidrs/definition";
import type { CidrRow, ReadyCondition } from "./coordinator-storage";

export const SERVICE_CIDR_FINALIZER = "networking.k8s.io/service-cidr-finalizer";
/** The object that SERVICE_CLUSTER_IP_RANGE describes. */
export const DEFAULT_SERVICE_CIDR = DEFAULT_NAME;

const DELAYED_NAMES_MAX = 5;

export const READY: ReadyCondition = { status: "True", reason: "", message: "Kubernetes Service CIDR is ready" };
export const TERMINATING: ReadyCondition = {
  status: "False",
  reason: "Terminating",
  message: "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR",
};

/** Nothing blocks the deletion, but it takes long: `names` are the ServiceCIDRs that are to take addresses over. */
export function delayed(names: readonly string[]): ReadyCondition {
  const few = names.slice(0, DELAYED_NAMES_MAX).join(", ") + (names.length > DELAYED_NAMES_MAX ? ", …" : "");
  const message = `IPAddresses of this ServiceCIDR are being handed over to other ServiceCIDRs, which takes longer than usual and is tried again: ${few}`;
  return { ...TERMINATING, message };
}

export function defaultServiceCIDR(cidrs: readonly string[]): ServiceCIDR {
  return { metadata: { name: DEFAULT_SERVICE_CIDR, finalizers: [SERVICE_CIDR_FINALIZER] }, spec: { cidrs: [...cidrs] } };
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata?.deletionTimestamp !== undefined;
}

/** Whether the Ready condition is False. As upstream, an absent condition is not. */
export function isReadyFalse(object: ServiceCIDR): boolean {
  return readyConditionOf(object)?.status === "False";
}

/** Puts the Coordinator's finalizer on the object, which must not disappear without the Coordinator. Changes the object. */
export function addFinalizer(object: KubeObject): void {
  const finalizers = object.metadata?.finalizers ?? [];
  if (finalizers.includes(SERVICE_CIDR_FINALIZER)) return;
  object.metadata = { ...object.metadata, finalizers: [...finalizers, SERVICE_CIDR_FINALIZER] };
}

/** The object without the Coordinator's finalizer; undefined when the object does not have it. */
export function withoutFinalizer(object: ServiceCIDR): ServiceCIDR | undefined {
  const finalizers = object.metadata?.finalizers ?? [];
  if (!finalizers.includes(SERVICE_CIDR_FINALIZER)) return undefined;
  return { ...object, metadata: { ...object.metadata, finalizers: finalizers.filter((name) => name !== SERVICE_CIDR_FINALIZER) } };
}

/** The object with this Ready condition; undefined when it has the same already. Only a change of status changes the transition time. */
export function withReadyCondition(object: ServiceCIDR, wanted: ReadyCondition, nowMs: number): ServiceCIDR | undefined {
  const conditions = object.status?.conditions ?? [];
  const existing = conditions.find((condition) => condition.type === "Ready");
  if (existing && sameCondition(wanted, existing)) return undefined;
  const lastTransitionTime = existing?.status === wanted.status ? existing.lastTransitionTime : rfc3339Seconds(nowMs);
  const ready: Condition = { type: "Ready", status: wanted.status, reason: wanted.reason, message: wanted.message, lastTransitionTime };
  return { ...object, status: { ...object.status, conditions: [...conditions.filter((c) => c !== existing), ready] } };
}

export function sameCondition(a: ReadyCondition | undefined, b: ReadyCondition | undefined): boolean {
  return a?.status === b?.status && a?.reason === b?.reason && a?.message === b?.message;
}

/** The row of an object. The fence ends with the change that it was for (deletion, Ready=False). */
export function cidrRowOf(object: ServiceCIDR, before: CidrRow | undefined): CidrRow {
  const deleting = isDeleting(object);
  const suspended = !deleting && isReadyFalse(object);
  const tenancy = tenancyOf(object);
  return {
    uid: object.metadata?.uid ?? "",
    name: object.metadata?.name ?? "",
    deleting,
    suspended,
    fencedUntil: deleting || suspended ? 0 : (before?.fencedUntil ?? 0),
    finalizer: object.metadata?.finalizers?.includes(SERVICE_CIDR_FINALIZER) ?? false,
    condition: readyConditionOf(object),
    ...(tenancy ? { tenancy } : {}),
  };
}

/** The Ready condition as it stands on the object; undefined = there is none. */
export function readyConditionOf(object: ServiceCIDR): ReadyCondition | undefined {
  const ready = object.status?.conditions?.find((condition) => condition.type === "Ready");
  return ready && { status: ready.status, reason: ready.reason, message: ready.message };
}

/** The object replaced one whose owner is retired. */
export function ownerLostReport(object: ServiceCIDR): EventReport {
  return {
    regarding: referenceTo(serviceCIDRsDefinition, object),
    type: "Warning",
    reason: "ServiceCIDROwnerRetired",
    action: "ServiceCIDRSync",
    note: "The ServiceCIDR had been deleted after the state that was restored, and what wrote its addresses is gone; it was made anew",
  };
}

/** The object could not be shown as ready. */
export function readyFailedReport(object: ServiceCIDR): EventReport {
  return {
    regarding: referenceTo(serviceCIDRsDefinition, object),
    type: "Warning",
    reason: "KubernetesServiceCIDRError",
    action: "ServiceCIDRSync",
    note: "The ServiceCIDR Status can not be set to Ready=True",
  };
}
