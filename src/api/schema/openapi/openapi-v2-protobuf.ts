/**
 * The OpenAPI 2.0 document in protobuf, the only form in which client-go asks for it. Numbers: gnostic openapiv2/OpenAPIv2.proto.
 * A map is a repeated pair of name and value. A value of any type is YAML text; JSON is a part of YAML.
 */
import type { OpenApiSchema } from "./openapi-components";
import type { OpenApiV2Document } from "./openapi-v2";
import { DELIMITED, VARINT } from "../protobuf/wire-reader";
import { WireWriter } from "../protobuf/wire-writer";

/** Writes the fields of a message, the last one first. */
type Encode = (out: WireWriter, value: never) => void;
/** Writes a field of this number. */
type Write = (out: WireWriter, number: number, value: unknown) => void;

/** member of the JSON form -> its number and the writer of its value */
type Fields = Readonly<Record<string, readonly [number: number, write: Write]>>;

function delimited(out: WireWriter, number: number, content: () => void): void {
  const from = out.length;
  content();
  out.close(number * 8 + DELIMITED, from);
}

function backwards(list: readonly unknown[], write: (item: unknown) => void): void {
  for (let i = list.length - 1; i >= 0; i--) write(list[i]);
}

function text(out: WireWriter, number: number, value: unknown): void {
  out.textField(number * 8 + DELIMITED, String(value));
}

function texts(out: WireWriter, number: number, value: unknown): void {
  backwards(value as unknown[], (one) => text(out, number, one));
}

function bool(out: WireWriter, number: number, value: unknown): void {
  if (value !== true) return;
  out.varint(1);
  out.varint(number * 8 + VARINT);
}

function one(encode: Encode): Write {
  return (out, number, value) => delimited(out, number, () => encode(out, value as never));
}

function many(encode: Encode): Write {
  return (out, number, value) => backwards(value as unknown[], (item) => one(encode)(out, number, item));
}

/** A message of one field: the pairs of a map. */
function pairs(number: number, encode: Encode): Encode {
  return (out, map: Record<string, unknown>) => {
    backwards(Object.entries(map), (entry) => pair(out, number, entry as [string, unknown], encode));
  };
}

function pair(out: WireWriter, number: number, [name, value]: [string, unknown], encode: Encode): void {
  delimited(out, number, () => {
    one(encode)(out, 2, value);
    text(out, 1, name);
  });
}

/** A message around one of several; its field number says which. */
function choice(number: number, inner: Encode): Encode {
  return (out, value) => delimited(out, number, () => inner(out, value));
}

function anyValue(out: WireWriter, value: unknown): void {
  text(out, 2, JSON.stringify(value));
}

/** The members that `fields` names, in their order; `x-…` members go where `extensions` says. */
function message(fields: Fields, extensions = 0): Encode {
  const known = Object.entries(fields).reverse();
  return (out, value: OpenApiSchema) => {
    if (extensions !== 0) {
      const extra = Object.entries(value).filter(([name]) => name.startsWith("x-"));
      backwards(extra, (entry) => pair(out, extensions, entry as [string, unknown], anyValue));
    }
    for (const [name, [number, write]] of known) if (value[name] !== undefined) write(out, number, value[name]);
  };
}

const SCHEMA: Fields = {
  $ref: [1, text],
  format: [2, text],
  description: [4, text],
  default: [5, one(anyValue)],
  required: [19, texts],
  enum: [20, many(anyValue)],
  additionalProperties: [21, one(choice(1, schema))],
  type: [22, one(choice(1, (out, value: string) => out.text(value)))],
  items: [23, one(choice(1, schema))],
  properties: [25, one(pairs(1, schema))],
};

function schema(out: WireWriter, value: OpenApiSchema): void {
  SCHEMA_MESSAGE(out, value as never);
}

const SCHEMA_MESSAGE = message(SCHEMA, 31);

const BODY_PARAMETER = message({ name: [2, text], in: [3, text], required: [4, bool], schema: [5, one(schema)] });
const QUERY_PARAMETER = message({ in: [2, text], description: [3, text], name: [4, text], type: [6, text] });
const PATH_PARAMETER = message({ required: [1, bool], in: [2, text], description: [3, text], name: [4, text], type: [5, text] });

/** ParametersItem -> Parameter -> body, or other -> query or path */
const BODY = choice(1, choice(1, BODY_PARAMETER));
const PATH = choice(1, choice(2, choice(4, PATH_PARAMETER)));
const QUERY = choice(1, choice(2, choice(3, QUERY_PARAMETER)));

function parameter(out: WireWriter, value: OpenApiSchema): void {
  const encode = value["in"] === "body" ? BODY : value["in"] === "path" ? PATH : QUERY;
  encode(out, value as never);
}

const RESPONSE = message({ description: [1, text], schema: [2, one(choice(1, schema))] });

const OPERATION = message(
  {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, many(parameter)],
    responses: [9, one(pairs(1, choice(1, RESPONSE)))],
  },
  13,
);

const PATH_ITEM = message({
  get: [2, one(OPERATION)],
  put: [3, one(OPERATION)],
  post: [4, one(OPERATION)],
  delete: [5, one(OPERATION)],
  patch: [8, one(OPERATION)],
  parameters: [9, many(parameter)],
});

const DOCUMENT = message({
  swagger: [1, text],
  info: [2, one(message({ title: [1, text], version: [2, text] }))],
  paths: [8, one(pairs(2, PATH_ITEM))],
  definitions: [9, one(pairs(1, schema))],
});

/** The document as gnostic's Document message. */
export function encodeOpenApiV2(document: OpenApiV2Document): Uint8Array<ArrayBuffer> {
  const out = new WireWriter();
  DOCUMENT(out, document as never);
  return out.take();
}
