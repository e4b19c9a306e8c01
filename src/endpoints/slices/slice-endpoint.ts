/** When two endpoints are the same one, and when it has changed (upstream util/endpointset.go and EndpointsEqualBeyondHash). */
import type { Endpoint, EndpointSlice } from "../../api/meta/kubernetes";

/** Endpoints are never changed in place, and a Service has the same ones look after look. */
const keys = new WeakMap<Endpoint, string>();

/** Equal for the versions of one endpoint. Two Pods with one address are two endpoints. */
export function endpointKey(endpoint: Endpoint): string {
  let key = keys.get(endpoint);
  if (key === undefined) {
    const { addresses, hostname, targetRef } = endpoint;
    const address = addresses.length === 1 ? addresses[0] : [...addresses].sort().join();
    key = `${address} ${hostname ?? ""} ${targetRef?.namespace ?? ""}/${targetRef?.name ?? ""}`;
    keys.set(endpoint, key);
  }
  return key;
}

/** Whether two versions of one endpoint say the same. Hints do not count, nor does the resourceVersion of what it refers to. */
export function isSameVersion(a: Endpoint, b: Endpoint): boolean {
  if (a === b) return true;
  return (
    (a.nodeName ?? null) === (b.nodeName ?? null) &&
    (a.zone ?? null) === (b.zone ?? null) &&
    (a.conditions?.ready ?? null) === (b.conditions?.ready ?? null) &&
    (a.conditions?.serving ?? null) === (b.conditions?.serving ?? null) &&
    (a.conditions?.terminating ?? null) === (b.conditions?.terminating ?? null) &&
    isSameReference(a.targetRef, b.targetRef)
  );
}

const REFERENCE_MEMBERS = ["kind", "namespace", "name", "uid", "apiVersion", "fieldPath"] as const;

function isSameReference(a: Endpoint["targetRef"], b: Endpoint["targetRef"]): boolean {
  return REFERENCE_MEMBERS.every((member) => (a?.[member] ?? "") === (b?.[member] ?? ""));
}

/** The endpoints of a stored slice, which has null for none. */
export function endpointsOf(slice: EndpointSlice): readonly Endpoint[] {
  const endpoints: readonly Endpoint[] | null | undefined = slice.endpoints;
  return endpoints ?? [];
}
