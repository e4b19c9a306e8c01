import { describe, expect, it } from "vitest";
import { SubjectAccessReviewSchema } from "../../../../../src/api/schema/kinds/authorization";
import { LeaseSchema } from "../../../../../src/api/schema/kinds/coordination";
import { NamespaceSchema } from "../../../../../src/api/schema/kinds/core-namespaces";
import { NodeSchema } from "../../../../../src/api/schema/kinds/core-nodes";
import { PodSchema } from "../../../../../src/api/schema/kinds/core-pods";
import { SecretSchema } from "../../../../../src/api/schema/kinds/core-secrets";
import { ServiceSchema } from "../../../../../src/api/schema/kinds/core-services";
import { decodeJson } from "../../../../../src/api/schema/json/decode-json";
import { decodeProtobuf } from "../../../../../src/api/schema/protobuf/decode-protobuf";
import { int32, listOf, message, plain } from "../../../../../src/api/schema/dsl";
import { encodeProtobuf } from "../../../../../src/api/schema/protobuf/encode-protobuf";
import { DeleteOptionsSchema, ObjectMeta } from "../../../../../src/api/schema/meta";
import type { MessageSchema } from "../../../../../src/api/schema/types";
import { ALL_KINDS } from "../all-kinds";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { RandomValues } from "../random-values";

/** Bodies that kubectl 1.32 sent. */
const NAMESPACE_FOO = "6b3873000a0f0a02763112094e616d657370616365121b0a130a03666f6f12001a0022002a0032003800420012001a020a001a002200";
const SERVICE_CIP =
  "6b3873000a0d0a02763112075365727669636512690a1f0a0363697012001a0022002a003200380042005a0a0a03617070120363697012420a1b0a07" +
  "38302d38303830120354435018502207080010903f1a002800120a0a0361707012036369701a002209436c757374657249503a00420052005a00600068001a020a001a002200";

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function decoded(body: Uint8Array, schema: MessageSchema): unknown {
  const result = decodeProtobuf(body, schema);
  if (!result.ok) throw new Error(result.error.cause);
  return result.value.value;
}

/** Hex of a varint; negative numbers in ten bytes. */
function varint(value: number): string {
  let rest = BigInt.asUintN(64, BigInt(value));
  let hex = "";
  for (; rest > 127n; rest >>= 7n) hex += ((rest & 127n) | 128n).toString(16);
  return hex + rest.toString(16).padStart(2, "0");
}

/** Hex of a varint field. */
function number(field: number, value: number): string {
  return varint(field * 8) + varint(value);
}

/** Hex of a length-delimited field made of hex parts. */
function nest(field: number, ...parts: string[]): string {
  const content = parts.join("");
  return varint(field * 8 + 2) + varint(content.length / 2) + content;
}

function text(field: number, value: string): string {
  return nest(field, toHex(new TextEncoder().encode(value)));
}

/** A frame without typeMeta around the hex of an object. */
function frame(objectHex: string): Uint8Array {
  return fromHex(`6b387300${nest(2, objectHex)}`);
}

describe("decodeProtobuf: golden bodies", () => {
  it("kubectl create namespace foo: decodes to the Namespace", () => {
    expect(decodeProtobuf(fromHex(NAMESPACE_FOO), NamespaceSchema)).toEqual({
      ok: true,
      value: {
        typeMeta: { apiVersion: "v1", kind: "Namespace" },
        value: { metadata: { name: "foo" }, spec: {}, status: {} },
        problems: [],
      },
    });
  });

  it("kubectl create service clusterip cip: decodes to the Service", () => {
    expect(decoded(fromHex(SERVICE_CIP), ServiceSchema)).toEqual({
      metadata: { name: "cip", labels: { app: "cip" } },
      spec: {
        ports: [{ name: "80-8080", protocol: "TCP", port: 80, targetPort: 8080 }],
        selector: { app: "cip" },
        type: "ClusterIP",
      },
      status: { loadBalancer: {} },
    });
  });

  it.each([
    ["Namespace", NAMESPACE_FOO, NamespaceSchema],
    ["Service", SERVICE_CIP, ServiceSchema],
  ])("%s: encoded to the same bytes", (kind, hex, schema) => {
    const value = decoded(fromHex(hex), schema) as Record<string, unknown>;
    expect(toHex(encodeProtobuf(value, schema, { apiVersion: "v1", kind }))).toBe(hex);
  });
});

