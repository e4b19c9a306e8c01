/** Validation of events: upstream pkg/apis/core/validation/events.go. Both representations are checked in the core form. */
import { invalidValue, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { CoreEvent } from "../../meta/kubernetes";
import { utf8Length, validateQualifiedName } from "../../meta/names";

const TEXT_LENGTH_MAX = 128;
const NOTE_LENGTH_MAX = 1024;

/** Field names of one representation in errors. */
export interface EventFieldNames {
  involvedObject: string;
  reportingController: string;
  message: string;
}

export const CORE_NAMES: EventFieldNames = {
  involvedObject: "involvedObject",
  reportingController: "reportingComponent",
  message: "message",
};

function shortText(field: string, value: string | undefined, errors: FieldError[]): void {
  if (!value) errors.push(required(field));
  else if (utf8Length(value) > TEXT_LENGTH_MAX) errors.push(invalidValue(field, value, `can have at most ${TEXT_LENGTH_MAX} characters`));
}

/** The rules for events with an eventTime are stricter than those for older ones. */
export function validateEvent(event: CoreEvent, names: EventFieldNames): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = event.metadata?.namespace ?? "";
  const involved = event.involvedObject?.namespace ?? "";
  const isNew = Boolean(event.eventTime);
  const outside = isNew ? ["default", "kube-system"] : ["", "default"];
  const agrees = involved === "" ? outside.includes(namespace) : isNew || involved === namespace;
  if (!agrees) errors.push(invalidValue(`${names.involvedObject}.namespace`, involved, "does not match event.namespace"));
  if (!isNew) return errors;
  const controller = event.reportingComponent ?? "";
  if (controller === "") errors.push(required(names.reportingController));
  for (const message of validateQualifiedName(controller)) errors.push(invalidValue(names.reportingController, controller, message));
  shortText("reportingInstance", event.reportingInstance, errors);
  shortText("action", event.action, errors);
  shortText("reason", event.reason, errors);
  if (utf8Length(event.message ?? "") > NOTE_LENGTH_MAX) {
    errors.push(invalidValue(names.message, "", `can have at most ${NOTE_LENGTH_MAX} characters`));
  }
  return errors;
}
