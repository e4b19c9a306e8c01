/**
 * Protobuf body -> object of a schema, table-driven: typed Go clients (kubectl 1.32 and later among them) send nothing else.
 *
 * A body is `k8s\0` and the message Unknown {1 typeMeta {1 apiVersion, 2 kind}, 2 raw, 3 contentEncoding, 4 contentType}; raw is
 * the object. Decoding only unpacks the wire. The walk that JSON bodies take then checks and normalises: both forms of one object
 * become the same value. Go writes zero values of plain fields; the walk drops them.
 * Upstream: apimachinery pkg/runtime/serializer/protobuf, generated.proto of each group.
 */
import { encodeBase64Bytes } from "../../../core/encoding/base64";
import { parseJson } from "../../../core/encoding/exact-json";
import { err, ok, type Result } from "../../../core/base/result";
import { validateValue, type Decoded } from "../json/decode-json";
import { TOO_MANY_VALUES } from "../decode-limits";
import { formatMicroTime, formatTime, isWritable } from "../instant";
import type { UncheckedObject } from "../json/json-value";
import type { DecodeError, Field, FieldType, MessageSchema, TypeMeta } from "../types";
import { DELIMITED, VARINT, WireReader } from "./wire-reader";

export const PROTOBUF_PREFIX: readonly number[] = [0x6b, 0x38, 0x73, 0x00];
const PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf";
const NOT_PROTOBUF = "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]";

/** Decodes one body as a `schema`. `problems` is empty: protobuf has field numbers and no names. */
export function decodeProtobuf(body: Uint8Array, schema: MessageSchema): Result<Decoded, DecodeError> {
  const typeMeta: TypeMeta = { apiVersion: "", kind: "" };
  if (PROTOBUF_PREFIX.some((byte, i) => body[i] !== byte)) return err({ reason: "syntax", cause: NOT_PROTOBUF, typeMeta });
  const reader = new WireReader(body, PROTOBUF_PREFIX.length);
  const value: UncheckedObject = {};
  readFrame(reader, schema, typeMeta, value);
  if (reader.failure !== undefined) {
    return err({ reason: reader.failure === TOO_MANY_VALUES ? "size" : "syntax", cause: reader.failure, typeMeta });
  }
  const checked = validateValue(value, schema);
  return checked.ok ? ok({ ...checked.value, typeMeta }) : err({ ...checked.error, typeMeta });
}

/** The message Unknown around the object. The object is read last, whatever the order on the wire. */
function readFrame(reader: WireReader, schema: MessageSchema, typeMeta: TypeMeta, value: UncheckedObject): void {
  let raw: { start: number; end: number } | undefined;
  while (reader.more(reader.length)) {
    const { number, wire } = reader.tag();
    if (wire !== DELIMITED || number > 4) {
      reader.skip(wire);
      continue;
    }
    const end = reader.delimited();
    if (number === 1) readTypeMeta(reader, end, typeMeta);
    else if (number === 2) raw = { start: reader.at, end };
    else if (number === 3 && end > reader.at) reader.fail("content encodings are not supported");
    else if (number === 4 && end > reader.at) {
      const type = reader.text(end);
      if (type !== PROTOBUF_TYPE) reader.fail(`content type ${JSON.stringify(type)} is not supported`);
    }
    reader.at = end;
  }
  if (raw === undefined || reader.failure !== undefined) return;
  reader.at = raw.start;
  readMessage(reader, raw.end, schema, value);
}

function readTypeMeta(reader: WireReader, end: number, typeMeta: TypeMeta): void {
  while (reader.more(end)) {
    const { number, wire } = reader.tag();
    if (wire === DELIMITED && number === 1) typeMeta.apiVersion = reader.text(reader.delimited());
    else if (wire === DELIMITED && number === 2) typeMeta.kind = reader.text(reader.delimited());
    else reader.skip(wire);
  }
  reader.closed(end);
}

/** Reads fields up to `end` into `out`; an inline message reads into the object of the enclosing one. */
function readMessage(reader: WireReader, end: number, schema: MessageSchema, out: UncheckedObject): void {
  while (reader.more(end)) {
    const { number, wire } = reader.tag();
    const field = schema.byNumber.get(number);
    if (field === undefined) reader.skip(wire);
    else readField(reader, field, wire, out);
  }
  reader.closed(end);
}

function readField(reader: WireReader, field: Field, wire: number, out: UncheckedObject): void {
  const { type, name } = field;
  switch (type.kind) {
    case "list":
      readItems(reader, type.of, wire, name, (out[name] ??= []) as unknown[]);
      return;
    case "map":
      readEntry(reader, type.of, wire, name, (out[name] ??= {}) as UncheckedObject);
      return;
    case "message": {
      // a repeated singular message merges, as the format demands
      const inner = field.inline ? out : ((out[name] ??= {}) as UncheckedObject);
      if (wire === DELIMITED) readMessage(reader, reader.delimited(), type.message(), inner);
      else wrongWire(reader, wire, name);
      return;
    }
    default:
      out[name] = readScalar(reader, type, wire, name);
  }
}

/** One item, or a packed run of them. */
function readItems(reader: WireReader, of: FieldType, wire: number, name: string, list: unknown[]): void {
  const packable = of.kind === "int32" || of.kind === "int64" || of.kind === "bool";
  if (!packable || wire !== DELIMITED) {
    list.push(readElement(reader, of, wire, name));
    return;
  }
  const end = reader.delimited();
  while (reader.more(end)) list.push(readScalar(reader, of, VARINT, name));
  reader.closed(end);
}