describe("decodeProtobuf: rules", () => {
  it.each<{ name: string; hex: string; schema: MessageSchema; want: object }>([
    { name: "an empty frame is an empty object", hex: "", schema: ServiceSchema, want: {} },
    {
      name: "pointers keep zeros",
      hex: number(1, 0) + number(3, 0) + text(4, ""),
      schema: DeleteOptionsSchema,
      want: { gracePeriodSeconds: 0, orphanDependents: false, propagationPolicy: "" },
    },
    {
      name: "a negative varint has ten bytes",
      hex: "08ffffffffffffffffff01",
      schema: DeleteOptionsSchema,
      want: { gracePeriodSeconds: -1 },
    },
    {
      name: "bytes are base64, empty ones too",
      hex: nest(2, text(1, "a"), "1203000102") + nest(2, text(1, "b"), "1200"),
      schema: SecretSchema,
      want: { data: { a: "AAEC", b: "" } },
    },
    { name: "a zero-length time is null", hex: nest(1, nest(8), nest(9)), schema: ServiceSchema, want: { metadata: {} } },
    {
      name: "a time drops its nanoseconds",
      hex: nest(1, nest(8, number(1, 1714608000), number(2, 999999999))),
      schema: ServiceSchema,
      want: { metadata: { creationTimestamp: "2024-05-02T00:00:00Z" } },
    },
    {
      name: "a micro time in year 1, cut to microseconds",
      hex: nest(2, nest(3, number(1, -62135596798), number(2, 1999))),
      schema: LeaseSchema,
      want: { spec: { acquireTime: "0001-01-01T00:00:02.000001Z" } },
    },
    {
      name: "int-or-string text",
      hex: nest(2, nest(1, number(3, 80), nest(4, number(1, 1), number(2, 0), text(3, "https")))),
      schema: ServiceSchema,
      want: { spec: { ports: [{ port: 80, targetPort: "https" }] } },
    },
    {
      name: "unknown fields of every wire type are skipped",
      hex: "7805" + "7a0161" + "790102030405060708" + "7d01020304" + "7b08017c",
      schema: ServiceSchema,
      want: {},
    },
    {
      name: "a repeated message merges, a repeated scalar is replaced",
      hex: nest(1, text(1, "a")) + nest(1, text(1, "b"), text(2, "c")),
      schema: ServiceSchema,
      want: { metadata: { name: "b", generateName: "c" } },
    },
    {
      name: "an always field keeps its zero",
      hex: nest(2, nest(1, number(3, 0))),
      schema: ServiceSchema,
      want: { spec: { ports: [{ port: 0 }] } },
    },
    {
      name: "lists as map values are wrapped",
      hex: nest(2, nest(5, text(1, "k"), nest(2, text(1, "a"), text(1, "b")))),
      schema: SubjectAccessReviewSchema,
      want: { spec: { extra: { k: ["a", "b"] } } },
    },
    {
      name: "inline messages stand in the enclosing object",
      hex: nest(2, nest(1, text(1, "v"), nest(2, nest(1, text(1, "/data"))))),
      schema: PodSchema,
      want: { spec: { volumes: [{ name: "v", hostPath: { path: "/data" } }] } },
    },
    {
      name: "a map entry without a value",
      hex: nest(1, nest(11, text(1, "a"))),
      schema: ServiceSchema,
      want: { metadata: { labels: { a: "" } } },
    },
  ])("$name", ({ hex, schema, want }) => {
    expect(decoded(frame(hex), schema)).toEqual(want);
  });

  it("repeated scalars: decoded packed and unpacked", () => {
    const numbers = message("t.Numbers", { list: plain(1, listOf(int32)) });
    expect(decoded(frame("0a0301020308040a0105"), numbers)).toEqual({ list: [1, 2, 3, 4, 5] });
  });

  it("a map key __proto__: an ordinary key", () => {
    const value = { metadata: { labels: JSON.parse('{"__proto__":"x"}') as object }, spec: {}, status: { loadBalancer: {} } };
    const body = encodeProtobuf(value, ServiceSchema, { apiVersion: "v1", kind: "Service" });
    const labels = (decoded(body, ServiceSchema) as typeof value).metadata.labels;
    expect(Object.entries(labels)).toEqual([["__proto__", "x"]]);
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
  });

  it("fieldsV1: decoded as JSON", () => {
    const meta = { managedFields: [{ manager: "m", fieldsV1: { "f:spec": {} } }] };
    const body = encodeProtobuf(meta, ObjectMeta, { apiVersion: "v1", kind: "X" });
    expect(decoded(body, ObjectMeta)).toEqual(meta);
  });
});

