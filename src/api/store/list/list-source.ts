/**
 * The header by which every list and watch names its source: `owner;incarnation="…";floor=N` (the store itself, and how far back its
 * history reaches) or `edge;age=N` (a published copy, N seconds old). A structured field (RFC 8941), so that it may grow.
 */
export const SOURCE_HEADER = "Servicenet-Source";

/** What a store said of itself. */
export interface SeenStore {
  incarnation: string;
  /** the oldest revision from which a watch could go on */
  floor: number;
  /** milliseconds since the epoch at which the store was asked */
  at: number;
}

export function ownerSource(store: { incarnation: string; floor: number }): string {
  return `owner;incarnation="${store.incarnation}";floor=${store.floor}`;
}

export function edgeSource(ageMs: number): string {
  return `edge;age=${Math.floor(ageMs / 1000)}`;
}

/** What `ownerSource` said; undefined for any other source or none. */
export function parseOwnerSource(header: string | null, askedAt: number): SeenStore | undefined {
  const [, incarnation, floor] = /^owner;incarnation="([^"]+)";floor=(\d+)$/.exec(header ?? "") ?? [];
  return incarnation === undefined ? undefined : { incarnation, floor: Number(floor), at: askedAt };
}
