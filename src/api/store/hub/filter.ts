/** Which objects of a store a list or watch sees, and how a change looks through that filter. */
import { parseJson } from "../../../core/encoding/exact-json";
import type { KubeObject } from "../../meta/kubernetes";
import { inRange, type KeyRange } from "../state/keys";
import type { ChangeType } from "../../meta/watch-event";
import type { HistoryEntry } from "../state/store-storage";

export interface Filter {
  range: KeyRange;
  /** The selectors behind `matches`: filters with equal text see the same. */
  selector?: string;
  /** absent = every object of the range: then no object need be parsed */
  matches?: (object: KubeObject) => boolean;
}

/** A change with its objects parsed at most once, however many watchers look at it. */
export class ObservedChange {
  #after: KubeObject | undefined;
  #before: KubeObject | undefined;

  constructor(readonly entry: HistoryEntry) {}

  get after(): KubeObject {
    return (this.#after ??= parseJson(this.entry.data) as KubeObject);
  }

  get before(): KubeObject | undefined {
    if (this.entry.before === "") return undefined;
    return (this.#before ??= parseJson(this.entry.before) as KubeObject);
  }
}

export interface SeenChange {
  type: ChangeType;
  /** stored JSON text */
  data: string;
}

/**
 * The change as a watcher with this filter sees it (upstream apiserver/pkg/storage/cacher). An object that leaves the selector is DELETED
 * with its previous contents and the new revision; an object that enters the selector is ADDED.
 */
export function seenThrough(filter: Filter, change: ObservedChange): SeenChange | undefined {
  const { entry } = change;
  if (!inRange(entry.key, filter.range)) return undefined;
  if (!filter.matches) return entry;
  const before = change.before;
  const was = before !== undefined && filter.matches(before);
  if (entry.type === "DELETED") return was ? entry : undefined;
  const is = filter.matches(change.after);
  if (is) return was ? { type: "MODIFIED", data: entry.data } : { type: "ADDED", data: entry.data };
  return was ? { type: "DELETED", data: atRevision(entry.before, entry.revision) } : undefined;
}

function atRevision(data: string, revision: number): string {
  const object = parseJson(data) as KubeObject;
  return JSON.stringify({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
}
