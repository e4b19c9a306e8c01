/**
 * Object of a schema -> protobuf body, byte for byte as Go writes it: fields by number, map keys sorted, zero values of plain
 * fields written out. The server answers in JSON; round-trip tests and the clients of tests use this.
 */
import { decodeBase64 } from "../../core/base/base64";
import { PROTOBUF_PREFIX } from "./decode-protobuf";
import { parseTime } from "./instant";
import type { Field, FieldType, MessageSchema, TypeMeta } from "./types";
import { VARINT } from "./wire-reader";
import { delimited, tag, varint } from "./wire-writer";

type JsonObject = Record<string, unknown>;

const UTF8 = new TextEncoder();

/** `value` is a normal value of `schema`, as decoding returns it. */
export function encodeProtobuf(value: JsonObject, schema: MessageSchema, typeMeta: TypeMeta): Uint8Array {
  const meta: number[] = [];
  delimited(meta, 1, UTF8.encode(typeMeta.apiVersion));
  delimited(meta, 2, UTF8.encode(typeMeta.kind));
  const frame: number[] = [...PROTOBUF_PREFIX];
  delimited(frame, 1, meta);
  delimited(frame, 2, message(value, schema));
  delimited(frame, 3, []);
  delimited(frame, 4, []);
  return Uint8Array.from(frame);
}

function message(value: JsonObject, schema: MessageSchema): number[] {
  const out: number[] = [];
  for (const field of [...schema.byNumber.values()].sort((a, b) => a.number - b.number)) writeField(out, field, value);
  return out;
}

function writeField(out: number[], field: Field, value: JsonObject): void {
  const { type, number } = field;
  const member = field.inline ? value : value[field.name];
  if (type.kind === "list") {
    for (const item of (member ?? []) as unknown[]) element(out, number, type.of, item);
  } else if (type.kind === "map") {
    const map = (member ?? {}) as JsonObject;
    for (const key of Object.keys(map).sort()) {
      const entry: number[] = [];
      delimited(entry, 1, UTF8.encode(key));
      element(entry, 2, type.of, map[key]);
      delimited(out, number, entry);
    }
  } else if (member !== undefined || field.presence !== "pointer") {
    element(out, number, type, member);
  }
}

/** One value under its tag; undefined writes the zero value of the type. */
function element(out: number[], number: number, type: FieldType, value: unknown): void {
  switch (type.kind) {
    case "bool":
      varint(out, tag(number, VARINT));
      return varint(out, value === true ? 1n : 0n);
    case "int32":
    case "int64":
      varint(out, tag(number, VARINT));
      return varint(out, BigInt(typeof value === "number" ? value : 0));
    case "message":
      return delimited(out, number, message((value ?? {}) as JsonObject, type.message()));
    default:
      return delimited(out, number, content(type, value));
  }
}

function content(type: FieldType, value: unknown): Iterable<number> & { length: number } {
  const out: number[] = [];
  const text = typeof value === "string" ? value : "";
  switch (type.kind) {
    case "string":
      return UTF8.encode(text);
    case "bytes":
      return decodeBase64(text) ?? [];
    case "quantity":
      delimited(out, 1, UTF8.encode(text || "0"));
      return out;
    case "fieldsV1":
      if (value !== undefined) delimited(out, 1, UTF8.encode(JSON.stringify(value)));
      return out;
    case "intOrString":
      element(out, 1, { kind: "int32" }, typeof value === "string" ? 1 : 0);
      element(out, 2, { kind: "int32" }, value);
      delimited(out, 3, UTF8.encode(text));
      return out;
    case "list":
      for (const item of (value ?? []) as unknown[]) element(out, 1, type.of, item);
      return out;
    case "time":
    case "microTime": {
      const instant = parseTime(text);
      if (instant === undefined) return out;
      element(out, 1, { kind: "int64" }, instant.seconds);
      element(out, 2, { kind: "int32" }, type.kind === "time" ? 0 : instant.nanos);
      return out;
    }
    default:
      return out;
  }
}
