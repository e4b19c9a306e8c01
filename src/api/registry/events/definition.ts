/**
 * Events of both groups. Core events are the stored form; `events.k8s.io` is another representation of the same objects (upstream
 * pkg/apis/events/v1): an event created there is visible in core, with its fields mapped.
 */
import type { CoreEvent, EventsEvent, KubeObject } from "../../meta/kubernetes";
import { CoreEventSchema } from "../../schema/kinds/core-events";
import { EventsEventSchema } from "../../schema/kinds/events";
import { BASE_STRATEGY } from "../base-strategy";
import { COMMON, unsupportedFieldLabel } from "../common-definition";
import { type Change, defineResource } from "../resource";
import { validateSegmentName } from "../segment-names";
import { EVENT_COLUMNS, eventCells, sourceOf } from "./columns";
import { completeCoreEvent, fromCoreEvent, toCoreEvent } from "./conversion";
import { validateEvent, validateStrictCreate, validateStrictUpdate } from "./validate";

const REFERENCE_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"] as const;
const EVENTS_GROUP = "events.k8s.io";

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
  strategy: {
    ...BASE_STRATEGY,
    // A create through events.k8s.io has a stricter rule (validateStrictCreate).
    validateName: validateSegmentName,
    defaults: completeCoreEvent,
    validate: (event: CoreEvent, { requestGroup }, before) =>
      validateEvent(event, requestGroup === EVENTS_GROUP ? "reportingController" : "reportingComponent").concat(
        before === undefined && requestGroup === EVENTS_GROUP ? validateStrictCreate(event) : [],
      ),
    validateUpdate: (change: Change<CoreEvent>, { requestGroup }) => (requestGroup === EVENTS_GROUP ? validateStrictUpdate(change) : []),
    // upstream pkg/registry/core/event (DefaultGarbageCollectionPolicy)
    deletion: { hasNoDependents: true },
  },
});

function asCore(event: KubeObject): CoreEvent {
  return toCoreEvent(event) as CoreEvent;
}

export const eventsGroupEventsDefinition = defineResource<EventsEvent>({
  ...SHARED,
  group: EVENTS_GROUP,
  schema: EventsEventSchema,
  cells: (event, now) => eventCells(asCore(event), now),
  selectableFields: (event) => ({
    ...referenceFields("regarding", asCore(event)),
    reason: event.reason ?? "",
    reportingController: event.reportingController ?? "",
    type: event.type ?? "",
  }),
  fieldLabels: [...REFERENCE_FIELDS.map((key) => `regarding.${key}`), "reason", "reportingController", "type"],
  // a write here is stored and validated as a core event
  strategy: BASE_STRATEGY,
  representationOf: { group: "", resource: "events", toStored: toCoreEvent, fromStored: fromCoreEvent },
});
