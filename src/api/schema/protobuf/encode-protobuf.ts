/**
 * Object of a schema -> protobuf, byte for byte as Go writes it: fields by number, map keys sorted, zero values of plain fields written out.
 *
 * An object travels as `k8s\0` and the message Unknown {1 typeMeta {1 apiVersion, 2 kind}, 2 raw, 3 contentEncoding, 4 contentType}; raw is the
 * object. The items of a list and all nested objects stand bare. A watch sends frames: the length in four bytes, then the bare message WatchEvent
 * {1 type, 2 object {1 raw}}, whose raw is an object with its envelope.
 * Upstream: apimachinery pkg/runtime/serializer/protobuf, pkg/util/framer, pkg/apis/meta/v1 generated.proto.
 */
import { assert, assertNever } from "../../../core/base/assert";
import { decodeBase64 } from "../../../core/encoding/base64";
import type { UncheckedObject } from "../json/json-value";
import { PROTOBUF_PREFIX } from "./decode-protobuf";
import { isZeroTime, parseInstant } from "../instant";
import { ListMeta } from "../meta";
import type { Field, FieldType, MessageSchema, TypeMeta } from "../types";
import { DELIMITED, VARINT } from "./wire-reader";
import { WireWriter } from "./wire-writer";

/** Writes the value of a field with its tag; undefined and null write the zero value of the type. */
type WriteValue = (out: WireWriter, value: unknown) => void;
/** Writes the field out of the object that has it. */
type WriteField = (out: WireWriter, object: UncheckedObject) => void;

/** Bytes of the length before a frame. */
export const FRAME_LENGTH_BYTES = 4;

const PREFIX = Uint8Array.from(PROTOBUF_PREFIX);
const [FIELD_1, FIELD_2, FIELD_3, FIELD_4] = [delimitedTag(1), delimitedTag(2), delimitedTag(3), delimitedTag(4)] as const;

/** Encoding never waits, so that one buffer serves all. */
const writer = new WireWriter();

/** `value` is a normal value of `schema`, as decoding returns it. */
export function encodeProtobuf(value: UncheckedObject, schema: MessageSchema, typeMeta: TypeMeta): Uint8Array<ArrayBuffer> {
  writeEnveloped(value, schema, typeMeta);
  return writer.take();
}

/** One event of a watch as a frame; the object as for `encodeProtobuf`. */
export function encodeWatchFrame(type: string, value: UncheckedObject, schema: MessageSchema, typeMeta: TypeMeta): Uint8Array<ArrayBuffer> {
  writeEnveloped(value, schema, typeMeta);
  writer.close(FIELD_1, 0);
  writer.close(FIELD_2, 0);
  writer.textField(FIELD_1, type);
  const { length } = writer;
  writer.raw(Uint8Array.of(length >>> 24, length >>> 16, length >>> 8, length));
  return writer.take();
}

/** Items of a list that were encoded before, by their index. */
export interface EncodedItems {
  get(index: number): Uint8Array | undefined;
  /** `bytes` makes a copy of the item's bytes. */
  keep(index: number, bytes: () => Uint8Array): void;
}

/** So many items of a list. `itemAt` gives the value at an index; it is called from the last to the first, without those in `encoded`. */
export function encodeListItems(
  count: number,
  itemAt: (index: number) => UncheckedObject,
  schema: MessageSchema,
  encoded?: EncodedItems,
): Uint8Array<ArrayBuffer> {
  // An item that cannot be read leaves the items behind it in the writer.
  writer.clear();
  const write = valueWriter(2, { kind: "message", message: () => schema });
  for (let i = count - 1; i >= 0; i--) {
    const before = writer.length;
    const known = encoded?.get(i);
    if (known) writer.raw(known);
    else {
      write(writer, itemAt(i));
      encoded?.keep(i, () => writer.since(before));
    }
  }
  return writer.take();
}

/** What stands before the items of a list, which take `itemsBytes` together. `meta` is a value of ListMeta. */
export function encodeListHead(meta: UncheckedObject, typeMeta: TypeMeta, itemsBytes: number): Uint8Array<ArrayBuffer> {
  writer.clear();
  writeMessage(writer, meta, ListMeta);
  writer.close(FIELD_1, 0);
  writer.varint(writer.length + itemsBytes);
  writer.varint(FIELD_2);
  writeTypeMeta(typeMeta);
  return writer.take();
}

/** What stands behind the items of a list. */
export function encodeListTail(): Uint8Array<ArrayBuffer> {
  writer.clear();
  writeEnvelopeTail();
  return writer.take();
}

function writeEnveloped(value: UncheckedObject, schema: MessageSchema, typeMeta: TypeMeta): void {
  writer.clear();
  writeEnvelopeTail();
  const from = writer.length;
  writeMessage(writer, value, schema);
  writer.close(FIELD_2, from);
  writeTypeMeta(typeMeta);
}

/** Encoding and type of the content, which Go leaves empty. */
function writeEnvelopeTail(): void {
  writer.textField(FIELD_4, "");
  writer.textField(FIELD_3, "");
}

