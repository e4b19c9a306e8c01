/**
 * The annotation in which client-side `kubectl apply` keeps its configuration, and its part in a server-side apply by the manager
 * `kubectl`. Source: apimachinery pkg/util/managedfields/internal (lastapplied.go, lastappliedmanager.go, lastappliedupdater.go).
 */
import { parseJson } from "../../core/encoding/exact-json";
import { getMember, isJsonObject, type JsonObject, type JsonValue, setMember } from "../schema/json/json-value";
import type { MessageSchema } from "../schema/types";
import { checkConfig } from "./check-config";
import { compareObjects } from "./compare";
import { fieldSetOf } from "./field-set-of";
import type { PathSet } from "./path-set";

/** The one manager that carries the annotation on. */
export const KUBECTL = "kubectl";
export const LAST_APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";
const ANNOTATIONS_MAX_BYTES = 256 * 1024;

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object.metadata;
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function lastApplied(object: JsonObject): string | undefined {
  const annotations = annotationsOf(object);
  const text = annotations && getMember(annotations, LAST_APPLIED_ANNOTATION);
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** The fields that client-side apply set and nobody has changed since; undefined = no annotation, or an unreadable one. */
export function fieldsLastApplied(live: JsonObject, schema: MessageSchema, apiVersion: string): PathSet | undefined {
  const text = lastApplied(live);
  if (text === undefined) return undefined;
  let config: JsonValue;
  try {
    config = parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
  if (!isJsonObject(config) || config.apiVersion !== apiVersion) return undefined;
  const { apiVersion: _version, kind: _kind, ...object } = config;
  if (checkConfig(object, schema).length > 0) return undefined;
  const change = compareObjects(object, live, schema);
  if (!change) return undefined;
  return fieldSetOf(object, schema).difference(change.modified).difference(change.added).difference(change.removed);
}

/**
 * `object` with `config` in its annotation, if it has the annotation, so that client-side apply can continue. Nobody becomes the owner
 * of the annotation. It is dropped when the annotations would become too large.
 */
export function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  if (annotations === undefined || lastApplied(object) === undefined) return object;
  const metadata = isJsonObject(object.metadata) ? object.metadata : {};
  const next: JsonObject = { ...annotations, [LAST_APPLIED_ANNOTATION]: `${goJson(withoutAnnotation(config))}\n` };
  if (sizeOf(next) > ANNOTATIONS_MAX_BYTES) delete next[LAST_APPLIED_ANNOTATION];
  return { ...object, metadata: { ...metadata, annotations: next } };
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const annotations = annotationsOf(config);
  if (annotations === undefined || !isJsonObject(config.metadata)) return config;
  const { [LAST_APPLIED_ANNOTATION]: _own, ...others } = annotations;
  return { ...config, metadata: { ...config.metadata, annotations: others } };
}

function sizeOf(annotations: JsonObject): number {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) bytes += encoder.encode(key).length + encoder.encode(String(value)).length;
  return bytes;
}

const HTML: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** JSON as Go writes a map: keys sorted, HTML characters escaped. */
function goJson(value: JsonValue): string {
  return JSON.stringify(sorted(value)).replace(/[<>&\u2028\u2029]/g, (character) => HTML[character] ?? character);
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort()) setMember(result, key, sorted(getMember(value, key) ?? null));
  return result;
}
