import { describe, expect, it } from "vitest";
import { decodeBase64 } from "../../../../../src/core/encoding/base64";
import { LeaseSchema } from "../../../../../src/api/schema/kinds/coordination";
import { ServiceSchema } from "../../../../../src/api/schema/kinds/core-services";
import { decodeJson } from "../../../../../src/api/schema/json/decode-json";
import type { Int64 } from "../../../../../src/core/encoding/exact-json";
import { decodeProtobuf } from "../../../../../src/api/schema/protobuf/decode-protobuf";
import {
  encodeListHead,
  encodeListItems,
  encodeListTail,
  encodeProtobuf,
  encodeWatchFrame,
} from "../../../../../src/api/schema/protobuf/encode-protobuf";
import { PartialObjectMetadataSchema } from "../../../../../src/api/schema/meta";
import { ALL_KINDS } from "../all-kinds";
import { readMessage } from "../../../../support/values/wire-message";

const tables = import.meta.glob("../../../../fixtures/upstream/protobuf-*.tsv", { query: "?raw", import: "default" });
const table = String(await tables["../../../../fixtures/upstream/protobuf-1.36.tsv"]?.());

/** A line each: the message, an object in JSON, and its protobuf as Go wrote it. */
const golden = table
  .trimEnd()
  .split("\n")
  .map((line, at) => {
    const [message = "", json = "", base64 = ""] = line.split("\t");
    const title = `${message.slice(message.lastIndexOf(".") + 1)} ${String(at)}`;
    return { title, message, json, body: decodeBase64(base64) ?? new Uint8Array() };
  });

const SERVICE = { apiVersion: "v1", kind: "Service" };
const text = new TextDecoder();

/** The parts of an enveloped object. */
function envelopeOf(body: Uint8Array): { prefix: string; typeMeta: string[]; raw: Uint8Array | undefined } {
  const unknown = readMessage(body.subarray(4));
  const [typeMeta = new Uint8Array()] = unknown.bytes(1);
  const named = readMessage(typeMeta);
  return {
    prefix: text.decode(body.subarray(0, 4)),
    typeMeta: [1, 2].map((number) => text.decode(named.bytes(number)[0])),
    raw: unknown.bytes(2)[0],
  };
}

/** Bytes of a Service with this annotation, decoded again. */
function annotated(annotation: string): unknown {
  const value = { metadata: { annotations: { a: annotation } }, spec: {}, status: { loadBalancer: {} } };
  const result = decodeProtobuf(encodeProtobuf(value, ServiceSchema, SERVICE), ServiceSchema);
  return result.ok ? (result.value.value as typeof value).metadata.annotations.a : result.error;
}

describe("encodeProtobuf: objects as Go writes them", () => {
  it("golden objects: every kind has some", () => {
    const kinds = [...ALL_KINDS, PartialObjectMetadataSchema].map(({ name }) => name);
    expect([...new Set(golden.map(({ message }) => message))].sort()).toEqual(kinds.sort());
  });

  it.each(golden)("$title: the same bytes, and decoded the same value", ({ message, json, body }) => {
    const schema = [...ALL_KINDS, PartialObjectMetadataSchema].find(({ name }) => name === message);
    if (!schema) throw new Error("no schema");
    const fromJson = decodeJson(json, schema);
    if (!fromJson.ok) throw new Error(fromJson.error.cause);
    const { value, typeMeta } = fromJson.value;
    expect(decodeProtobuf(body, schema)).toEqual({ ok: true, value: { value, typeMeta, problems: [] } });
    expect(encodeProtobuf(value, schema, typeMeta)).toEqual(body);
  });
});

