/**
 * Events under both their names. Core events are the stored form; `events.k8s.io` is another representation of the same objects
 * (reference §8: what is created there is visible in core, with the fields mapped).
 */
import { invalidValue, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { CoreEvent, EventsEvent, KubeObject } from "../../meta/kubernetes";
import { CoreEventSchema } from "../../schema/core-events";
import { EventsEventSchema } from "../../schema/events";
import { BASE_STRATEGY, COMMON, unsupportedFieldLabel } from "../defaults";
import { defineResource } from "../resource";
import { EVENT_COLUMNS, eventCells, sourceOf } from "./columns";
import { completeCoreEvent, fromCoreEvent, toCoreEvent } from "./conversion";
import { CORE_NAMES, validateEvent } from "./validate";

const REFERENCE_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;
const TYPES = ["Normal", "Warning"];

function referenceFields(prefix: string, event: CoreEvent): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const key of REFERENCE_FIELDS) fields[`${prefix}.${key}`] = event.involvedObject?.[key] ?? "";
  return fields;
}

const SHARED = {
  ...COMMON,
  versions: ["v1"],
  resource: "events",
  singular: "event",
  kind: "Event",
  shortNames: ["ev"],
  columns: EVENT_COLUMNS,
  unknownFieldLabel: unsupportedFieldLabel,
  allowCreateOnUpdate: true,
} as const;

export const eventsDefinition = defineResource<CoreEvent>({
  ...SHARED,
  group: "",
  schema: CoreEventSchema,
  cells: eventCells,
  selectableFields: (event) => ({
    ...referenceFields("involvedObject", event),
    reason: event.reason ?? "",
    reportingComponent: event.reportingComponent ?? "",
    source: sourceOf(event),
    type: event.type ?? "",
  }),
  fieldLabels: [...REFERENCE_FIELDS.map((key) => `involvedObject.${key}`), "reason", "reportingComponent", "source", "type"],
  strategy: { ...BASE_STRATEGY, defaults: completeCoreEvent, validate: (event: CoreEvent) => validateEvent(event, CORE_NAMES) },
});

function asCore(event: KubeObject): CoreEvent {
  return toCoreEvent(event) as CoreEvent;
}

/** Events made here carry the new fields and none of the old ones; a core event that is updated here may keep them. */
function validateNewEvent(event: EventsEvent): FieldError[] {
  const errors: FieldError[] = [];
  if (!event.eventTime && !event.deprecatedFirstTimestamp) errors.push(required("eventTime"));
  if (!TYPES.includes(event.type ?? "")) errors.push(invalidValue("type", event.type ?? "", "has invalid value: "));
  return errors.concat(
    validateEvent(asCore(event), { involvedObject: "regarding", reportingController: "reportingController", message: "note" }),
  );
}

export const eventsGroupEventsDefinition = defineResource<EventsEvent>({
  ...SHARED,
  group: "events.k8s.io",
  schema: EventsEventSchema,
  cells: (event, now) => eventCells(asCore(event), now),
  selectableFields: (event) => ({
    ...referenceFields("regarding", asCore(event)),
    reason: event.reason ?? "",
    reportingController: event.reportingController ?? "",
    type: event.type ?? "",
  }),
  fieldLabels: [...REFERENCE_FIELDS.map((key) => `regarding.${key}`), "reason", "reportingController", "type"],
  strategy: { ...BASE_STRATEGY, validate: validateNewEvent },
  representationOf: { group: "", resource: "events", toStored: toCoreEvent, fromStored: fromCoreEvent },
});
