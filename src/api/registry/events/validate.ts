/**
 * Validation of events: upstream pkg/apis/core/validation/events.go. Both representations are validated in the stored, core form. Errors
 * name its fields, except for the reporter of an event of events.k8s.io: its field is named as there.
 */
import { semanticEqual } from "../../meta/equality";
import { FIELD_IMMUTABLE, invalidValue, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { CoreEvent } from "../../meta/kubernetes";
import { maskTrailingDash } from "../../meta/generate-name";
import { validateDNS1123Subdomain, validateQualifiedName } from "../../meta/names";
import { utf8Length } from "../../../core/encoding/utf8-length";

const TEXT_LENGTH_MAX = 128;
const NOTE_LENGTH_MAX = 1024;
const TYPES = ["Normal", "Warning"];
const SERIES_COUNT_MIN = 2;
const MUST_BE_UNSET = "needs to be unset";

/** Fields that an update through events.k8s.io cannot change, in the order of upstream's errors. */
const IMMUTABLE = [
  ["involvedObject", "involvedObject"],
  ["reason", "reason"],
  ["message", "message"],
  ["source", "source"],
  ["firstTimestamp", "firstTimestamp"],
  ["lastTimestamp", "lastTimestamp"],
  ["count", "count"],
  ["type", "type"],
  ["eventTime", "eventTime"],
  ["action", "action"],
  ["related", "related"],
  ["reportingComponent", "reportingController"],
  ["reportingInstance", "reportingInstance"],
] as const satisfies readonly (readonly [keyof CoreEvent, string])[];

function shortText(field: string, value: string | undefined, errors: FieldError[]): void {
  if (!value) errors.push(required(field));
  else if (utf8Length(value) > TEXT_LENGTH_MAX) errors.push(invalidValue(field, "", `can have at most ${TEXT_LENGTH_MAX} characters`));
}

/** Whether the namespace may hold an event about the object: the object's own, or the one for objects without a namespace. */
function namespaceAgrees(event: CoreEvent): boolean {
  const namespace = event.metadata?.namespace ?? "";
  const involved = event.involvedObject?.namespace ?? "";
  const outside = event.eventTime ? ["default", "kube-system"] : ["", "default"];
  return involved === "" ? outside.includes(namespace) : Boolean(event.eventTime) || involved === namespace;
}

/** The rules of every event; an event with an eventTime has more. `reporter` is the name of its reporter's field in the request. */
export function validateEvent(event: CoreEvent, reporter: "reportingController" | "reportingComponent"): FieldError[] {
  const errors: FieldError[] = [];
  if (!namespaceAgrees(event)) {
    errors.push(invalidValue("involvedObject.namespace", event.involvedObject?.namespace ?? "", "does not match event.namespace"));
  }
  if (!event.eventTime) return errors;
  const controller = event.reportingComponent ?? "";
  if (controller === "") errors.push(required(reporter));
  for (const message of validateQualifiedName(controller)) errors.push(invalidValue(reporter, controller, message));
  shortText("reportingInstance", event.reportingInstance, errors);
  shortText("action", event.action, errors);
  shortText("reason", event.reason, errors);
  if (utf8Length(event.message ?? "") > NOTE_LENGTH_MAX) {
    errors.push(invalidValue("message", "", `can have at most ${NOTE_LENGTH_MAX} characters`));
  }
  return errors;
}

/** Further rules of a create through events.k8s.io: the name is one of DNS, the new fields are set and the deprecated ones are not. */
export function validateStrictCreate(event: CoreEvent): FieldError[] {
  const errors = [...validateDNSName(event), ...validateSeries(event)];
  const { type = "", count = 0, source } = event;
  if (!event.eventTime) errors.push(required("eventTime"));
  if (!TYPES.includes(type)) errors.push(invalidValue("type", "", `has invalid value: ${type}`));
  if (event.firstTimestamp) errors.push(invalidValue("firstTimestamp", "", MUST_BE_UNSET));
  if (event.lastTimestamp) errors.push(invalidValue("lastTimestamp", "", MUST_BE_UNSET));
  if (count !== 0) errors.push(invalidValue("count", "", MUST_BE_UNSET));
  if (source?.component || source?.host) errors.push(invalidValue("source", "", MUST_BE_UNSET));
  return errors;
}

/** Rule of an update through events.k8s.io: only metadata and the series may change. */
export function validateStrictUpdate({ after, before }: { after: CoreEvent; before: CoreEvent }): FieldError[] {
  const errors = semanticEqual(after.series, before.series) ? [] : validateSeries(after);
  for (const [member, field] of IMMUTABLE) {
    if (!semanticEqual(after[member] ?? undefined, before[member] ?? undefined)) {
      errors.push(invalidValue(field, after[member], FIELD_IMMUTABLE));
    }
  }
  return errors;
}

function validateDNSName({ metadata: { name = "", generateName = "" } = {} }: CoreEvent): FieldError[] {
  return [
    ...(generateName === "" ? [] : validateDNS1123Subdomain(maskTrailingDash(generateName))).map((message) =>
      invalidValue("metadata.generateName", generateName, message),
    ),
    ...validateDNS1123Subdomain(name).map((message) => invalidValue("metadata.name", name, message)),
  ];
}

function validateSeries({ series }: CoreEvent): FieldError[] {
  if (!series) return [];
  const errors: FieldError[] = [];
  if ((series.count ?? 0) < SERIES_COUNT_MIN) {
    errors.push(invalidValue("series.count", "", `should be at least ${SERIES_COUNT_MIN}`));
  }
  if (!series.lastObservedTime) errors.push(required("series.lastObservedTime"));
  return errors;
}