describe("decodeProtobuf: bad input", () => {
  it.each<[string, Uint8Array, string]>([
    ["no prefix", fromHex("7b7d"), "expected prefix"],
    ["empty", new Uint8Array(), "expected prefix"],
    ["length beyond the end", fromHex("6b38730012ff01"), "unexpected EOF"],
    ["huge length", fromHex("6b38730012ffffffffffffffff7f"), "unexpected EOF"],
    ["endless varint", fromHex("6b387300" + "80".repeat(20)), "integer overflow"],
    ["field number zero", frame("0001"), "illegal tag"],
    ["wire type 7", frame("7f"), "illegal wireType 7"],
    ["end of a group never begun", frame("7c"), "illegal wireType 4"],
    ["groups without end", fromHex("6b387300" + "7b".repeat(100_000)), "exceeded max depth"],
    ["wrong wire type of a known field", frame("0801"), "wrong wireType = 0 for field metadata"],
    ["bad UTF-8", frame("0a030a01ff"), "not valid UTF-8"],
    ["message longer than its parent", frame("0a050a0a61"), "unexpected EOF"],
    ["time out of range", frame(nest(1, nest(8, number(1, 253402300800)))), "out of range"],
    ["content encoding", fromHex("6b3873001a04677a6970"), "content encodings"],
    ["content type", fromHex("6b387300220161"), "content type"],
  ])("%s: an error, no throw", (_, body, want) => {
    const result = decodeProtobuf(body, ServiceSchema);
    expect(result.ok ? "decoded" : result.error.cause).toContain(want);
  });

  it("a body cut at any byte: decodes or fails, never throws", () => {
    const body = fromHex(SERVICE_CIP);
    for (let length = 0; length < body.length; length++) decodeProtobuf(body.subarray(0, length), ServiceSchema);
    // the object is the second of four fields: a cut inside it makes its length wrong
    expect(decodeProtobuf(body.subarray(0, 60), ServiceSchema).ok).toBe(false);
  });

  it("a body with flipped bits: decodes or fails, never throws", () => {
    const seed = 20240501;
    const random = seededRandom(seed);
    const values = new RandomValues(random);
    for (let round = 0; round < 2000; round++) {
      const schema = ALL_KINDS[round % ALL_KINDS.length];
      if (schema === undefined) continue;
      const body = encodeProtobuf(values.message(schema), schema, { apiVersion: "v1", kind: "X" });
      for (let flips = 1 + random.below(4); flips > 0; flips--) {
        const at = 4 + random.below(body.length - 4);
        body[at] = (body[at] ?? 0) ^ (1 << random.below(8));
      }
      expect(() => decodeProtobuf(body, schema), `seed ${seed} round ${round}`).not.toThrow();
    }
  });
});

it("decodeProtobuf, quantities: canonical as in JSON", () => {
  const sent = { status: { capacity: { cpu: "1.5", memory: "1024Mi", pods: "+1" } } };
  const result = decodeProtobuf(encodeProtobuf(sent, NodeSchema, { apiVersion: "v1", kind: "Node" }), NodeSchema);
  expect(result).toMatchObject({ ok: true, value: { value: { status: { capacity: { cpu: "1500m", memory: "1Gi", pods: "+1" } } } } });
});

describe("decodeProtobuf: round trip", () => {
  it.each(ALL_KINDS.map((schema) => [schema.name, schema] as const))("%s: encoded and decoded, the value is the same", (_, schema) => {
    const seed = 7;
    const values = new RandomValues(seededRandom(seed));
    for (let round = 0; round < 40; round++) {
      const value = values.message(schema);
      const typeMeta = { apiVersion: "v1", kind: "X" };
      const text = JSON.stringify(value);
      const result = decodeProtobuf(encodeProtobuf(value, schema, typeMeta), schema);
      expect(result, `seed ${seed} round ${round}`).toEqual({ ok: true, value: { typeMeta, value, problems: [] } });
      // the same object in JSON is the same value
      expect(decodeJson(text, schema), `seed ${seed} round ${round}`).toEqual({
        ok: true,
        value: { typeMeta: { apiVersion: "", kind: "" }, value, problems: [] },
      });
    }
  });
});
