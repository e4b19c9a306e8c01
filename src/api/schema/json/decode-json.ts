/**
 * JSON body -> object of a schema. Every write runs this code: a parse, one walk of the value, and one scan of the text. The scan
 * proves that no field stands twice: the text has as many members as the value.
 */
import { parseJson } from "../../../core/encoding/exact-json";
import { err, ok, type Result } from "../../../core/base/result";
import { TOO_LARGE, TOO_MANY_VALUES, VALUES_MAX } from "../decode-limits";
import { syntaxError } from "./json-syntax";
import { goKind } from "./json-value";
import { shapeOf, strictProblems } from "./json-text";
import type { DecodeError, MessageSchema, TypeMeta } from "../types";
import { TOO_DEEP, ValueWalk } from "./value-walk";

/** A decoded document. `value` holds neither kind nor apiVersion and only fields that the schema knows. */
export interface Decoded {
  typeMeta: TypeMeta;
  value: Record<string, unknown>;
  /** `unknown field "spec.foo"`, `duplicate field "spec.bar"`, in document order, at most MAX_PROBLEMS */
  problems: string[];
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Text of a request body; an error when the bytes are not UTF-8. */
export function decodeUtf8(bytes: ArrayBuffer | Uint8Array): Result<string, DecodeError> {
  try {
    return ok(UTF8.decode(bytes));
  } catch {
    return err({ reason: "syntax", cause: "invalid UTF-8", typeMeta: { apiVersion: "", kind: "" } });
  }
}

/**
 * Decodes one JSON document as a `schema`. Unknown and duplicate fields are no errors: they are removed and reported. Of
 * duplicates the last one stays. Upstream: apimachinery pkg/runtime/serializer/json, sigs.k8s.io/json.
 */
export function decodeJson(text: string, schema: MessageSchema): Result<Decoded, DecodeError> {
  const shape = shapeOf(text);
  if (shape.values > VALUES_MAX) return err({ reason: "size", cause: TOO_MANY_VALUES, typeMeta: { apiVersion: "", kind: "" } });
  if (shape.isTooDeep) return err({ reason: "limit", cause: TOO_DEEP, typeMeta: { apiVersion: "", kind: "" } });
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    return syntaxFailure(syntaxError(text));
  }
  const walked = walkRoot(parsed, schema);
  if (!walked.ok) return walked;
  const { decoded, members } = walked.value;
  if (members !== shape.members) decoded.problems = strictProblems(text, schema);
  return ok(decoded);
}

/**
 * The same checks and the same normalisation for a value that is already parsed (the result of a patch, YAML).
 * `value` belongs to the result afterwards: it is changed in place.
 */
export function validateValue(value: unknown, schema: MessageSchema): Result<Decoded, DecodeError> {
  const walked = walkRoot(value, schema);
  return walked.ok ? ok(walked.value.decoded) : walked;
}

function syntaxFailure(cause: string): Result<never, DecodeError> {
  return err({ reason: "syntax", cause: `couldn't get version/kind; json parse error: ${cause}`, typeMeta: { apiVersion: "", kind: "" } });
}

/** Splits kind and apiVersion off and walks the rest. `members` counts every member of the document. */
function walkRoot(root: unknown, schema: MessageSchema): Result<{ decoded: Decoded; members: number }, DecodeError> {
  if (typeof root !== "object" || Array.isArray(root)) {
    return syntaxFailure(
      `json: cannot unmarshal ${goKind(root)} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    );
  }
  // null is a document without members, as in Go
  const source = (root ?? {}) as Record<string, unknown>;
  const typeMeta: TypeMeta = { apiVersion: "", kind: "" };
  let members = 0;
  const wrong: string[] = [];
  for (const name of ["apiVersion", "kind"] as const) {
    if (!Object.hasOwn(source, name)) continue;
    members++;
    const member = source[name];
    if (typeof member === "string") typeMeta[name] = member;
    else if (member !== null) wrong.push(name);
  }
  if (wrong.length > 0) {
    const first = Object.keys(source).find((name) => wrong.includes(name)) ?? "";
    return syntaxFailure(`json: cannot unmarshal ${goKind(source[first])} into Go struct field .${first} of type string`);
  }
  const walk = new ValueWalk();
  const value = walk.root(source, schema);
  if (walk.failure !== undefined) {
    const reason = walk.failure === TOO_LARGE ? "size" : walk.failure === TOO_DEEP ? "limit" : "type";
    return err({ reason, cause: walk.failure, typeMeta });
  }
  return ok({ decoded: { typeMeta, value, problems: walk.problems }, members: members + walk.members });
}
