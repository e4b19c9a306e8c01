/**
 * The OpenAPI 2.0 document in protobuf, the only form in which client-go asks for it. Numbers: gnostic openapiv2/OpenAPIv2.proto.
 * A map is a repeated pair of name and value. A value of any type is YAML text; JSON is a part of YAML.
 */
import type { OpenApiSchema } from "./openapi-components";
import type { OpenApiV2Document } from "./openapi-v2";
import { VARINT } from "./wire-reader";
import { delimited, tag, varint } from "./wire-writer";

const UTF8 = new TextEncoder();

type Encode = (value: never) => number[];

/** member of the JSON form -> its number and the writer of its value */
type Fields = Readonly<Record<string, readonly [number: number, write: (out: number[], number: number, value: unknown) => void]>>;

function text(out: number[], number: number, value: unknown): void {
  delimited(out, number, UTF8.encode(String(value)));
}

function texts(out: number[], number: number, value: unknown): void {
  for (const one of value as unknown[]) text(out, number, one);
}

function bool(out: number[], number: number, value: unknown): void {
  if (value !== true) return;
  varint(out, tag(number, VARINT));
  varint(out, 1n);
}

function one(encode: Encode): (out: number[], number: number, value: unknown) => void {
  return (out, number, value) => delimited(out, number, encode(value as never));
}

function many(encode: Encode): (out: number[], number: number, value: unknown) => void {
  return (out, number, value) => {
    for (const item of value as unknown[]) delimited(out, number, encode(item as never));
  };
}

/** A message of one field: the pairs of a map. */
function pairs(number: number, encode: Encode): Encode {
  return (map: Record<string, unknown>) => {
    const out: number[] = [];
    for (const [name, value] of Object.entries(map)) delimited(out, number, pair(name, encode(value as never)));
    return out;
  };
}

function pair(name: string, value: number[]): number[] {
  const out: number[] = [];
  text(out, 1, name);
  delimited(out, 2, value);
  return out;
}

/** A message around one of several; its field number says which. */
function choice(number: number, inner: number[]): number[] {
  const out: number[] = [];
  delimited(out, number, inner);
  return out;
}

function anyValue(value: unknown): number[] {
  const out: number[] = [];
  text(out, 2, JSON.stringify(value));
  return out;
}

/** The members that `fields` names, in their order; `x-…` members go where `extensions` says. */
function message(value: OpenApiSchema, fields: Fields, extensions = 0): number[] {
  const out: number[] = [];
  for (const [name, [number, write]] of Object.entries(fields)) if (value[name] !== undefined) write(out, number, value[name]);
  if (extensions === 0) return out;
  for (const [name, member] of Object.entries(value)) {
    if (name.startsWith("x-")) delimited(out, extensions, pair(name, anyValue(member)));
  }
  return out;
}

const SCHEMA: Fields = {
  $ref: [1, text],
  format: [2, text],
  description: [4, text],
  default: [5, one(anyValue)],
  required: [19, texts],
  enum: [20, many(anyValue)],
  additionalProperties: [21, one((value: OpenApiSchema) => choice(1, schema(value)))],
  type: [22, one((value: string) => choice(1, [...UTF8.encode(value)]))],
  items: [23, one((value: OpenApiSchema) => choice(1, schema(value)))],
  properties: [25, one(pairs(1, (value: OpenApiSchema) => schema(value)))],
};

function schema(value: OpenApiSchema): number[] {
  return message(value, SCHEMA, 31);
}

const BODY_PARAMETER: Fields = { name: [2, text], in: [3, text], required: [4, bool], schema: [5, one(schema)] };
const QUERY_PARAMETER: Fields = { in: [2, text], description: [3, text], name: [4, text], type: [6, text] };
const PATH_PARAMETER: Fields = { required: [1, bool], in: [2, text], description: [3, text], name: [4, text], type: [5, text] };

/** ParametersItem -> Parameter -> body, or other -> query or path */
function parameter(value: OpenApiSchema): number[] {
  switch (value["in"]) {
    case "body":
      return choice(1, choice(1, message(value, BODY_PARAMETER)));
    case "path":
      return choice(1, choice(2, choice(4, message(value, PATH_PARAMETER))));
    default:
      return choice(1, choice(2, choice(3, message(value, QUERY_PARAMETER))));
  }
}

const RESPONSE: Fields = { description: [1, text], schema: [2, one((value: OpenApiSchema) => choice(1, schema(value)))] };

const OPERATION: Fields = {
  tags: [1, texts],
  description: [3, text],
  operationId: [5, text],
  produces: [6, texts],
  consumes: [7, texts],
  parameters: [8, many(parameter)],
  responses: [9, one(pairs(1, (value: OpenApiSchema) => choice(1, message(value, RESPONSE))))],
};

function operation(value: OpenApiSchema): number[] {
  return message(value, OPERATION, 13);
}

const PATH_ITEM: Fields = {
  get: [2, one(operation)],
  put: [3, one(operation)],
  post: [4, one(operation)],
  delete: [5, one(operation)],
  patch: [8, one(operation)],
  parameters: [9, many(parameter)],
};

const DOCUMENT: Fields = {
  swagger: [1, text],
  info: [2, one((value: OpenApiSchema) => message(value, { title: [1, text], version: [2, text] }))],
  paths: [8, one(pairs(2, (value: OpenApiSchema) => message(value, PATH_ITEM)))],
  definitions: [9, one(pairs(1, schema))],
};

/** The document as gnostic's Document message. */
export function encodeOpenApiV2(document: OpenApiV2Document): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(message({ ...document }, DOCUMENT));
}