describe("encodeProtobuf: texts and numbers", () => {
  it.each([
    ["nothing", ""],
    ["one character", "a"],
    ["127 bytes", "x".repeat(127)],
    ["5,000 bytes", "x".repeat(5_000)],
    ["two bytes for one character", "é"],
    ["such a character behind a long text", `${"x".repeat(100)}é`],
    ["three bytes for one character", "日本語"],
    ["surrogate pairs", "😀".repeat(40)],
  ])("a text of %s: comes back", (_, value) => {
    expect(annotated(value)).toBe(value);
  });

  it("half of a surrogate pair: becomes the replacement character", () => {
    expect(annotated("a\ud800")).toBe("a\ufffd");
  });

  const generationOf = (sent: Int64) => {
    const result = decodeProtobuf(encodeProtobuf({ metadata: { generation: sent } }, ServiceSchema, SERVICE), ServiceSchema);
    return result.ok && (result.value.value as { metadata: { generation?: Int64 } }).metadata.generation;
  };

  it.each<Int64>([
    0,
    1,
    127,
    128,
    16_383,
    16_384,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32,
    2 ** 52 + 1,
    Number.MAX_SAFE_INTEGER,
    -1,
    -(2 ** 40),
    Number.MIN_SAFE_INTEGER,
    2n ** 53n,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
    -(2n ** 53n) - 1n,
    -(2n ** 63n),
  ])("%d: comes back", (generation) => {
    expect(generationOf(generation)).toBe(generation || undefined);
  });

  it("an integer beyond 64 bits, which no client can store: the nearest", () => {
    expect(generationOf(9223372036854776000n)).toBe(2n ** 63n - 1n);
    expect(generationOf(-9223372036854776000n)).toBe(-(2n ** 63n));
  });

  it("null: as if it were absent", () => {
    const [absent, nulls] = [{}, { metadata: { creationTimestamp: null, deletionTimestamp: null, labels: null, finalizers: null } }];
    expect(encodeProtobuf(nulls, ServiceSchema, SERVICE)).toEqual(encodeProtobuf(absent, ServiceSchema, SERVICE));
  });

  it("Go's zero time in a field that may be absent: an empty message", () => {
    const lease = (renewTime: string) => encodeProtobuf({ spec: { renewTime } }, LeaseSchema, SERVICE);
    expect(lease("0001-01-01T00:00:00.000001Z").length - lease("0001-01-01T00:00:00.000000Z").length).toBe(14);
  });

  it("a large object after and before small ones: the same bytes each time", () => {
    const encoded = (size: number) =>
      encodeProtobuf({ metadata: { annotations: { a: "x".repeat(size), b: "é".repeat(size) } } }, ServiceSchema, SERVICE);
    const small = encoded(3);
    expect(encoded(1_000_000).length).toBeGreaterThan(3_000_000);
    expect(encoded(3)).toEqual(small);
  });
});

describe("lists and frames", () => {
  const services = ["a", "b", "c"].map((name) => ({ metadata: { name } }));
  const itemsOf = (from: number, to: number) => encodeListItems(to - from, (i) => services[from + i] ?? {}, ServiceSchema);

  it("a list: one message, in whatever runs its items were encoded", () => {
    const [whole, first, rest] = [itemsOf(0, 3), itemsOf(0, 1), itemsOf(1, 3)];
    expect(whole).toEqual(Uint8Array.of(...first, ...rest));
    const head = encodeListHead({ resourceVersion: "7", remainingItemCount: 0 }, { apiVersion: "v1", kind: "ServiceList" }, whole.length);
    const { prefix, typeMeta, raw } = envelopeOf(Uint8Array.of(...head, ...whole, ...encodeListTail()));
    expect([prefix, ...typeMeta]).toEqual(["k8s\0", "v1", "ServiceList"]);
    const list = readMessage(raw ?? new Uint8Array());
    // selfLink "", resourceVersion "7", continue "", remainingItemCount 0
    expect(list.bytes(1)).toEqual([Uint8Array.of(0x0a, 0, 0x12, 1, 0x37, 0x1a, 0, 0x20, 0)]);
    const names = list.bytes(2).map((item) => text.decode(readMessage(readMessage(item).bytes(1)[0] ?? new Uint8Array()).bytes(1)[0]));
    expect(names).toEqual(["a", "b", "c"]);
  });

  it("an item that cannot be read: leaves nothing behind for the next list", () => {
    const before = itemsOf(0, 3);
    const broken = () =>
      encodeListItems(
        2,
        (i) => {
          if (i === 0) throw new Error("not JSON");
          return {};
        },
        ServiceSchema,
      );
    expect(broken).toThrow("not JSON");
    expect(itemsOf(0, 3)).toEqual(before);
  });

  it("a frame: the length in four bytes, the bare event, in it the object with its envelope", () => {
    const object = { metadata: { name: "a", annotations: { long: "x".repeat(70_000) } } };
    const frame = encodeWatchFrame("ADDED", object, ServiceSchema, SERVICE);
    expect(new DataView(frame.buffer).getUint32(0)).toBe(frame.length - 4);
    const event = readMessage(frame.subarray(4));
    expect(text.decode(event.bytes(1)[0])).toBe("ADDED");
    const [raw] = readMessage(event.bytes(2)[0] ?? new Uint8Array()).bytes(1);
    expect(raw).toEqual(encodeProtobuf(object, ServiceSchema, SERVICE));
  });
});
