/**
 * What the mirroring controller writes for one name, as data: Endpoints that somebody wrote for a Service without selector become slices (upstream
 * pkg/controller/endpointslicemirroring). Endpoints that are not mirrored, or no more, have no slices of this controller; those of others are never
 * touched. There are no placeholders.
 */
import {
  ANNOTATION_LEADER,
  ANNOTATION_TRIGGER_TIME,
  LABEL_MANAGED_BY,
  LABEL_SERVICE_NAME,
  LABEL_SKIP_MIRROR,
  MIRRORING_CONTROLLER,
} from "../../api/meta/endpoint-keys";
import { LAST_APPLIED_ANNOTATION } from "../../api/fields/last-applied";
import { groupBy } from "../../core/base/group-by";
import { semanticEqual } from "../../api/meta/equality";
import type { Endpoints, EndpointSlice, Service } from "../../api/meta/kubernetes";
import { hasSelector, specOf } from "../../api/registry/services/predicates";
import type { ObjectEvent } from "../sources/object-event";
import { recycle, type SliceChanges } from "../slices/slice-changes";
import { endpointKey, endpointsOf, isSameVersion } from "../slices/slice-endpoint";
import { controllerReference, isManaged } from "../slices/slice-object";
import { type MirroredGroup, mirroredGroups, mirrorKey } from "./mirrored-groups";

export interface MirrorRequest {
  /** the name that Endpoints and Service share */
  readonly key: { readonly namespace: string; readonly name: string };
  readonly endpoints: Endpoints | undefined;
  readonly service: Service | undefined;
  /** slices of the namespace, at least those with the name as label */
  readonly slices: readonly EndpointSlice[];
  /** addresses of one subset that are mirrored, 1 to 1,000 */
  readonly maxPerSubset: number;
}

/** What metrics tell. */
export interface MirrorCounts {
  added: number;
  updated: number;
  removed: number;
  skipped: number;
  endpoints: number;
  /** slices after the writes */
  slices: number;
  /** slices if each were full */
  slicesDesired: number;
}

export interface MirrorPlan extends SliceChanges {
  /** undefined = the Endpoints are not mirrored */
  readonly counts: MirrorCounts | undefined;
  /** about the Endpoints */
  readonly events: readonly ObjectEvent[];
}

/** The writes that make the mirrored slices of one Endpoints object what they should be. Changes nothing. */
export function planMirror({ key, endpoints, service, slices, maxPerSubset }: MirrorRequest): MirrorPlan {
  const existing = slices.filter((slice) => isManaged(slice, { metadata: key }, MIRRORING_CONTROLLER));
  if (!endpoints || !isMirrored(endpoints, service)) return { create: [], update: [], remove: existing, counts: undefined, events: [] };

  const { groups, invalid, skipped } = mirroredGroups(endpoints, maxPerSubset);
  const counts: MirrorCounts = { added: 0, updated: 0, removed: 0, skipped, endpoints: 0, slices: groups.size, slicesDesired: 0 };
  const byKey = groupBy(existing, ({ addressType, ports }) => mirrorKey(addressType, ports));
  const changes: SliceChanges = { create: [], update: [], remove: [] };
  for (const [at, group] of groups) {
    const [first, ...others] = byKey.get(at) ?? [];
    changes.remove.push(...others);
    const isChanged = countChanges(first, group, counts);
    counts.endpoints += group.endpoints.size;
    counts.slicesDesired += Math.ceil(group.endpoints.size / maxPerSubset);
    const slice = mirrorSlice(endpoints, group);
    if (!first) changes.create.push({ ...slice, metadata: { ...slice.metadata, generateName: `${key.name}-` } });
    else if (isChanged || !isSameMetadata(first, slice)) {
      changes.update.push({ ...slice, metadata: { ...slice.metadata, name: first.metadata?.name } });
    }
  }
  for (const [at, unwanted] of byKey) if (!groups.has(at)) changes.remove.push(...unwanted);
  const recycled = recycle(changes, () => true);
  return {
    ...recycled,
    create: endpoints.metadata?.deletionTimestamp ? [] : recycled.create,
    counts,
    events: eventsOf(invalid, skipped, maxPerSubset),
  };
}

/** Endpoints of a Service with selector are the Endpoints controller's, and its slices are made of Pods. */
function isMirrored({ metadata }: Endpoints, service: Service | undefined): boolean {
  const isExcluded = metadata?.labels?.[LABEL_SKIP_MIRROR] === "true" || metadata?.annotations?.[ANNOTATION_LEADER] !== undefined;
  return !isExcluded && service !== undefined && !hasSelector(specOf(service));
}

/** Whether the slice has other endpoints than the group. */
function countChanges(slice: EndpointSlice | undefined, { endpoints }: MirroredGroup, counts: MirrorCounts): boolean {
  const missing = new Set(endpoints.keys());
  let [updated, removed] = [0, 0];
  for (const endpoint of slice ? endpointsOf(slice) : []) {
    const key = endpointKey(endpoint);
    const wanted = missing.delete(key) ? endpoints.get(key) : undefined;
    if (!wanted) removed++;
    else if (!isSameVersion(wanted, endpoint)) updated++;
  }
  const added = missing.size;
  counts.added += added;
  counts.updated += updated;
  counts.removed += removed;
  return added + updated + removed > 0;
}

/** The slice without a name. It has no resourceVersion either: an update replaces whatever has the name. */
function mirrorSlice({ metadata = {} }: Endpoints, { family, ports, endpoints }: MirroredGroup): EndpointSlice {
  const { namespace, name = "", uid = "" } = metadata;
  const { [ANNOTATION_TRIGGER_TIME]: _time, [LAST_APPLIED_ANNOTATION]: _applied, ...annotations } = metadata.annotations ?? {};
  return {
    metadata: {
      namespace,
      labels: { ...metadata.labels, [LABEL_SERVICE_NAME]: name, [LABEL_MANAGED_BY]: MIRRORING_CONTROLLER },
      annotations,
      ownerReferences: [controllerReference("Endpoints", name, uid)],
    },
    addressType: family,
    endpoints: [...endpoints.values()],
    ports: [...ports],
  };
}

function isSameMetadata(slice: EndpointSlice, wanted: EndpointSlice): boolean {
  return (["labels", "annotations", "ownerReferences"] as const).every((member) =>
    semanticEqual(slice.metadata?.[member], wanted.metadata?.[member]),
  );
}

function eventsOf(invalid: number, skipped: number, maxPerSubset: number): ObjectEvent[] {
  const events: ObjectEvent[] = [];
  if (invalid > 0) {
    const note = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
    events.push({ type: "Warning", reason: "InvalidIPAddress", note });
  }
  if (skipped > invalid) {
    const max = `A max of ${maxPerSubset} addresses can be mirrored to EndpointSlices per Endpoints subset`;
    events.push({ type: "Warning", reason: "TooManyAddressesToMirror", note: `${max}. ${skipped} addresses were skipped` });
  }
  return events;
}
