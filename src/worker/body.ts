/**
 * Request body -> checked object: size, encoding, syntax, kind and apiVersion, unknown and duplicate fields.
 * Source: upstream apiserver endpoints/handlers (create.go, update.go, rest.go: limitedReadBody, transformDecodeError).
 */
import { err, ok, type Result } from "../base/result";
import type { KubeObject } from "../meta/kubernetes";
import { badRequest, requestTooLarge, type Status, unsupportedMediaType } from "../meta/status";
import { isJsonObject } from "../meta/patch/json-value";
import { apiVersionOf } from "../meta/type-meta";
import { parseYamlText } from "../meta/yaml-text";
import { type Decoded, decodeJson, decodeUtf8, validateValue } from "../schema/decode-json";
import { decodeProtobuf } from "../schema/decode-protobuf";
import type { DecodeError, MessageSchema } from "../schema/types";
import type { FieldValidation } from "../rpc/store";
import { BODY_MAX_BYTES } from "./limits";
import { BODY_TYPES, type BodyType, bodyTypeOf } from "./negotiate";

/** What a body has to be: a kind in the version of the URL. */
export interface Expected {
  kind: string;
  group: string;
  version: string;
  /** versions of the group in which a body is taken too */
  otherVersions?: readonly string[];
  schema: MessageSchema;
}

export interface DecodedBody {
  /** without kind and apiVersion; only fields of the schema */
  object: KubeObject;
  /** texts of Warning headers */
  warnings: string[];
}

function tooLarge(): Status {
  return requestTooLarge(`Request entity too large: limit is ${BODY_MAX_BYTES}`);
}

/** The whole body; at most one byte more than the limit is kept, whatever the client claims. */
export async function readBody(request: Request): Promise<Result<Uint8Array, Status>> {
  const announced = request.headers.get("Content-Length");
  if (announced !== null) {
    if (Number(announced) > BODY_MAX_BYTES) return err(tooLarge());
    const bytes = new Uint8Array(await request.arrayBuffer());
    return bytes.length > BODY_MAX_BYTES ? err(tooLarge()) : ok(bytes);
  }
  if (!request.body) return ok(new Uint8Array(0));
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = (request.body as ReadableStream<Uint8Array>).getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    if (size > BODY_MAX_BYTES) {
      await reader.cancel("body over the limit");
      return err(tooLarge());
    }
    chunks.push(read.value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return ok(bytes);
}

/** Body of a PATCH: text, whatever patch it is. */
export async function readText(request: Request): Promise<Result<string, Status>> {
  const bytes = await readBody(request);
  if (!bytes.ok) return bytes;
  const text = decodeUtf8(bytes.value);
  return text.ok ? text : err(badRequest(`error decoding patch: ${text.error.cause}`));
}

/** Body of a POST or PUT. */
export async function readObject(
  request: Request,
  expected: Expected,
  fieldValidation: FieldValidation,
): Promise<Result<DecodedBody, Status>> {
  const type = bodyTypeOf(request.headers.get("Content-Type"));
  if (!type) return err(unsupportedMediaType(BODY_TYPES));
  const bytes = await readBody(request);
  if (!bytes.ok) return bytes;
  return decodeBody(bytes.value, type, expected, fieldValidation);
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

/** YAML is read as upstream does: turned into a JSON value first. A repeated key is a problem like a repeated field. */
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
export function undecodable(error: DecodeError, bytes: Uint8Array, expected: Pick<Expected, "kind" | "version">): Status {
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
    const cause = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} here`;
    return cannotBeHandled(kind, apiVersion.slice(apiVersion.indexOf("/") + 1), expected.kind, cause);
  }
  if (apiVersion === wanted || expected.otherVersions?.some((other) => apiVersion === apiVersionOf(expected.group, other)))
    return undefined;
  return badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`);
}

/** The namespace of the body is that of the URL or absent; cluster-scoped kinds lose theirs in the store. */
export function namespaceMismatch(object: KubeObject, namespace: string): Status | undefined {
  const own = object.metadata?.namespace;
  if (!namespace || !own || own === namespace) return undefined;
  return badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** A PUT names the object in its body too. */
export function nameMismatch(object: KubeObject, name: string): Status | undefined {
  const own = object.metadata?.name;
  if (own === name) return undefined;
  if (!own) return badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  return badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}
