/**
 * Reads and judges a description of an endpoint. Unknown members are refused: a misspelt one must not be a silent default. The rules of names, ports
 * and labels are those of the Pods that entries become.
 */
import { duplicate, type FieldError, forbiddenField, invalidValue, notSupported, required } from "../../../api/meta/field-errors";
import { validateDNS1123Label } from "../../../api/meta/names";
import { validateLabels } from "../../../api/meta/object-meta";
import { isPortNumber, PORT_RANGE, portNameProblems } from "../../../api/registry/port-rules";
import { PROTOCOLS } from "../../../api/registry/protocols";
import { getMember, isJsonObject, type JsonObject, type JsonValue, setMember } from "../../../api/schema/json/json-value";
import { type Check, type EndpointEntry, entryKey, type ProbeTarget } from "./endpoint-entry";

/** A day: no timer of a platform is longer than 24 days. */
const SECONDS_MAX = 86_400;
const THRESHOLD_MAX = 1_000;
const LABELS_MAX = 100;
/** Pods of a kubelet have a default of 30 s, too. */
const DRAIN_SECONDS = 30;

const ENTRY_MEMBERS = ["name", "namespace", "port", "protocol", "labels", "check", "drainSeconds"];
/** The members of a check that are numbers, with the kubelet's defaults and least values. */
const NUMBERS = {
  initialDelaySeconds: { usual: 0, min: 0, max: SECONDS_MAX },
  periodSeconds: { usual: 10, min: 1, max: SECONDS_MAX },
  timeoutSeconds: { usual: 1, min: 1, max: SECONDS_MAX },
  successThreshold: { usual: 1, min: 1, max: THRESHOLD_MAX },
  failureThreshold: { usual: 3, min: 1, max: THRESHOLD_MAX },
} as const;
export const CHECK_NUMBERS = Object.keys(NUMBERS) as (keyof typeof NUMBERS)[];
const CHECK_MEMBERS = ["http", "tcp", ...CHECK_NUMBERS];
const HTTP_MEMBERS = ["path", "port", "scheme", "host"];
const TCP_MEMBERS = ["port", "host"];
const SCHEMES = ["HTTP", "HTTPS"];

/** The entries of a list, and everything that is wrong with them: with an error they are not to be used. */
export function readEntries(value: JsonValue, field: string, errors: FieldError[]): EndpointEntry[] {
  if (!Array.isArray(value)) {
    errors.push(invalidValue(field, value, "must be a list of endpoints; [] has none"));
    return [];
  }
  const known = new Set<string>();
  return value.flatMap((one, i) => {
    const place = `${field}[${i}]`;
    const entry = readEntry(one, place, errors);
    if (!entry) return [];
    const key = entryKey(entry);
    if (known.has(key)) errors.push(duplicate(`${place}.name`, key));
    known.add(key);
    return [entry];
  });
}

/** One entry; undefined = it is nothing like one. `field` stands before the names of its members. */
export function readEntry(value: JsonValue, field: string, errors: FieldError[]): EndpointEntry | undefined {
  if (!isJsonObject(value)) {
    errors.push(invalidValue(field, value, "must be an endpoint, such as {name: web, port: 8080}"));
    return undefined;
  }
  const at = (member: string): string => (field === "" ? member : `${field}.${member}`);
  refuseUnknown(value, field, ENTRY_MEMBERS, errors);
  const name = nameOf(value, at("name"), errors);
  const namespace = text(value, "namespace", at("namespace"), errors) ?? "default";
  for (const message of validateDNS1123Label(namespace)) errors.push(invalidValue(at("namespace"), namespace, message));
  const port = portOf(value, at("port"), errors);
  if (port === undefined) errors.push(required(at("port")));
  const protocol = (text(value, "protocol", at("protocol"), errors) ?? "TCP") as EndpointEntry["protocol"];
  if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(at("protocol"), protocol, PROTOCOLS));
  const labels = labelsOf(value, at("labels"), errors);
  const check = checkOf(value, at("check"), protocol === "TCP" ? port : undefined, errors);
  const drainSeconds = whole(value, "drainSeconds", at("drainSeconds"), { usual: DRAIN_SECONDS, min: 0, max: SECONDS_MAX }, errors);
  return { name, namespace, port: port ?? 0, protocol, labels, ...(check && { check }), drainSeconds };
}

/** A container has it, and its port has: the stricter rule of each letter and length. */
function nameOf(entry: JsonObject, field: string, errors: FieldError[]): string {
  const name = text(entry, "name", field, errors);
  if (name === undefined) errors.push(required(field));
  else for (const message of portNameProblems(name)) errors.push(invalidValue(field, name, message));
  return name ?? "";
}

