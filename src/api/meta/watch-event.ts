/** Frames of a watch stream: one JSON document `{"type":T,"object":O}` per line (upstream apiserver pkg/endpoints/handlers/watch.go). */
import { encodeBase64 } from "../../core/encoding/base64";
import type { ObjectMeta } from "./kubernetes";
import type { Status } from "./status";
import { spliceTypeMeta, typeHead } from "./type-meta";

export type ChangeType = "ADDED" | "MODIFIED" | "DELETED";
export type EventType = ChangeType | "BOOKMARK" | "ERROR";

/** The annotations of the bookmark that ends the initial events of a streaming list. */
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
export const INITIAL_EVENTS_BLUEPRINT = "kubernetes.io/initial-events-list-blueprint";

/** A frame around the served text of an object (a Table, a PartialObjectMetadata). */
export function eventFrame(type: EventType, object: string): string {
  return `{"type":"${type}","object":${object}}\n`;
}

/** A frame from stored text; `head` is of `typeHead`. */
export function changeFrame(type: ChangeType, head: string, stored: string): string {
  return eventFrame(type, spliceTypeMeta(head, stored));
}

export interface Bookmark {
  kind: string;
  apiVersion: string;
  resourceVersion: string;
  /** the bookmark that ends the initial events of a streaming list also carries the shape of the list */
  initialEventsEnd?: boolean;
  /** members beside kind, apiVersion and metadata */
  members?: Readonly<Record<string, unknown>>;
}

/** base64 of an empty list of the kind: clients that list through a watch learn the type of the list from it. */
function initialEventsListBlueprint(kind: string, apiVersion: string): string {
  return encodeBase64(`${typeHead(`${kind}List`, apiVersion)},"metadata":{},"items":null}`);
}

/** Metadata of a bookmark's object: nothing but a resourceVersion, and whether the initial events end there. */
export function bookmarkMetadata(resourceVersion: string, initialEventsEnd: boolean): ObjectMeta {
  return { resourceVersion, ...(initialEventsEnd ? { annotations: { [INITIAL_EVENTS_END]: "true" } } : {}) };
}

function bookmarkObject({ kind, apiVersion, resourceVersion, initialEventsEnd = false, members = {} }: Bookmark): string {
  const metadata = bookmarkMetadata(resourceVersion, initialEventsEnd);
  if (metadata.annotations) {
    metadata.annotations[INITIAL_EVENTS_BLUEPRINT] = initialEventsListBlueprint(kind, apiVersion);
  }
  return `${typeHead(kind, apiVersion)},${JSON.stringify({ metadata, ...members }).slice(1)}`;
}

export function bookmarkFrame(bookmark: Bookmark): string {
  return eventFrame("BOOKMARK", bookmarkObject(bookmark));
}

/** The last frame of a failed watch. */
export function errorFrame(status: Status): string {
  return eventFrame("ERROR", JSON.stringify(status));
}
