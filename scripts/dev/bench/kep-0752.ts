/**
 * What KEP-0752 works out on paper (keps/sig-network/0752-endpointslices, "Estimation"). These are writes, events and bytes for P endpoints and N
 * nodes, when a Service is made, one endpoint changes, and all Pods are replaced.
 */

export const WAYS = ["Endpoints", "B=100", "B=1"] as const;
/** One object for all endpoints, or slices of 100 or of 1. */
export type Way = (typeof WAYS)[number];
export const CHANGES = ["creation", "update", "rolling"] as const;
export type Change = (typeof CHANGES)[number];

export interface Sizes {
  readonly endpoints: number;
  readonly nodes: number;
}
export const LARGE: Sizes = { endpoints: 20_000, nodes: 5_000 };
export const SMALL: Sizes = { endpoints: 20, nodes: 10 };

export interface Estimate {
  readonly writes: number;
  /** at all watchers: each node has one */
  readonly events: number;
  /** to all watchers */
  readonly bytes: number;
}

/** The KEP calculates with 100 bytes for an endpoint, and with 1 KB for an object of a few endpoints. */
const ENDPOINT_BYTES = 100;
const SMALL_OBJECT_BYTES = 1_000;

export function estimate({ endpoints, nodes }: Sizes, way: Way, change: Change): Estimate {
  const perObject = way === "Endpoints" ? endpoints : way === "B=100" ? 100 : 1;
  const objects = Math.ceil(endpoints / perObject);
  const writes = { creation: objects, update: 1, rolling: endpoints }[change];
  const events = writes * nodes;
  const isSmall = Math.min(perObject, endpoints) < 100;
  // The KEP's "~10 GB" for 20,000 new slices of 1 is of their endpoints alone; everywhere else it gives such a slice 1 KB.
  const isOfEndpointsAlone = change === "creation" && way === "B=1" && endpoints > 100;
  const objectBytes = isOfEndpointsAlone ? ENDPOINT_BYTES : isSmall ? SMALL_OBJECT_BYTES : perObject * ENDPOINT_BYTES;
  return { writes, events, bytes: events * objectBytes };
}

/** In the units of the KEP: powers of 1,000. */
export function decimalBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let step = 0;
  let value = bytes;
  while (value >= 1_000 && step < units.length - 1) {
    value /= 1_000;
    step++;
  }
  return `${value.toLocaleString("en-US", { maximumSignificantDigits: 3 })} ${units[step] ?? ""}`;
}
