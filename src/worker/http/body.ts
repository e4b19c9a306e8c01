/**
 * Request body -> checked object: size, encoding, syntax, kind and apiVersion, unknown and duplicate fields.
 * Source: upstream apiserver endpoints/handlers (create.go, update.go, rest.go: limitedReadBody, transformDecodeError).
 */
import { err, ok, type Result } from "../../core/base/result";
import { isTimeout, withTimeout } from "../../core/base/timeout";
import { systemClock } from "../../../durable-objects/ports";
import type { KubeObject } from "../../api/meta/kubernetes";
import { badRequest, overloaded, requestTimedOut, requestTooLarge, type Status, unsupportedMediaType } from "../../api/meta/status";
import { isJsonObject } from "../../api/schema/json-value";
import { apiVersionOf } from "../../api/meta/type-meta";
import { parseYamlText } from "../../api/schema/yaml-text";
import { type Decoded, decodeJson, decodeUtf8, validateValue } from "../../api/schema/decode-json";
import { decodeProtobuf } from "../../api/schema/decode-protobuf";
import type { DecodeError, MessageSchema } from "../../api/schema/types";
import type { FieldValidation } from "../../api/rpc/store";
import { drain } from "./drain";
import { type Place, weightOfBody } from "./in-flight";
import { BODY_BYTES_PER_REQUEST, BODY_MAX_BYTES, BODY_TIMEOUT_MS } from "./limits";
import { BODY_TYPES, type BodyType, bodyTypeOf } from "./negotiate";

/** A request whose body is not read yet, and its place among those under way. */
export interface BodyRequest {
  request: Request;
  place: Pick<Place, "grow">;
  /** the request's own `timeout` in milliseconds; 0 or absent = none */
  timeoutMs?: number;
}

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

/**
 * The whole body; at most one byte more than the limit is kept, whatever the client claims. What was not announced takes its weight as it comes, and
 * is refused with 429 where there is no room for it. What is not there in time is a 504, what breaks off a 400, and nothing of it is kept.
 */
export async function readBody({ request, place, timeoutMs }: BodyRequest): Promise<Result<Uint8Array, Status>> {
  const announced = request.headers.get("Content-Length");
  if (announced !== null && Number(announced) > BODY_MAX_BYTES) return err(tooLarge());
  if (announced === null && !request.body) return ok(new Uint8Array(0));
  const reader = announced === null ? (request.body as ReadableStream<Uint8Array>).getReader() : undefined;
  try {
    const limitMs = Math.min(timeoutMs || BODY_TIMEOUT_MS, BODY_TIMEOUT_MS);
    const read = await withTimeout(systemClock, limitMs, reader ? readChunks(reader, place) : readWhole(request));
    if (reader && !read.ok) await drain(reader);
    return read;
  } catch (error) {
    // The connection broke off, or the body is no HTTP: nothing that is wrong here.
    if (!isTimeout(error)) return err(badRequest("the body of the request could not be read"));
    reader?.cancel(error).catch(() => undefined);
    return err(requestTimedOut());
  }
}

async function readWhole(request: Request): Promise<Result<Uint8Array, Status>> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  return bytes.length > BODY_MAX_BYTES ? err(tooLarge()) : ok(bytes);
}

async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  place: BodyRequest["place"],
): Promise<Result<Uint8Array, Status>> {
  // Not the chunks themselves: small ones may be parts of large buffers.
  let bytes = new Uint8Array(BODY_BYTES_PER_REQUEST);
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const at = size;
    size += read.value.length;
    const problem = size > BODY_MAX_BYTES ? tooLarge() : place.grow(weightOfBody(size), Date.now()) ? undefined : overloaded();
    if (problem) return err(problem);
    if (size > bytes.length) bytes = enlarged(bytes, Math.min(Math.max(size, 2 * bytes.length), BODY_MAX_BYTES));
    bytes.set(read.value, at);
  }
  return ok(bytes.subarray(0, size));
}

function enlarged(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

/** Body of a PATCH: text, whatever patch it is. */
export async function readText(request: BodyRequest): Promise<Result<string, Status>> {
  const bytes = await readBody(request);
  if (!bytes.ok) return bytes;
  const text = decodeUtf8(bytes.value);
  return text.ok ? text : err(badRequest(`error decoding patch: ${text.error.cause}`));
}

/** Body of a POST or PUT. */
export async function readObject(
  request: BodyRequest,
  expected: Expected,
  fieldValidation: FieldValidation,
): Promise<Result<DecodedBody, Status>> {
  const type = bodyTypeOf(request.request.headers.get("Content-Type"));
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
