import type { EndpointSlice } from "../../api/meta/kubernetes";

/** Writes in the order in which they are to be made: all of `create`, then of `update`, then of `remove`. */
export interface SliceChanges {
  create: EndpointSlice[];
  /** those with a resourceVersion meet only that version; the others replace whatever has the name */
  update: EndpointSlice[];
  remove: EndpointSlice[];
}

/**
 * Gives each slice that is to be created, the last one first, the name of one that is to be deleted: one write instead of two (upstream finalize).
 * Only slices of one address type can change into each other.
 */
export function recycle(changes: SliceChanges, isReusable: (slice: EndpointSlice) => boolean): SliceChanges {
  const create = [...changes.create];
  const update = [...changes.update];
  const remove = changes.remove.filter((old) => {
    const last = create.at(-1);
    if (!last || last.addressType !== old.addressType || !isReusable(old)) return true;
    create.pop();
    update.push({ ...last, metadata: { ...last.metadata, name: old.metadata?.name } });
    return false;
  });
  return { create, update, remove };
}
