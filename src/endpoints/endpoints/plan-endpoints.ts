/**
 * What the Endpoints controller writes for one Service, as data (upstream pkg/controller/endpoint).
 *
 * - The wanted object is compared after truncation. So a Service with more than 1,000 addresses is written when something changes, not at every look
 *   as upstream does. A restart writes nothing.
 * - The headless label alone causes no write.
 * - Endpoints of a Service without selector are its user's. Those whose Service is gone are deleted, unless they are a lock of leader election.
 */
import {
  ANNOTATION_LEADER,
  ANNOTATION_OVER_CAPACITY,
  ANNOTATION_TRIGGER_TIME,
  ENDPOINTS_CONTROLLER,
  LABEL_ENDPOINTS_MANAGED_BY,
  LABEL_HEADLESS,
} from "../../api/meta/endpoint-keys";
import { semanticEqual } from "../../api/meta/equality";
import type { Endpoints, Service } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import type { ObjectEvent } from "../sources/object-event";
import type { PodFacts } from "../sources/pod-facts";
import { hasClusterIP } from "../sources/service-families";
import { hasPods } from "../sources/service-pods";
import { type EndpointSubset, repackSubsets } from "./repack-subsets";
import { ENDPOINTS_CAPACITY, withinCapacity } from "./truncate-subsets";
import { wantedSubsets } from "./wanted-subsets";

export interface EndpointsRequest {
  /** undefined = it is gone */
  readonly service: Service | undefined;
  /** those that its selector names */
  readonly pods: readonly PodFacts[];
  /** the Endpoints of its name; undefined = there are none */
  readonly stored: Endpoints | undefined;
  /** when what is written changed, in milliseconds since the epoch; undefined = not known */
  readonly triggerTime?: number | undefined;
}

export type EndpointsPlan =
  | { action: "none" | "delete" }
  /** the events are about the Endpoints; to be recorded after the write */
  | { action: "create" | "update"; endpoints: Endpoints; events: ObjectEvent[] };

const TRUNCATED = "truncated";

/** The write that makes the Endpoints of one Service what they should be, if one is needed. Changes nothing. */
export function planEndpoints(request: EndpointsRequest): EndpointsPlan {
  const { service, pods, stored } = request;
  if (!service) return { action: isOrphan(stored) ? "delete" : "none" };
  if (!hasPods(service)) return { action: "none" };
  const { subsets, total } = withinCapacity(wantedSubsets(service, pods));
  const labels = labelsOf(service);
  const isOver = total > ENDPOINTS_CAPACITY;
  const wasOver = stored?.metadata?.annotations?.[ANNOTATION_OVER_CAPACITY];
  const isMarked = wasOver === (isOver ? TRUNCATED : undefined);
  if (stored && isMarked && isSameBesidesHeadless(stored.metadata?.labels, labels) && isSame(stored.subsets, subsets)) {
    return { action: "none" };
  }
  const endpoints: Endpoints = {
    metadata: {
      ...(stored?.metadata ?? { namespace: service.metadata?.namespace, name: service.metadata?.name }),
      labels,
      annotations: annotationsOf(stored, isOver, request.triggerTime),
    },
    subsets,
  };
  const events = isOver && wasOver !== TRUNCATED ? [tooMany(total)] : [];
  return { action: stored ? "update" : "create", endpoints, events };
}

function isOrphan(stored: Endpoints | undefined): boolean {
  return stored !== undefined && stored.metadata?.annotations?.[ANNOTATION_LEADER] === undefined;
}

function labelsOf(service: Service): Record<string, string> {
  return {
    ...withoutHeadless(service.metadata?.labels),
    [LABEL_ENDPOINTS_MANAGED_BY]: ENDPOINTS_CONTROLLER,
    ...(!hasClusterIP(service) && { [LABEL_HEADLESS]: "" }),
  };
}

function withoutHeadless({ [LABEL_HEADLESS]: _, ...rest }: Readonly<Record<string, string>> = {}): Record<string, string> {
  return rest;
}

function isSameBesidesHeadless(stored: Readonly<Record<string, string>> | undefined, wanted: Readonly<Record<string, string>>): boolean {
  return semanticEqual(withoutHeadless(stored), withoutHeadless(wanted));
}

/** Whether stored subsets say what the wanted ones do: in any order, and whatever version of a Pod they refer to. */
function isSame(stored: readonly EndpointSubset[] | null | undefined, wanted: readonly EndpointSubset[]): boolean {
  return semanticEqual(repackSubsets(stored ?? []).map(withoutVersions), repackSubsets(wanted).map(withoutVersions));
}

function withoutVersions(subset: EndpointSubset): EndpointSubset {
  const strip = (addresses: EndpointSubset["addresses"]): EndpointSubset["addresses"] =>
    addresses?.map(({ targetRef, ...address }) => ({ ...address, ...(targetRef && { targetRef: { ...targetRef, resourceVersion: "" } }) }));
  return { ...subset, addresses: strip(subset.addresses), notReadyAddresses: strip(subset.notReadyAddresses) };
}

function annotationsOf(stored: Endpoints | undefined, isOver: boolean, triggerTime: number | undefined): Record<string, string> {
  const { [ANNOTATION_TRIGGER_TIME]: _time, [ANNOTATION_OVER_CAPACITY]: _over, ...others } = stored?.metadata?.annotations ?? {};
  return {
    ...others,
    ...(triggerTime !== undefined && { [ANNOTATION_TRIGGER_TIME]: rfc3339Seconds(triggerTime) }),
    ...(isOver && { [ANNOTATION_OVER_CAPACITY]: TRUNCATED }),
  };
}

/** KEP-0752 has the event, upstream only the annotation. */
function tooMany(total: number): ObjectEvent {
  const note = `${total} addresses exceed the ${ENDPOINTS_CAPACITY} that Endpoints have room for; EndpointSlices have all of them`;
  return { type: "Warning", reason: "EndpointsOverCapacity", note };
}