function readEntry(reader: WireReader, of: FieldType, wire: number, name: string, map: UncheckedObject): void {
  if (wire !== DELIMITED) return wrongWire(reader, wire, name);
  const end = reader.delimited();
  let key = "";
  let value: unknown = null;
  while (reader.more(end)) {
    const tag = reader.tag();
    if (tag.number === 1 && tag.wire === DELIMITED) key = reader.text(reader.delimited());
    else if (tag.number === 2) value = readElement(reader, of, tag.wire, name);
    else reader.skip(tag.wire);
  }
  reader.closed(end);
  // defineProperty, because a key may be named __proto__
  Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true });
}

/** An item of a list or the value of a map entry. */
function readElement(reader: WireReader, of: FieldType, wire: number, name: string): unknown {
  if (of.kind === "message") {
    const inner: UncheckedObject = {};
    if (wire === DELIMITED) readMessage(reader, reader.delimited(), of.message(), inner);
    else wrongWire(reader, wire, name);
    return inner;
  }
  if (of.kind === "list") return readWrappedList(reader, of.of, wire, name);
  return readScalar(reader, of, wire, name);
}

/** A Go list type as the value of a map (ExtraValue) travels as a message with the list in field 1. */
function readWrappedList(reader: WireReader, of: FieldType, wire: number, name: string): unknown[] {
  const list: unknown[] = [];
  if (wire !== DELIMITED) {
    wrongWire(reader, wire, name);
    return list;
  }
  const end = reader.delimited();
  while (reader.more(end)) {
    const tag = reader.tag();
    if (tag.number === 1) readItems(reader, of, tag.wire, name, list);
    else reader.skip(tag.wire);
  }
  reader.closed(end);
  return list;
}

/** A value that is no message, list or map; null = null in JSON. */
function readScalar(reader: WireReader, type: FieldType, wire: number, name: string): unknown {
  const isVarint = type.kind === "int32" || type.kind === "int64" || type.kind === "bool";
  if (wire !== (isVarint ? VARINT : DELIMITED)) return wrongWire(reader, wire, name);
  switch (type.kind) {
    case "bool":
      return reader.bool();
    case "int32":
      return reader.int32();
    case "int64":
      return reader.int64();
    case "string":
      return reader.text(reader.delimited());
    case "bytes":
      return encodeBase64Bytes(reader.bytes(reader.delimited()));
    case "time":
    case "microTime":
      return readTime(reader, type.kind, name);
    case "intOrString":
      return readIntOrString(reader);
    case "quantity":
      return readWrappedText(reader) || "0";
    case "fieldsV1":
      return readJson(reader, name);
    default:
      return reader.fail(`field ${name} cannot be nested`);
  }
}

/** The text in field 1 of a message (Quantity, FieldsV1). */
function readWrappedText(reader: WireReader): string {
  const end = reader.delimited();
  let text = "";
  while (reader.more(end)) {
    const { number, wire } = reader.tag();
    if (number === 1 && wire === DELIMITED) text = reader.text(reader.delimited());
    else reader.skip(wire);
  }
  reader.closed(end);
  return text;
}

function readJson(reader: WireReader, name: string): unknown {
  const text = readWrappedText(reader);
  if (text === "") return null;
  try {
    return parseJson(text);
  } catch {
    return reader.fail(`field ${name} is not JSON`);
  }
}

/** {1 seconds, 2 nanos}; an empty message is the zero time, null in JSON. */
function readTime(reader: WireReader, kind: "time" | "microTime", name: string): string | null | undefined {
  const end = reader.delimited();
  if (reader.at === end) return null;
  let seconds = 0;
  let nanos = 0;
  while (reader.more(end)) {
    const { number, wire } = reader.tag();
    // Rounded beyond 2^53, where no time can be written.
    if (number === 1 && wire === VARINT) seconds = Number(reader.int64());
    else if (number === 2 && wire === VARINT) nanos = reader.int32();
    else reader.skip(wire);
  }
  reader.closed(end);
  const carry = Math.floor(nanos / 1e9);
  const instant = { seconds: seconds + carry, nanos: nanos - carry * 1e9 };
  if (!isWritable(instant)) return reader.fail(`field ${name} is out of range`);
  return kind === "time" ? formatTime(instant) : formatMicroTime(instant);
}

/** {1 type (0 number, 1 text), 2 intVal, 3 strVal} */
function readIntOrString(reader: WireReader): number | string {
  const end = reader.delimited();
  let isText = false;
  let number = 0;
  let text = "";
  while (reader.more(end)) {
    const tag = reader.tag();
    if (tag.number === 1 && tag.wire === VARINT) isText = reader.int32() === 1;
    else if (tag.number === 2 && tag.wire === VARINT) number = reader.int32();
    else if (tag.number === 3 && tag.wire === DELIMITED) text = reader.text(reader.delimited());
    else reader.skip(tag.wire);
  }
  reader.closed(end);
  return isText ? text : number;
}

function wrongWire(reader: WireReader, wire: number, name: string): undefined {
  return reader.fail(`proto: wrong wireType = ${wire} for field ${name}`);
}