function writeTypeMeta({ apiVersion, kind }: TypeMeta): void {
  const from = writer.length;
  writer.textField(FIELD_2, kind);
  writer.textField(FIELD_1, apiVersion);
  writer.close(FIELD_1, from);
  writer.raw(PREFIX);
}

/** The fields of each message in the order of writing: the highest number first. */
const fieldWriters = new WeakMap<MessageSchema, readonly WriteField[]>();

function writersOf(schema: MessageSchema): readonly WriteField[] {
  let writers = fieldWriters.get(schema);
  if (!writers) {
    writers = [...schema.byNumber.values()].sort((a, b) => b.number - a.number).map(fieldWriter);
    fieldWriters.set(schema, writers);
  }
  return writers;
}

function writeMessage(out: WireWriter, value: UncheckedObject, schema: MessageSchema): void {
  for (const write of writersOf(schema)) write(out, value);
}

function fieldWriter({ name, number, type, presence, inline }: Field): WriteField {
  if (type.kind === "list") return listWriter(name, valueWriter(number, type.of));
  if (type.kind === "map") return mapWriter(name, delimitedTag(number), valueWriter(2, type.of));
  const write = valueWriter(number, type);
  if (inline) return write;
  if (presence !== "pointer") return (out, object) => write(out, object[name]);
  return (out, object) => {
    const value = object[name];
    if (value !== undefined && value !== null) write(out, value);
  };
}

function listWriter(name: string, write: WriteValue): WriteField {
  return (out, object) => {
    const list = object[name] as readonly unknown[] | null | undefined;
    if (!list) return;
    for (let i = list.length - 1; i >= 0; i--) write(out, list[i]);
  };
}

function mapWriter(name: string, tag: number, write: WriteValue): WriteField {
  return (out, object) => {
    const map = object[name] as UncheckedObject | null | undefined;
    if (!map) return;
    const keys = Object.keys(map).sort();
    for (let i = keys.length - 1; i >= 0; i--) {
      const key = keys[i] ?? "";
      const from = out.length;
      write(out, map[key]);
      out.textField(FIELD_1, key);
      out.close(tag, from);
    }
  };
}

/** How a value that is no list of its own is written under this field number. */
function valueWriter(number: number, type: FieldType): WriteValue {
  const tag = delimitedTag(number);
  switch (type.kind) {
    case "string":
      return (out, value) => out.textField(tag, textOf(value));
    case "bool":
      return (out, value) => writeInteger(out, number, value === true ? 1 : 0);
    case "int32":
    case "int64":
      return (out, value) => writeInteger(out, number, value);
    case "message": {
      // A schema may contain itself: its fields are known when it is written first.
      let writers: readonly WriteField[] | undefined;
      return (out, value) => {
        const object = (value ?? {}) as UncheckedObject;
        const from = out.length;
        for (const write of (writers ??= writersOf(type.message()))) write(out, object);
        out.close(tag, from);
      };
    }
    default: {
      const write = contentWriter(type);
      return (out, value) => {
        const from = out.length;
        write(out, value);
        out.close(tag, from);
      };
    }
  }
}

/** The content of a type that travels as a message of its own. */
function contentWriter(type: Exclude<FieldType, { kind: "string" | "bool" | "int32" | "int64" | "message" }>): WriteValue {
  switch (type.kind) {
    case "bytes":
      return (out, value) => out.raw(decodeBase64(textOf(value)) ?? new Uint8Array());
    case "quantity":
      return (out, value) => out.textField(FIELD_1, textOf(value) || "0");
    case "fieldsV1":
      return (out, value) => {
        if (value !== undefined && value !== null) out.textField(FIELD_1, JSON.stringify(value));
      };
    case "intOrString":
      return (out, value) => {
        out.textField(FIELD_3, textOf(value));
        writeInteger(out, 2, value);
        writeInteger(out, 1, typeof value === "string" ? 1 : 0);
      };
    case "list": {
      const write = valueWriter(1, type.of);
      return (out, value) => {
        const list = (value ?? []) as readonly unknown[];
        for (let i = list.length - 1; i >= 0; i--) write(out, list[i]);
      };
    }
    case "time":
    case "microTime":
      return (out, value) => {
        const instant = parseInstant(textOf(value));
        const nanos = type.kind === "time" ? 0 : (instant?.nanos ?? 0);
        if (instant === undefined || isZeroTime({ seconds: instant.seconds, nanos })) return;
        writeInteger(out, 2, nanos);
        writeInteger(out, 1, instant.seconds);
      };
    case "map":
      return () => assert(false, "protobuf has no list or map of maps");
    default:
      return assertNever(type);
  }
}

function writeInteger(out: WireWriter, number: number, value: unknown): void {
  out.varint(typeof value === "number" || typeof value === "bigint" ? value : 0);
  out.varint(number * 8 + VARINT);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function delimitedTag(number: number): number {
  return number * 8 + DELIMITED;
}
