/**
 * How the wanted endpoints of one group go into its slices with few writes (upstream reconcileByPortMapping):
 *
 *   1. Each slice keeps what is still wanted of it, in the new version. It is then unchanged, changed, or empty and to be deleted.
 *   2. Endpoints without a slice fill the changed slices, the fullest first: they are written anyway.
 *   3. The rest goes into the one unchanged slice that it fills best, if it fits; otherwise into new slices.
 *
 * Nothing is moved from slice to slice, so slices grow sparse when Pods go. A change that rewrites every slice packs them anew.
 */
import type { Endpoint, EndpointSlice } from "../../api/meta/kubernetes";
import { endpointKey, endpointsOf, isSameVersion } from "./slice-endpoint";

export interface PackRequest {
  readonly existing: readonly EndpointSlice[];
  /** by endpointKey */
  readonly wanted: ReadonlyMap<string, Endpoint>;
  /** endpoints in a slice, 1 to 1,000 */
  readonly max: number;
  /** whether a slice is written even if its endpoints stay the same */
  mustWrite(slice: EndpointSlice): boolean;
}

export interface ChangedSlice {
  readonly slice: EndpointSlice;
  readonly endpoints: Endpoint[];
}

export interface Packing {
  /** the endpoints of each new slice */
  readonly fresh: Endpoint[][];
  readonly changed: ChangedSlice[];
  /** nothing in them is wanted */
  readonly emptied: EndpointSlice[];
  readonly unchanged: EndpointSlice[];
  /** endpoints that no slice had */
  readonly added: number;
  /** endpoints that are not wanted, or twice there */
  readonly removed: number;
}

export function pack(request: PackRequest): Packing {
  const { max } = request;
  const { changed, emptied, unchanged, left, removed } = keepWanted(request);
  const added = left.length;

  changed.sort((a, b) => b.endpoints.length - a.endpoints.length);
  for (const { endpoints } of changed) endpoints.push(...left.splice(0, Math.max(0, max - endpoints.length)));

  const fresh: Endpoint[][] = [];
  while (left.length > 0) {
    const slice = left.length < max ? bestFit(unchanged, left.length, max) : undefined;
    if (slice) {
      unchanged.splice(unchanged.indexOf(slice), 1);
      changed.push({ slice, endpoints: [...endpointsOf(slice), ...left.splice(0)] });
    } else fresh.push(left.splice(0, max));
  }
  return { fresh, changed, emptied, unchanged, added, removed };
}

/** Step 1. `left` are the wanted endpoints that no slice has. */
function keepWanted({ existing, wanted, mustWrite }: PackRequest): Omit<Packing, "fresh" | "added"> & { left: Endpoint[] } {
  const placed = new Set<Endpoint>();
  const changed: ChangedSlice[] = [];
  const emptied: EndpointSlice[] = [];
  const unchanged: EndpointSlice[] = [];
  let removed = 0;
  for (const slice of existing) {
    const settled = settledEndpoints(slice, wanted, placed);
    if (settled) {
      if (mustWrite(slice)) changed.push({ slice, endpoints: settled });
      else unchanged.push(slice);
      continue;
    }
    const before = endpointsOf(slice);
    const endpoints: Endpoint[] = [];
    let isUpdated = false;
    for (const endpoint of before) {
      const key = endpointKey(endpoint);
      const version = wanted.get(key);
      if (!version || placed.has(version)) continue;
      placed.add(version);
      endpoints.push(version);
      isUpdated ||= !isSameVersion(version, endpoint);
    }
    removed += before.length - endpoints.length;
    const lost = endpoints.length < before.length;
    if (!lost && !isUpdated) known.set(slice, endpoints.map(asKnown));
    if (lost && endpoints.length === 0) emptied.push(slice);
    else if (lost || isUpdated || mustWrite(slice)) changed.push({ slice, endpoints });
    else unchanged.push(slice);
  }
  const left = placed.size === wanted.size ? [] : [...wanted.values()].filter((endpoint) => !placed.has(endpoint));
  return { changed, emptied, unchanged, left, removed };
}

interface KeyedEndpoint {
  readonly key: string;
  readonly version: Endpoint;
}

/** The endpoints of slices that had them all as wanted at the last look. Neither slices nor endpoints are changed in place. */
const known = new WeakMap<EndpointSlice, readonly KeyedEndpoint[]>();

function asKnown(version: Endpoint): KeyedEndpoint {
  return { key: endpointKey(version), version };
}

/** The endpoints of a slice in which everything is as it was at the last look, now placed; undefined = every endpoint has to be compared. */
function settledEndpoints(slice: EndpointSlice, wanted: ReadonlyMap<string, Endpoint>, placed: Set<Endpoint>): Endpoint[] | undefined {
  const endpoints = known.get(slice);
  if (!endpoints?.every(({ key, version }) => wanted.get(key) === version && !placed.has(version))) return undefined;
  for (const { version } of endpoints) placed.add(version);
  return endpoints.map(({ version }) => version);
}

/** The slice that takes `count` more endpoints and is then closest to full, the first of equals (upstream getSliceToFill). */
function bestFit(slices: readonly EndpointSlice[], count: number, max: number): EndpointSlice | undefined {
  let best: EndpointSlice | undefined;
  let least = max;
  for (const slice of slices) {
    const free = max - count - endpointsOf(slice).length;
    if (free >= 0 && free < least) [best, least] = [slice, free];
  }
  return best;
}
