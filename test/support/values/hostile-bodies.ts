/** Bodies that are as large as a request may be and say as much as possible of one field: over each list and map of each kind that is served. */
import { definitions } from "../../../src/api/registry/all";
import { DeleteOptionsSchema } from "../../../src/api/schema/meta";
import { VALUES_MAX, YAML_MAX_CHARS, YAML_STEPS_MAX } from "../../../src/api/schema/decode-limits";
import type { Field, FieldType, MessageSchema } from "../../../src/api/schema/types";
import type { BodyType } from "../../../src/worker/http/read/content-type";
import type { Expected } from "../../../src/worker/http/read/decode-body";
import { BODY_MAX_BYTES, REVIEW_MAX_BYTES } from "../../../src/worker/http/limits";
import { REVIEWS } from "../../../src/worker/routing/review-kinds";

export interface HostileBody {
  /** `Pod spec.containers[] = {} as json` */
  name: string;
  expected: Expected;
  type: BodyType;
  /** the list or map that it fills, as `PodSpec.containers`; absent = its form is what is hostile, whatever the kind */
  place?: string;
  /** made when it is asked for: most runs use few of the bodies. `share` of what it is at most; absent = all */
  bytes: (share?: number) => Uint8Array;
}

/** A kind that some request's body may be. */
export const BODY_KINDS: readonly Expected[] = [
  ...definitions.map(({ kind, group, versions, schema }) => ({ kind, group, version: versions[0] ?? "", schema })),
  ...definitions.flatMap(({ actions = [] }) => actions),
  ...REVIEWS,
  { kind: "DeleteOptions", group: "", version: "v1", schema: DeleteOptionsSchema },
];

/** A list or map somewhere in a kind, and the fields that lead there. */
interface Place {
  /** the message and its field, wherever the message stands in the kind */
  name: string;
  path: readonly Field[];
  of: FieldType;
  isMap: boolean;
}

/** The lists and maps of a kind, each as the message and its field: what the bodies of `hostileBodies` fill, in this kind or in an earlier one. */
export function placesOf({ schema }: Expected): Set<string> {
  return new Set([...placesIn(schema)].map(({ name }) => name));
}

/** Fields of a kind's own, of its spec and of its status; those of a template are one step deeper. */
const SHALLOW = 2;
/** Lists nest no deeper in any kind than this. */
const DEPTH_MAX = 9;

function* placesIn(schema: MessageSchema, path: readonly Field[] = []): Generator<Place> {
  if (path.length > DEPTH_MAX) return;
  for (const field of schema.fields) yield* placesAt(field, schema, [...path, field]);
}

function* placesAt({ name, type }: Field, owner: MessageSchema, path: readonly Field[]): Generator<Place> {
  if (type.kind === "message") yield* placesIn(type.message(), path);
  if (type.kind !== "list" && type.kind !== "map") return;
  yield { name: `${owner.name}.${name}`, path, of: type.of, isMap: type.kind === "map" };
  if (type.of.kind === "message") yield* placesIn(type.of.message(), path);
}

/** Items of a body: as many as its decoder takes, or nearly so. More of them are refused at once. */
const ITEMS: Readonly<Record<BodyType, (item: string) => number>> = {
  json: (item) => Math.floor((VALUES_MAX - 20) / (1 + signsIn(item))),
  yaml: () => YAML_STEPS_MAX / 5,
  protobuf: () => VALUES_MAX - 10,
};

