/**
 * What the EndpointSlice controller writes for one Service, as data: the same question as upstream's Reconcile, nothing here acts.
 *
 * - Families are planned one by one, in the Service's order: a failed write of one does not keep the other from being written.
 * - Slices of a family that the Service has no more are deleted after all others.
 * - Slices of other controllers, and slices that are being deleted, are never touched. Neither are those of a Service without Pods: a
 *   Service that loses its selector keeps its slices, for whoever writes them now.
 * - While a Service is being deleted nothing is created: the garbage collector deletes at the same time.
 */
import type { Family } from "../../core/net/family";
import { ANNOTATION_TRIGGER_TIME, SLICE_CONTROLLER } from "../../api/meta/endpoint-keys";
import type { EndpointSlice, Service } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import type { NodeLookup } from "../sources/node-zone";
import type { ObjectEvent } from "../sources/object-event";
import type { PodFacts } from "../sources/pod-facts";
import { serviceFamilies } from "../sources/service-families";
import { hasPods } from "../sources/service-pods";
import { asksForTopologyHints } from "./hints";
import { type FamilyCounts, planFamily } from "./plan-family";
import type { SliceChanges } from "./slice-changes";
import { isManaged } from "./slice-object";
import { type SkippedPod, wantedGroups } from "./wanted-groups";

export interface SliceRequest {
  readonly service: Service;
  /** those that its selector names */
  readonly pods: readonly PodFacts[];
  readonly nodes: NodeLookup;
  /** slices of its namespace, at least those with its name as label */
  readonly slices: readonly EndpointSlice[];
  /** endpoints in a slice, 1 to 1,000 */
  readonly max: number;
  /** when what is written changed, in milliseconds since the epoch; undefined = not known */
  readonly triggerTime?: number | undefined;
}

export interface FamilyPlan extends SliceChanges {
  readonly family: Family;
  readonly counts: FamilyCounts;
}

export interface SlicePlan {
  readonly families: readonly FamilyPlan[];
  /** slices of families that the Service does not have */
  readonly remove: readonly EndpointSlice[];
  /** Pods that wait for their Node, and addresses that no endpoint can have; each once */
  readonly skipped: readonly SkippedPod[];
  /** about the Service */
  readonly events: readonly ObjectEvent[];
}

/** The writes that make the slices of one Service what they should be. Changes nothing; an empty plan needs no write. */
export function planSlices(request: SliceRequest): SlicePlan {
  const { service, pods, nodes, max, triggerTime } = request;
  if (!hasPods(service)) return { families: [], remove: [], skipped: [], events: [] };
  const own = request.slices.filter((slice) => isManaged(slice, service, SLICE_CONTROLLER));
  const families = serviceFamilies(service);
  const skipped = new Map<string, SkippedPod>();
  const plans = families.map((family): FamilyPlan => {
    const wanted = wantedGroups(service, pods, nodes, family);
    for (const one of wanted.skipped) skipped.set(one.detail, one);
    const existing = own.filter(({ addressType }) => addressType === family);
    const { changes, counts } = planFamily({ service, family, groups: wanted.groups, existing, max });
    const stamp = (slice: EndpointSlice): EndpointSlice => withTriggerTime(slice, triggerTime);
    const create = service.metadata?.deletionTimestamp ? [] : changes.create.map(stamp);
    return { family, counts, create, update: changes.update.map(stamp), remove: changes.remove };
  });
  return {
    families: plans,
    remove: own.filter(({ addressType }) => !families.some((family) => family === addressType)),
    skipped: [...skipped.values()],
    events: asksForTopologyHints(service) ? families.map(hintsDisabled) : [],
  };
}

/** The slice with the time of its change; an older time is removed where the new one is not known. */
function withTriggerTime(slice: EndpointSlice, triggerTime: number | undefined): EndpointSlice {
  const { [ANNOTATION_TRIGGER_TIME]: _, ...annotations } = slice.metadata?.annotations ?? {};
  if (triggerTime !== undefined) annotations[ANNOTATION_TRIGGER_TIME] = rfc3339Seconds(triggerTime);
  return { ...slice, metadata: { ...slice.metadata, annotations } };
}

function hintsDisabled(family: Family): ObjectEvent {
  return {
    type: "Warning",
    reason: "TopologyAwareHintsDisabled",
    note: `Topology Aware Hints has been disabled, addressType: ${family}`,
  };
}
