/** What a watch is to show, and where it begins. */
import type { Random } from "../../../core/base/ports";
import { err, ok, type Result } from "../../../core/base/result";
import { expired, revisionTooLarge, type Status } from "../../meta/status";
import type { ResourceDefinition } from "../../registry/resource";
import type { CollectionRequest, WatchedCollection } from "../../rpc/store";
import type { StoreEngine } from "../engine/store-engine";
import { filterOf, scopeOf } from "../hub/collection-filter";
import type { Filter } from "../hub/filter";
import type { View } from "../hub/view";
import { viewOf } from "../hub/view-of";
import { WATCH_TIMEOUT_MIN_MS } from "../state/limits";

export type WatchedStore = Pick<
  StoreEngine<unknown>,
  "storage" | "history" | "clock" | "random" | "revision" | "floor" | "isOfAnotherLife" | "hub" | "afterPublication"
>;

/** What a watch is to show. */
export interface WatchPlan {
  filter: Filter;
  view: View;
  /** the newest revision */
  head: number;
  /** it begins with the objects at `head`; otherwise with the changes after `after` */
  fromNow: boolean;
  after: number;
}

/** What the watch is to show, or why it cannot be begun. `definition` is the requested representation. */
export function planOf(store: WatchedStore, request: CollectionRequest, definition: ResourceDefinition): Result<WatchPlan, Status> {
  const filter = filterOf(request, definition);
  if (!filter.ok) return filter;
  const view = viewOf(definition, request, () => store.clock.now());
  const since = Number(request.resourceVersion || "0");
  const head = store.revision;
  if (since > head) return err(revisionTooLarge(request.resourceVersion, head));
  const fromNow = request.sendInitialEvents ?? since === 0;
  // Without a resourceVersion and without initial events a watch begins with what comes.
  const after = since === 0 ? head : since;
  if (store.isOfAnotherLife(since) || (!fromNow && after < store.floor)) {
    return err(expired(`too old resource version: ${since} (${store.floor})`));
  }
  return ok({ filter: filter.value, view, head, fromNow, after });
}

/** How long a watch lasts, in milliseconds; not above 0 = it ends at once. */
export function watchDurationMs({ timeoutSeconds }: Pick<CollectionRequest, "timeoutSeconds">, random: Random): number {
  return timeoutSeconds !== 0 ? timeoutSeconds * 1000 : WATCH_TIMEOUT_MIN_MS + random.below(WATCH_TIMEOUT_MIN_MS);
}

/** What a request watches, for metrics. */
export function watchedCollection(request: CollectionRequest, { range }: Pick<Filter, "range">): WatchedCollection {
  const { group, version, resource } = request;
  return { group, version, resource, scope: scopeOf(request, range) };
}