/** As VALUES_MAX counts them; the comma between two items is one more. */
function signsIn(item: string): number {
  return item.match(/[:,[{](?![^"]*"(?:[^"]*"[^"]*")*[^"]*$)/g)?.length ?? 0;
}

/** Bodies of each place in each encoding: of equal small items, of items that differ, and of nulls. */
export function* hostileBodies(kinds: readonly Expected[] = BODY_KINDS, itemsMax = BODY_MAX_BYTES): Generator<HostileBody> {
  const known = new Set<string>();
  for (const expected of kinds) {
    for (const place of placesIn(expected.schema)) {
      // Metadata is judged alike in all kinds. What stands deep in a Pod stands in two lists of containers, too. Once is enough.
      const [first] = place.path;
      const isOwn = place.path.length <= (first?.name === "template" ? SHALLOW + 1 : SHALLOW) && first?.name !== "metadata";
      if (!isOwn && known.has(place.name)) continue;
      known.add(place.name);
      const items = place.path.length <= SHALLOW + 1 ? itemsOf(place.of) : itemsOf(place.of).slice(0, 1);
      for (const { what, itemAt } of items) yield* textBodies(expected, place, what, itemAt, itemsMax);
      if (!isReview(expected)) yield protobufBody(expected, place, itemsMax);
    }
  }
}

/** Kinds whose forms are tried as YAML: an object and a review. Its reader knows no schema, and what it has read is walked as JSON is. */
const YAML_FORMS_OF: readonly string[] = ["ConfigMap", "TokenReview"];

/** Bodies whose form is hostile, whatever their kind is, as large as the kind and the decoder take them. */
export function* hostileForms(expected: Expected): Generator<HostileBody> {
  const types = YAML_FORMS_OF.includes(expected.kind) ? (["json", "yaml"] as const) : (["json"] as const);
  for (const [what, text] of FORMS) {
    for (const type of types) {
      const bytesMax = Math.min(bytesMaxOf(expected), type === "yaml" ? YAML_MAX_CHARS : BODY_MAX_BYTES);
      const bytes = (share = 1): Uint8Array => {
        const size = Math.max(FORM_MIN_BYTES, Math.floor(bytesMax * share));
        return bytesOf(text(size)).subarray(0, size);
      };
      yield { name: `${expected.kind} ${what} as ${type}`, expected, type, bytes };
    }
  }
}

/** No form is smaller: some repeat what stands around it. */
const FORM_MIN_BYTES = 2_048;

type ItemAt = (i: number) => string;

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SIGNS = `${LETTERS}0123456789`;

const KEYS = LETTERS.length * SIGNS.length ** 2;
/** A prime, so that all keys come, in an order that costs a sort most. */
const KEY_STEP = 7_919;

/** Keys of three signs: no shorter ones are as many as a document may have. */
function keyAt(i: number): string {
  const at = (i * KEY_STEP) % KEYS;
  const [first, second, third] = [Math.floor(at / SIGNS.length ** 2), Math.floor(at / SIGNS.length) % SIGNS.length, at % SIGNS.length];
  return LETTERS.charAt(first) + SIGNS.charAt(second) + SIGNS.charAt(third);
}

function itemsOf(of: FieldType): { what: string; itemAt: ItemAt }[] {
  switch (of.kind) {
    case "message": {
      const text = [...of.message().byName.values()].find(({ type }) => type.kind === "string");
      const number = [...of.message().byName.values()].find(({ type }) => type.kind === "int32");
      const inner = [...of.message().byName.values()].find(({ type }) => type.kind === "message");
      return [
        { what: "{}", itemAt: () => "{}" },
        { what: "null", itemAt: () => "null" },
        ...(text ? [{ what: `{${text.name}}`, itemAt: (i: number) => `{"${text.name}":"a${i.toString(36)}"}` }] : []),
        ...(text ? [{ what: `{${text.name} twice}`, itemAt: () => `{"${text.name}":"a","${text.name}":"b"}` }] : []),
        ...(text && number
          ? [
              {
                what: `{${text.name},${number.name}}`,
                itemAt: (i: number) => `{"${text.name}":"a${i.toString(36)}","${number.name}":${i}}`,
              },
            ]
          : []),
        ...(inner ? [{ what: `{${inner.name}}`, itemAt: () => `{"${inner.name}":{}}` }] : []),
      ];
    }
    case "string":
      return [
        { what: '""', itemAt: () => '""' },
        { what: "texts", itemAt: (i) => `"a${i.toString(36)}"` },
        { what: "prefixed texts", itemAt: (i) => `"a.b/a${i.toString(36)}"` },
        { what: "addresses", itemAt: (i) => `"1.${(i >> 16) % 256}.${(i >> 8) % 256}.${i % 256}"` },
        { what: "ranges", itemAt: (i) => `"fd00:${(i >> 8).toString(16)}:${(i % 256).toString(16)}::/48"` },
      ];
    case "int32":
    case "int64":
      return [{ what: "numbers", itemAt: (i) => String(i) }];
    case "quantity":
      return [
        { what: "quantities", itemAt: (i) => String(i) },
        { what: "quantities of a family", itemAt: (i) => `"${i}Ki"` },
        { what: "tiny quantities", itemAt: () => '"1e-999"' },
        { what: "long quantities", itemAt: (i) => `"${i}${"1".repeat(100)}.5Ki"` },
      ];
    case "list":
      return [
        { what: "[]", itemAt: () => "[]" },
        { what: "[text]", itemAt: (i) => `["${i.toString(36)}"]` },
      ];
    case "bytes":
      return [{ what: "bytes", itemAt: () => '"YQ=="' }];
    default:
      return [{ what: "null", itemAt: () => "null" }];
  }
}

export function isReview({ kind }: Expected): boolean {
  return REVIEWS.some((review) => review.kind === kind);
}

/** Larger ones are refused before they are decoded. */
function bytesMaxOf(expected: Expected): number {
  return isReview(expected) ? REVIEW_MAX_BYTES : BODY_MAX_BYTES;
}

/** Of so many things, the part that belongs to a text of `bytes`, where the largest text has all. */
function shareOf(most: number, bytes: number): number {
  return Math.ceil((most * bytes) / BODY_MAX_BYTES);
}

function* textBodies(expected: Expected, place: Place, what: string, itemAt: ItemAt, itemsMax: number): Generator<HostileBody> {
  const { path, isMap, name } = place;
  const bytesMax = bytesMaxOf(expected);
  const where = `${expected.kind} ${path.map(({ name, type }) => name + (type.kind === "list" ? "[]" : type.kind === "map" ? "{}" : "")).join(".")} = ${what}`;
  const [head, tail] = around(path);
  const member: ItemAt = isMap ? (i) => `"${keyAt(i)}":${itemAt(i)}` : itemAt;
  for (const type of ["json", "yaml"] as const) {
    const items = Math.min(ITEMS[type](member(0)), itemsMax);
    const bytes = (share = 1): Uint8Array => bytesOf(filled(head, tail, member, ",", bytesMax * share, items * share));
    yield { name: `${where} as ${type}`, expected, type, place: name, bytes };
  }
  if (path.length > 3) return;
  const items = Math.min(ITEMS.yaml(itemAt(0)), itemsMax);
  const bytes = (share = 1): Uint8Array => bytesOf(inLines(path, isMap, itemAt, bytesMax * share, items * share));
  yield { name: `${where} as yaml in lines`, expected, type: "yaml", place: name, bytes };
}

/** What stands before and behind the items of the last field of `path`; lists on the way have one item, maps one member. */
function around(path: readonly Field[]): [string, string] {
  let head = '{"metadata":{"name":"a"},';
  let tail = "}";
  if (path[0]?.name === "metadata") head = '{"metadata":{"name":"a",';
  path.forEach((field, i) => {
    const isLast = i === path.length - 1;
    const isList = field.type.kind === "list";
    const isMap = field.type.kind === "map";
    const isKnown = i === 0 && field.name === "metadata";
    // An inline field has no name of its own.
    if (field.inline) return;
    if (!isKnown) head += `"${field.name}":`;
    if (isLast) {
      head += isMap ? "{" : "[";
      tail = (isMap ? "}" : "]") + tail;
    } else {
      const open = isList ? "[{" : isMap ? '{"a":{' : "{";
      head += isKnown ? "" : open;
      tail = (isList ? "}]" : isMap ? "}}" : "}") + tail;
    }
  });
  return [head, tail];
}

function filled(head: string, tail: string, itemAt: ItemAt, between: string, bytesMax: number, itemsMax = bytesMax): string {
  const parts = [head];
  let length = head.length + tail.length;
  for (let i = 0; i < itemsMax; i++) {
    const part = i === 0 ? itemAt(i) : between + itemAt(i);
    length += part.length;
    if (length > bytesMax) break;
    parts.push(part);
  }
  parts.push(tail);
  return parts.join("");
}

/** The same in block style. */
function inLines(path: readonly Field[], isMap: boolean, itemAt: ItemAt, bytesMax: number, itemsMax: number): string {
  let head = "";
  let indent = "";
  for (const field of path) {
    if (field.inline) continue;
    head += `${indent}${field.name}:\n`;
    indent += " ";
    if (field === path.at(-1)) break;
    if (field.type.kind === "map") {
      head += `${indent}a:\n`;
      indent += " ";
    }
    if (field.type.kind === "list") {
      head += `${indent}-\n`;
      indent += " ";
    }
  }
  return filled(head, "", (i) => `${indent}${isMap ? `${keyAt(i)}: ` : "- "}${itemAt(i)}\n`, "", bytesMax, itemsMax);
}

const DEEP_LIST = "[".repeat(900) + "]".repeat(900);

/** Forms that have nothing to do with a field. */
const FORMS: readonly (readonly [string, (bytes: number) => string])[] = [
  ["a long name", (bytes) => `{"metadata":{"name":"${"a".repeat(bytes - 100)}"}}`],
  ["a long kind", (bytes) => `{"kind":"${"a".repeat(bytes - 100)}"}`],
  ["a long unknown field", (bytes) => `{"${"a".repeat(bytes - 100)}":1}`],
  ["unknown fields", (bytes) => filled("{", "}", (i) => `"u${i}":1`, ",", bytes)],
  ["a field many times", (bytes) => filled("{", "}", () => `"metadata":{}`, ",", bytes)],
  ["an unknown field many times", (bytes) => filled("{", "}", () => `"u":0`, ",", bytes)],
  [
    "as many unknown fields as are taken",
    (bytes) => filled("{", "}", (i) => `"${keyAt(i)}":1`, ",", bytes, shareOf(VALUES_MAX / 2 - 5, bytes)),
  ],
  ["one field as often as is taken", (bytes) => filled("{", "}", () => `"metadata":{}`, ",", bytes, shareOf(VALUES_MAX / 3 - 5, bytes))],
  ["one unknown field as often as is taken", (bytes) => filled("{", "}", () => `"u":0`, ",", bytes, shareOf(VALUES_MAX / 2 - 5, bytes))],
  ["as many empty lists as are taken", (bytes) => filled('{"a":[', "]}", () => "[]", ",", bytes, shareOf(VALUES_MAX / 2 - 5, bytes))],
  ["as many zeros as are taken", (bytes) => filled('{"a":[', "]}", () => "0", ",", bytes, shareOf(VALUES_MAX - 10, bytes))],
  ["as many deep lists as are taken", (bytes) => filled('{"a":[', "]}", () => DEEP_LIST, ",", bytes, shareOf(VALUES_MAX / 901 - 1, bytes))],
  ["brackets", (bytes) => "[".repeat(bytes)],
  ["braces", (bytes) => '{"a":'.repeat(bytes / 5 - 1)],
  ["closed brackets", (bytes) => `{"a":${"[".repeat(bytes / 2 - 10)}${"]".repeat(bytes / 2 - 10)}}`],
  ["empty lists", (bytes) => filled('{"a":[', "]}", () => "[]", ",", bytes)],
  ["zeros", (bytes) => filled('{"a":[', "]}", () => "0", ",", bytes)],
  ["long numbers", (bytes) => filled('{"a":[12345678901234567890,', "]}", () => "0", ",", bytes)],
  [
    "a long number before members",
    (bytes) =>
      `{"a":12345678901234567890,"metadata":{"annotations":{${filled("", "", (i) => `"${keyAt(i)}":""`, ",", bytes - 100, shareOf(140_000, bytes))}}}}`,
  ],
  ["one long number", (bytes) => `{"a":${"1".repeat(bytes - 10)}}`],
  ["blanks", (bytes) => `{${" ".repeat(bytes - 2)}}`],
  ["lines", (bytes) => "\n".repeat(bytes)],
  ["a folded scalar of lines", (bytes) => `a: >\n${"\n".repeat(bytes - 10)}`],
  ["a folded scalar of words", (bytes) => `a: >\n${" a\n".repeat(bytes / 3 - 10)}`],
  ["a literal scalar of lines", (bytes) => `a: |\n${" a\n".repeat(bytes / 3 - 10)}`],
  ["a plain scalar of lines", (bytes) => `a: b\n${" a\n".repeat(bytes / 3 - 10)}`],
  ["a plain scalar of empty lines", (bytes) => `a: b\n${"\n".repeat(bytes - 20)} c`],
  ["a quoted scalar of lines", (bytes) => `a: "b\n${" a\n".repeat(bytes / 3 - 10)}"`],
  ["a quoted scalar of empty lines", (bytes) => `a: "b${"\n".repeat(bytes - 20)}"`],
  ["a single quoted scalar of lines", (bytes) => `a: 'b\n${" a\n".repeat(bytes / 3 - 10)}'`],
  ["a quoted scalar of escapes", (bytes) => `a: "${"\\n".repeat(bytes / 2 - 10)}"`],
  ["a quoted scalar of wrong escapes", (bytes) => `a: "${"\\q".repeat(bytes / 2 - 10)}"`],
  ["a scalar of tabs", (bytes) => `a: b${"\t".repeat(bytes - 10)}`],
  ["comments", (bytes) => "#\n".repeat(bytes / 2)],
  ["a long comment", (bytes) => `#${"a".repeat(bytes - 10)}`],
  ["document ends", (bytes) => "---\n".repeat(bytes / 4)],
  ["directives", (bytes) => "%a\n".repeat(bytes / 3)],
  ["keys without values", (bytes) => filled("", "", (i) => `k${i}:\n`, "", bytes)],
  ["questions", (bytes) => "? ".repeat(bytes / 2)],
  ["questions in lines", (bytes) => "?\n".repeat(bytes / 2)],
  ["dashes", (bytes) => "- ".repeat(bytes / 2)],
  ["dashes in lines", (bytes) => "-\n".repeat(bytes / 2)],
  ["colons", (bytes) => ": ".repeat(bytes / 2)],
  ["commas in a list", (bytes) => `[${",".repeat(bytes - 2)}]`],
  ["closing brackets", (bytes) => "]".repeat(bytes)],
  ["closing braces in a map", (bytes) => `a: b\n${"}".repeat(bytes - 5)}`],
  ["anchors", (bytes) => filled("- ", "", (i) => `&a${i}\n- `, "", bytes)],
  ["anchors together", (bytes) => filled("a: ", "", (i) => `&a${i} `, "", bytes)],
  ["hex escapes that are none", (bytes) => `a: "${"\\xzz".repeat(bytes / 4 - 5)}"`],
  ["long escapes that are none", (bytes) => `a: "${"\\Uffffffff".repeat(bytes / 10 - 5)}"`],
  ["maps in keys of maps", (bytes) => `${"? ".repeat(240)}${"a ".repeat(bytes / 2 - 250)}`],
  ["the same in braces", (bytes) => `${"{? ".repeat(240)}${"a b ".repeat(bytes / 8)}${" : b}".repeat(240)}`],
  ["lists in keys of lists", (bytes) => `${"[".repeat(200)}${"a,".repeat(bytes / 8)}${"]: b]".repeat(199)}]`],
  ["tags that do not end", (bytes) => filled("", "", () => "- !<x y\n", "", bytes)],
  ["a long tag many times", (bytes) => `%TAG !e! ${"x".repeat(bytes / 4)}\n---\n${"- !e!a b\n".repeat(bytes / 40)}`],
  ["comments behind empty lines", (bytes) => `- a\n-${"\n".repeat(bytes / 100)}${"  #\n".repeat(bytes / 100)}`],
  ["an alias of a wide list", (bytes) => `- &a [${"a,".repeat(bytes / 100)}]\n${"- *a\n".repeat(99)}`],
  ["aliases", (bytes) => filled("- &a a\n", "", () => `- *a\n`, "", bytes)],
  ["tags", (bytes) => filled("", "", () => `- !a\n`, "", bytes)],
  ["tags together", (bytes) => `a: ${"!a ".repeat(bytes / 3 - 5)}`],
  ["merge keys", (bytes) => filled("a: &a {b: c}\n", "", (i) => `k${i}: {<<: *a}\n`, "", bytes)],
  ["a long word", (bytes) => `a: ${"b".repeat(bytes - 10)}`],
  ["a long number in YAML", (bytes) => `a: ${"1_".repeat(bytes / 2 - 10)}1`],
  ["a long octal", (bytes) => `a: 0${"7".repeat(bytes - 10)}`],
  ["words without a colon", (bytes) => "a ".repeat(bytes / 2)],
  ["deeper and deeper lines", (bytes) => filled("", "", (i) => `${" ".repeat(i)}a:\n`, "", bytes)],
  ["control characters", (bytes) => `{"a":"${"\u0001".repeat(bytes - 10)}"}`],
  ["a percent of each", (bytes) => "@`%\t".repeat(bytes / 4)],
  ["carriage returns", (bytes) => "a: b\r\n".repeat(bytes / 6)],
];

const ENCODER = new TextEncoder();

function bytesOf(text: string): Uint8Array {
  return ENCODER.encode(text.slice(0, BODY_MAX_BYTES));
}

/** As many empty items as fit, two bytes each. */
function protobufBody(expected: Expected, place: Place, itemsMax: number): HostileBody {
  const where = place.path.map(({ name }) => name).join(".");
  return {
    name: `${expected.kind} ${where} as protobuf`,
    expected,
    type: "protobuf",
    place: place.name,
    bytes: (share = 1) => protobufBytes(expected, place, itemsMax, share),
  };
}

function protobufBytes(expected: Expected, { path, of, isMap }: Place, itemsMax: number, share: number): Uint8Array {
  const last = path[path.length - 1];
  const tag = varint(((last?.number ?? 0) << 3) | wireOf(of, isMap));
  const item = [...tag, 0];
  const headMax = 200;
  const most = Math.min(Math.floor((BODY_MAX_BYTES - headMax) / item.length), ITEMS.protobuf("") - path.length, itemsMax);
  const count = Math.ceil(most * share);
  let bytes = new Uint8Array(count * item.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = item[i % item.length] ?? 0;
  for (const field of [...path].slice(0, -1).reverse()) {
    // The value of a map stands in field 2 of its entry.
    if (field.type.kind === "map") bytes = delimited(2, bytes);
    bytes = delimited(field.number, bytes);
  }
  const typeMeta = joined(delimited(1, ENCODER.encode(apiVersionOf(expected))), delimited(2, ENCODER.encode(expected.kind)));
  return joined(Uint8Array.of(0x6b, 0x38, 0x73, 0), delimited(1, typeMeta), delimited(2, bytes));
}

function apiVersionOf({ group, version }: Expected): string {
  return group === "" ? version : `${group}/${version}`;
}

function wireOf(of: FieldType, isMap: boolean): number {
  return !isMap && (of.kind === "int32" || of.kind === "int64" || of.kind === "bool") ? 0 : 2;
}

function varint(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) out.push((rest & 0x7f) | 0x80);
  out.push(rest);
  return out;
}

function delimited(number: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return joined(Uint8Array.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
