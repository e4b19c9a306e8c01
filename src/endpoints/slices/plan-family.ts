/** The slices of a Service in one family: what is to be written, as data (upstream reconcileByAddressType). */
import type { Family } from "../../core/net/family";
import { groupBy } from "../../core/base/group-by";
import { semanticEqual } from "../../api/meta/equality";
import type { EndpointSlice, Service } from "../../api/meta/kubernetes";
import { type HintPolicy, hasOldHints, hintPolicyOf, withHints } from "./hints";
import { pack } from "./pack";
import { recycle, type SliceChanges } from "./slice-changes";
import { hasOldLabels, isOwnedBy, newSlice, sliceLabels } from "./slice-object";
import { portsKey } from "./slice-ports";
import type { WantedGroup } from "./wanted-groups";

/** What metrics tell of one family of a Service. */
export interface FamilyCounts {
  /** endpoints that no slice had */
  added: number;
  /** endpoints that slices with wanted ports have no more; upstream does not count those of other slices either */
  removed: number;
  endpoints: number;
  /** slices after the writes */
  slices: number;
  /** slices if each were full */
  slicesDesired: number;
}

export interface FamilyRequest {
  readonly service: Service;
  readonly family: Family;
  readonly groups: ReadonlyMap<string, WantedGroup>;
  /** the controller's slices of this family */
  readonly existing: readonly EndpointSlice[];
  /** endpoints in a slice, 1 to 1,000 */
  readonly max: number;
}

/** The changes of one family. Every written slice has the labels of the Service and the hints that it asks for. */
export function planFamily(request: FamilyRequest): { changes: SliceChanges; counts: FamilyCounts } {
  const { service, existing, groups, max } = request;
  const policy = hintPolicyOf(service);
  const counts: FamilyCounts = { added: 0, removed: 0, endpoints: 0, slices: 0, slicesDesired: 0 };
  const { owned, strangers } = byOwner(existing, service);
  const changes: SliceChanges = { create: [], update: [], remove: strangers };

  for (const [key, { ports, endpoints }] of groups) {
    const packing = pack({
      existing: owned.get(key) ?? [],
      wanted: endpoints,
      max,
      mustWrite: (slice) => hasOldLabels(slice, service) || hasOldHints(slice, policy),
    });
    changes.create.push(...packing.fresh.map((fresh) => newSlice(service, request.family, ports, fresh)));
    changes.update.push(...packing.changed.map(({ slice, endpoints }) => ({ ...slice, endpoints })));
    changes.remove.push(...packing.emptied);
    counts.added += packing.added;
    counts.removed += packing.removed;
    counts.endpoints += endpoints.size;
    counts.slicesDesired += Math.ceil(endpoints.size / max);
  }
  for (const [key, slices] of owned) if (!groups.has(key)) changes.remove.push(...slices);
  keepPlaceholder(request, changes);

  const recycled = recycle(changes, (old) => isOwnedBy(old, service));
  counts.slices = existing.length + recycled.create.length - recycled.remove.length;
  counts.slicesDesired = Math.max(1, counts.slicesDesired);
  return { changes: finished(recycled, service, policy), counts };
}

/** The Service's own slices by portsKey, and those of an earlier Service of its name. */
function byOwner(
  existing: readonly EndpointSlice[],
  service: Service,
): { owned: Map<string, EndpointSlice[]>; strangers: EndpointSlice[] } {
  const isOwn = (slice: EndpointSlice): boolean => isOwnedBy(slice, service);
  return {
    owned: groupBy(existing.filter(isOwn), ({ ports }) => portsKey(ports)),
    strangers: existing.filter((slice) => !isOwn(slice)),
  };
}

/** A family never loses its last slice: an empty one says that there are no endpoints. One that stands already is not written again. */
function keepPlaceholder({ service, family, existing }: FamilyRequest, changes: SliceChanges): void {
  if (changes.create.length > 0 || changes.remove.length < existing.length) return;
  const placeholder = newSlice(service, family, [], []);
  const [only] = changes.remove;
  if (changes.remove.length === 1 && only && isSamePlaceholder(only, placeholder)) changes.remove = [];
  else changes.create.push(placeholder);
}

/** Owner and annotations do not count; a label with an empty value equals none (upstream placeholderSliceCompare). */
function isSamePlaceholder(slice: EndpointSlice, placeholder: EndpointSlice): boolean {
  const labels = slice.metadata?.labels ?? {};
  const wanted = placeholder.metadata?.labels ?? {};
  return (
    semanticEqual(slice.endpoints, placeholder.endpoints) &&
    semanticEqual(slice.ports, placeholder.ports) &&
    [...Object.keys(labels), ...Object.keys(wanted)].every((key) => (labels[key] ?? "") === (wanted[key] ?? ""))
  );
}

/** Written slices get the Service's labels and hints; slices in `existing` are never changed in place. */
function finished({ create, update, remove }: SliceChanges, service: Service, policy: HintPolicy): SliceChanges {
  const finish = (slice: EndpointSlice): EndpointSlice => ({
    ...slice,
    metadata: { ...slice.metadata, labels: sliceLabels(service) },
    endpoints: slice.endpoints.map((endpoint) => withHints(endpoint, policy)),
  });
  return { create: create.map(finish), update: update.map(finish), remove };
}
