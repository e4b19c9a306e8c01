/** The metadata of the slices that a controller writes for a Service. Source: upstream endpointslice/utils.go. */
import type { Family } from "../../core/net/family";
import { LABEL_HEADLESS, LABEL_MANAGED_BY, LABEL_SERVICE_NAME, SLICE_CONTROLLER } from "../../api/meta/endpoint-keys";
import { semanticEqual } from "../../api/meta/equality";
import type { Endpoint, EndpointSlice, ObjectMeta, OwnerReference, Service } from "../../api/meta/kubernetes";
import { hasClusterIP } from "../sources/service-families";
import type { SlicePort } from "./slice-ports";

const RESERVED_LABELS: readonly string[] = [LABEL_SERVICE_NAME, LABEL_MANAGED_BY, LABEL_HEADLESS];

/** Whether the slice stands for the Service of this name and is this controller's. One that is being deleted is nobody's. */
export function isManaged(slice: EndpointSlice, service: { metadata?: ObjectMeta }, controller: string): boolean {
  const { namespace, labels, deletionTimestamp } = slice.metadata ?? {};
  return (
    namespace === service.metadata?.namespace &&
    labels?.[LABEL_SERVICE_NAME] === service.metadata?.name &&
    labels?.[LABEL_MANAGED_BY] === controller &&
    !deletionTimestamp
  );
}

/** Whether the slice was made for this Service, not for an earlier one of its name. */
export function isOwnedBy(slice: EndpointSlice, service: Service): boolean {
  const uid = service.metadata?.uid;
  return Boolean(
    slice.metadata?.ownerReferences?.some((owner) => owner.uid === uid && owner.kind === "Service" && owner.apiVersion === "v1"),
  );
}

/** The labels of the Service's slices: its own, and those that say whose slice it is. */
export function sliceLabels(service: Service): Record<string, string> {
  return {
    ...withoutReserved(service.metadata?.labels),
    ...(!hasClusterIP(service) && { [LABEL_HEADLESS]: "" }),
    [LABEL_SERVICE_NAME]: service.metadata?.name ?? "",
    [LABEL_MANAGED_BY]: SLICE_CONTROLLER,
  };
}

/** Whether the slice has other labels of the Service than the Service has now. The reserved ones cause no write, the headless one neither. */
export function hasOldLabels(slice: EndpointSlice, service: Service): boolean {
  return !semanticEqual(withoutReserved(slice.metadata?.labels), withoutReserved(service.metadata?.labels));
}

function withoutReserved(labels: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !RESERVED_LABELS.includes(key)));
}

/** A slice that is to be created for the Service. */
export function newSlice(service: Service, family: Family, ports: readonly SlicePort[], endpoints: Endpoint[]): EndpointSlice {
  const { namespace, name = "", uid = "" } = service.metadata ?? {};
  return {
    metadata: {
      generateName: `${name}-`,
      namespace,
      labels: sliceLabels(service),
      ownerReferences: [controllerReference("Service", name, uid)],
    },
    addressType: family,
    endpoints,
    ports: [...ports],
  };
}

/** The reference by which garbage collection deletes a slice with the object that it was made for. */
export function controllerReference(kind: string, name: string, uid: string): OwnerReference {
  return { apiVersion: "v1", kind, name, uid, controller: true, blockOwnerDeletion: true };
}
