/** Core events <-> events.k8s.io events: the same objects under other member names (upstream pkg/apis/events/v1/conversion.go). */
import type { KubeObject } from "../../meta/kubernetes";

/** [events.k8s.io, core]; everything else has the same name in both. */
const RENAMED: readonly (readonly [string, string])[] = [
  ["regarding", "involvedObject"],
  ["note", "message"],
  ["reportingController", "reportingComponent"],
  ["deprecatedSource", "source"],
  ["deprecatedFirstTimestamp", "firstTimestamp"],
  ["deprecatedLastTimestamp", "lastTimestamp"],
  ["deprecatedCount", "count"],
];

const TO_CORE: ReadonlyMap<string, string> = new Map(RENAMED);
const FROM_CORE: ReadonlyMap<string, string> = new Map(RENAMED.map(([events, core]) => [core, events]));

/** Members that a form always has (no omitempty upstream). */
const ALWAYS_IN_CORE: readonly (readonly [string, unknown])[] = [
  ["involvedObject", {}],
  ["source", {}],
  ["firstTimestamp", null],
  ["lastTimestamp", null],
  ["eventTime", null],
  ["reportingComponent", ""],
  ["reportingInstance", ""],
];
const ALWAYS_IN_EVENTS: readonly (readonly [string, unknown])[] = [["eventTime", null]];
const EMPTY_SERIES = { count: 0, lastObservedTime: null };

function renamed(object: KubeObject, names: ReadonlyMap<string, string>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) out[names.get(key) ?? key] = value;
  return out;
}

function withAlways(object: Record<string, unknown>, always: readonly (readonly [string, unknown])[]): KubeObject {
  for (const [key, value] of always) object[key] ??= value;
  return object;
}

/** events.k8s.io -> core, which is stored */
export function toCoreEvent(object: KubeObject): KubeObject {
  return withAlways(renamed(object, TO_CORE), ALWAYS_IN_CORE);
}

/** Adds the members that a core event always has (structs and members without omitempty upstream). */
export function completeCoreEvent(event: KubeObject): void {
  withAlways(event as unknown as Record<string, unknown>, ALWAYS_IN_CORE);
}

/** core -> events.k8s.io, where an empty reporter is left out and a series has both of its members */
export function fromCoreEvent(object: KubeObject): KubeObject {
  const event = renamed(object, FROM_CORE);
  for (const key of ["reportingController", "reportingInstance"]) if (event[key] === "") delete event[key];
  if (event["series"]) event["series"] = { ...EMPTY_SERIES, ...event["series"] };
  return withAlways(event, ALWAYS_IN_EVENTS);
}
