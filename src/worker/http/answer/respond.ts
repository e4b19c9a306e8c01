/**
 * The only place where an outcome becomes a Response: Status and object texts, warnings, Retry-After, pretty printing and YAML.
 */
import { parseJson } from "../../../core/encoding/exact-json";
import { Document, type ScalarTag, type SchemaOptions, stringify, type ToStringOptions, visit } from "yaml";
import type { Status } from "../../../api/meta/status";
import { spliceTypeMeta, typeHead } from "../../../api/meta/type-meta";
import { encodeProtobuf } from "../../../api/schema/protobuf/encode-protobuf";
import { shapeOf } from "../../../api/schema/json/json-text";
import { StatusSchema } from "../../../api/schema/meta";
import type { MessageSchema, TypeMeta } from "../../../api/schema/types";
import { RENDER_MAX_BYTES, WARNING_CUT_CHARACTERS, WARNINGS_MAX_CHARACTERS, YAML_RENDER_MAX_VALUES } from "../limits";
import type { DocumentEncoding, AnswerEncoding } from "../negotiate/negotiate";

/** How JSON text leaves the server. */
export type TextRendering = "compact" | "pretty" | "yaml";

/** How an answer leaves the server. */
export type Rendering = TextRendering | "protobuf";

export const JSON_TYPE = "application/json";

export const YAML_TYPE = "application/yaml";

export const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";

const NO_CACHE = "no-cache, private";

const PRETTY_AGENTS = ["curl", "Wget", "Mozilla/5.0"];

/** Source: upstream apiserver endpoints/handlers/negotiation isPrettyPrint. */
export function renderingOf(encoding: DocumentEncoding, query: URLSearchParams, userAgent: string): TextRendering;
export function renderingOf(encoding: AnswerEncoding, query: URLSearchParams, userAgent: string): Rendering;
export function renderingOf(encoding: AnswerEncoding, query: URLSearchParams, userAgent: string): Rendering {
  if (encoding !== "json") return encoding;
  const asked = query.get("pretty");
  if (asked) return /^(1|t|true)$/i.test(asked) ? "pretty" : "compact";
  return PRETTY_AGENTS.some((agent) => userAgent.startsWith(agent)) ? "pretty" : "compact";
}

/** A JSON document in the asked form; 200-range codes and Status bodies alike. */
export function jsonResponse(code: number, text: string, rendering: TextRendering, warnings: readonly string[] = []): Response {
  return response(code, render(text, rendering), rendering === "yaml" ? YAML_TYPE : JSON_TYPE, warnings);
}

/** An object with its kind and apiVersion apart. */
export interface ShownObject {
  typeMeta: TypeMeta;
  schema: MessageSchema;
  /** JSON, without kind and apiVersion */
  text: string;
}

/** An object in the asked form. */
export function shownResponse(code: number, object: ShownObject, rendering: Rendering, warnings: readonly string[] = []): Response {
  const { typeMeta, schema, text } = object;
  if (rendering !== "protobuf") {
    return jsonResponse(code, spliceTypeMeta(typeHead(typeMeta.kind, typeMeta.apiVersion), text), rendering, warnings);
  }
  const bytes = encodeProtobuf(parseJson(text) as Record<string, unknown>, schema, typeMeta);
  return response(code, bytes, PROTOBUF_TYPE, warnings);
}

function response(code: number, body: string | Uint8Array<ArrayBuffer>, type: string, warnings: readonly string[]): Response {
  const made = new Response(body, { status: code, headers: { "Content-Type": type, "Cache-Control": NO_CACHE } });
  for (const header of warningHeaders(warnings)) made.headers.append("Warning", header);
  return made;
}

/** A refusal, or the Success of a deletion. */
export function statusResponse(status: Status, rendering: Rendering = "compact", warnings: readonly string[] = []): Response {
  const { kind, apiVersion, code, ...rest } = status;
  // Upstream's Success of a deletion has no code in its body.
  const content = status.status === "Success" && code === 200 ? rest : { ...rest, code };
  const shown = { typeMeta: { kind, apiVersion }, schema: StatusSchema, text: JSON.stringify(content) };
  const made = shownResponse(code, shown, rendering, warnings);
  const retryAfter = status.details?.retryAfterSeconds ?? 0;
  if (retryAfter > 0) made.headers.set("Retry-After", String(retryAfter));
  return made;
}

