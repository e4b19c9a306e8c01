/**
 * Bytes of a body -> object: syntax, kind and apiVersion, unknown and duplicate fields.
 * Source: upstream apiserver endpoints/handlers (create.go, update.go, rest.go: transformDecodeError).
 */
import type { KubeObject } from "../../../api/meta/kubernetes";
import { badRequest, requestTooLarge, type Status, unregisteredKind } from "../../../api/meta/status";
import { apiVersionOf } from "../../../api/meta/type-meta";
import type { FieldValidation } from "../../../api/rpc/store";
import { type Decoded, decodeJson, decodeUtf8, validateValue } from "../../../api/schema/json/decode-json";
import { decodeProtobuf } from "../../../api/schema/protobuf/decode-protobuf";
import { isJsonObject } from "../../../api/schema/json/json-value";
import type { DecodeError, MessageSchema } from "../../../api/schema/types";
import { parseYamlText } from "../../../api/schema/json/yaml-text";
import { err, ok, type Result } from "../../../core/base/result";
import type { BodyType } from "./content-type";

/** The kind that a body must have, in the version of the URL. */
export interface Expected {
  kind: string;
  group: string;
  version: string;
  /** further versions of the group that a body may have */
  otherVersions?: readonly string[];
  schema: MessageSchema;
}

export interface DecodedBody {
  /** without kind and apiVersion; only fields of the schema */
  object: KubeObject;
  /** texts of Warning headers */
  warnings: string[];
}

/** Bytes -> object of the expected kind, or the 400 that upstream gives. */
export function decodeBody(
  bytes: Uint8Array,
  type: BodyType,
  expected: Expected,
  fieldValidation: FieldValidation,
): Result<DecodedBody, Status> {
  const decoded = decodeDocument(bytes, type, expected.schema);
  if (!decoded.ok) return err(undecodable(decoded.error, bytes, expected));
  const { value, typeMeta, problems } = decoded.value;
  const mismatch = typeMismatch(typeMeta, expected);
  if (mismatch) return err(mismatch);
  if (problems.length > 0 && fieldValidation === "Strict") {
    return err(cannotBeHandled(expected.kind, expected.version, expected.kind, `strict decoding error: ${problems.join(", ")}`));
  }
  return ok({ object: value as KubeObject, warnings: fieldValidation === "Warn" ? problems : [] });
}

/** Bytes -> value of a schema, whatever the encoding. */
export function decodeDocument(bytes: Uint8Array, type: BodyType, schema: MessageSchema): Result<Decoded, DecodeError> {
  if (type === "protobuf") return decodeProtobuf(bytes, schema);
  const text = decodeUtf8(bytes);
  if (!text.ok) return text;
  return type === "json" ? decodeJson(text.value, schema) : decodeYaml(text.value, schema);
}

/** YAML becomes a JSON value first, as upstream. A repeated key is a problem like a repeated field. */
function decodeYaml(text: string, schema: MessageSchema): Result<Decoded, DecodeError> {
  const parsed = parseYamlText(text);
  if (!parsed.ok) return err({ reason: "syntax", cause: parsed.error, typeMeta: { apiVersion: "", kind: "" } });
  const { value, repeated } = parsed.value;
  if (!isJsonObject(value)) return decodeJson(JSON.stringify(value), schema);
  const decoded = validateValue(value, schema);
  if (decoded.ok) decoded.value.problems.push(...repeated.map((problem) => `yaml: ${problem}`));
  return decoded;
}

function cannotBeHandled(kind: string, version: string, expectedKind: string, cause: string): Status {
  return badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expectedKind}: ${cause}`);
}

/** The 400 for bytes that are not a document of the expected kind. */
function undecodable(error: DecodeError, bytes: Uint8Array, expected: Pick<Expected, "kind" | "version">): Status {
  if (error.reason === "size") return requestTooLarge(error.cause);
  if (error.reason === "syntax") {
    return badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${error.cause} (${summaryOf(bytes)})`);
  }
  const { kind, apiVersion } = error.typeMeta;
  return cannotBeHandled(
    kind || expected.kind,
    apiVersion.slice(apiVersion.indexOf("/") + 1) || expected.version,
    expected.kind,
    error.cause,
  );
}

const SUMMARY_BYTES = 30;

/** The first bytes of a body in an error text: as text when it looks like JSON, else in hex. */
function summaryOf(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>";
  const head = bytes.subarray(0, SUMMARY_BYTES);
  const more = bytes.length > SUMMARY_BYTES ? " ..." : "";
  if (bytes[0] === 0x7b) return new TextDecoder().decode(head) + more;
  return Array.from(head, (byte) => byte.toString(16).padStart(2, "0")).join("") + more;
}

/** Both members may be absent: they default from the URL (the JavaScript client omits them). */
function typeMismatch(typeMeta: { apiVersion: string; kind: string }, expected: Expected): Status | undefined {
  const wanted = apiVersionOf(expected.group, expected.version);
  const { kind, apiVersion = wanted } = { ...typeMeta, apiVersion: typeMeta.apiVersion || undefined };
  if (kind !== "" && kind !== expected.kind) {
    const cause = unregisteredKind(kind, apiVersion);
    return cannotBeHandled(kind, apiVersion.slice(apiVersion.indexOf("/") + 1), expected.kind, cause);
  }
  if (apiVersion === wanted || expected.otherVersions?.some((other) => apiVersion === apiVersionOf(expected.group, other)))
    return undefined;
  return badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`);
}