function labelsOf(entry: JsonObject, field: string, errors: FieldError[]): Record<string, string> {
  const labels: JsonObject = {};
  const given = getMember(entry, "labels") ?? {};
  if (!isJsonObject(given)) {
    errors.push(invalidValue(field, given, "must be a map of labels"));
    return {};
  }
  const keys = Object.keys(given).sort();
  if (keys.length > LABELS_MAX) errors.push(invalidValue(field, keys.length, `must have at most ${LABELS_MAX} labels`));
  for (const key of keys) {
    const value = text(given, key, `${field}.${key}`, errors);
    if (value !== undefined) setMember(labels, key, value);
  }
  validateLabels(labels as Record<string, string>, field, errors);
  return labels as Record<string, string>;
}

/** `port` is that of the endpoint where a check can ask it. */
function checkOf(entry: JsonObject, field: string, port: number | undefined, errors: FieldError[]): Check | undefined {
  const check = getMember(entry, "check");
  if (check === undefined || check === null) return undefined;
  if (!isJsonObject(check)) {
    errors.push(invalidValue(field, check, "must be a check, such as {http: {path: /healthz}} or {tcp: {}}"));
    return undefined;
  }
  refuseUnknown(check, field, CHECK_MEMBERS, errors);
  const target = targetOf(check, field, port, errors);
  const numbers = CHECK_NUMBERS.map((member) => [member, whole(check, member, `${field}.${member}`, NUMBERS[member], errors)]);
  return target && { target, ...(Object.fromEntries(numbers) as Record<(typeof CHECK_NUMBERS)[number], number>) };
}

function targetOf(check: JsonObject, field: string, port: number | undefined, errors: FieldError[]): ProbeTarget | undefined {
  const kinds = (["http", "tcp"] as const).filter((kind) => Object.hasOwn(check, kind));
  const [kind] = kinds;
  if (kind === undefined) errors.push(required(field, "must have http or tcp"));
  if (kinds.length > 1) errors.push(forbiddenField(`${field}.tcp`, "may not stand beside http"));
  if (kind === undefined || kinds.length > 1) return undefined;
  const place = `${field}.${kind}`;
  const target = getMember(check, kind) ?? {};
  if (!isJsonObject(target)) {
    errors.push(invalidValue(place, target, "must be a map"));
    return undefined;
  }
  refuseUnknown(target, place, kind === "http" ? HTTP_MEMBERS : TCP_MEMBERS, errors);
  const host = text(target, "host", `${place}.host`, errors);
  const asked = portOf(target, `${place}.port`, errors) ?? port;
  if (asked === undefined && !Object.hasOwn(target, "port"))
    errors.push(required(`${place}.port`, "the endpoint's own port cannot be asked"));
  const common = { ...(host !== undefined && { host }), port: asked ?? 0 };
  if (kind === "tcp") return { kind, ...common };
  const path = text(target, "path", `${place}.path`, errors) ?? "/";
  if (!/^\/[!-~]*$/.test(path)) errors.push(invalidValue(`${place}.path`, path, "must begin with / and have no spaces"));
  const scheme = (text(target, "scheme", `${place}.scheme`, errors)?.toUpperCase() ?? "HTTP") as "HTTP" | "HTTPS";
  if (!SCHEMES.includes(scheme)) errors.push(notSupported(`${place}.scheme`, scheme, SCHEMES));
  return { kind, scheme, ...common, path };
}

function refuseUnknown(object: JsonObject, field: string, known: readonly string[], errors: FieldError[]): void {
  for (const key of Object.keys(object)) {
    if (!known.includes(key))
      errors.push(forbiddenField(field === "" ? key : `${field}.${key}`, `is not known; known are ${known.join(", ")}`));
  }
}

function text(object: JsonObject, member: string, field: string, errors: FieldError[]): string | undefined {
  const value = getMember(object, member);
  if (value === undefined || typeof value === "string") return value;
  errors.push(invalidValue(field, shown(value), "must be a text: put it in quotes"));
  return undefined;
}

function portOf(object: JsonObject, field: string, errors: FieldError[]): number | undefined {
  const value = getMember(object, "port");
  if (value === undefined) return undefined;
  if (typeof value === "number" && isPortNumber(value)) return value;
  errors.push(invalidValue(field, shown(value), PORT_RANGE));
  return 0;
}

function whole(
  object: JsonObject,
  member: string,
  field: string,
  { usual, min, max }: { readonly usual: number; readonly min: number; readonly max: number },
  errors: FieldError[],
): number {
  const value = getMember(object, member);
  if (value === undefined) return usual;
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  errors.push(invalidValue(field, shown(value), `must be a whole number from ${min} to ${max}`));
  return usual;
}

/** JSON prints no bigint. */
function shown(value: JsonValue): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