/** The answer with further warnings before its own. */
export function warned(response: Response, warnings: readonly string[]): Response {
  if (warnings.length === 0) return response;
  // The headers of an answer that came from an object are read-only. Its body goes on untouched.
  const answer = new Response(response.body, response);
  const own = response.headers.get("Warning");
  answer.headers.delete("Warning");
  for (const header of warningHeaders(warnings)) answer.headers.append("Warning", header);
  if (own !== null) answer.headers.append("Warning", own);
  return answer;
}

/** What upstream's router answers outside every served group. */
export function pageNotFound(): Response {
  return textResponse(404, "404 page not found\n");
}

export function textResponse(code: number, text: string): Response {
  return new Response(text, {
    status: code,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": NO_CACHE },
  });
}

export function render(text: string, rendering: TextRendering): string {
  switch (rendering) {
    case "compact":
      return text;
    case "pretty":
      return `${JSON.stringify(parseJson(text), null, 2)}\n`;
    case "yaml":
      return isLargeAsYaml(text) ? text : yamlText(parseJson(text));
  }
}

/** JSON is YAML, and is written in a fraction of the time. */
function isLargeAsYaml(text: string): boolean {
  return text.length > RENDER_MAX_BYTES.yaml || shapeOf(text).values > YAML_RENDER_MAX_VALUES;
}

/**
 * Numbers of Go that neither YAML 1.1 nor 1.2 knows: `0X1f`, `-0o10`, `1e3_0`, `+_1` (src/api/schema/json/yaml-scalars.ts). It matches more than those, and
 * what it matches is quoted.
 */
const GO_NUMBER: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^[-+]?(?=[0-9._])[0-9_]*(?:[bBoOxX][-+0-9a-fA-F_]+|(?:\.[0-9_]*)?(?:[eE][-+0-9_]+)?)$/,
  resolve: String,
};
/** Go and many other readers know YAML 1.1. Text that means something else there (`yes`, `010`, a date), or to Go alone, is quoted. */
const YAML = { lineWidth: 0, compat: "yaml-1.1", customTags: [GO_NUMBER] } satisfies ToStringOptions & SchemaOptions;
/**
 * Characters that YAML 1.1 and 1.2 do not print, and those that one of them takes for the end of a line. The tab is one: some readers refuse it
 * without quotes, and Go quotes it, too. The library escapes the others below U+0020.
 */
const UNPRINTABLE = /[\t\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;

/** The value as YAML, with unprintable characters as escapes, which only double quotes can hold. */
function yamlText(value: unknown): string {
  const text = stringify(value, YAML);
  if (!UNPRINTABLE.test(text)) return text;
  const document = new Document(value, YAML);
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && UNPRINTABLE.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString(YAML).replaceAll(new RegExp(UNPRINTABLE, "g"), (character) => `\\u${hex4(character.charCodeAt(0))}`);
}

function hex4(code: number): string {
  return code.toString(16).padStart(4, "0");
}

/** `299 - "text"`, each message once; source: upstream apiserver endpoints/filters/warning.go. */
function warningHeaders(warnings: readonly string[]): string[] {
  if (warnings.length === 0) return [];
  const distinct = [...new Set(warnings)];
  const total = distinct.reduce((sum, text) => sum + text.length, 0);
  const headers: string[] = [];
  let written = 0;
  for (const warning of distinct) {
    const text = total > WARNINGS_MAX_CHARACTERS ? warning.slice(0, WARNING_CUT_CHARACTERS) : warning;
    if (written + text.length > WARNINGS_MAX_CHARACTERS) break;
    written += text.length;
    headers.push(`299 - "${headerText(text.replace(/["\\]/g, "\\$&"))}"`);
  }
  return headers;
}

/** Header values are bytes: control characters become spaces, characters beyond ASCII their escapes. */
function headerText(text: string): string {
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) out += " ";
    else if (code > 0x7f) out += `\\u${hex4(code)}`;
    else out += text.charAt(i);
  }
  return out;
}
