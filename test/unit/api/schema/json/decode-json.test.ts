import { describe, expect, it } from "vitest";
import { ServiceSchema } from "../../../../../src/api/schema/kinds/core-services";
import { EndpointSliceSchema } from "../../../../../src/api/schema/kinds/discovery";
import { LeaseSchema } from "../../../../../src/api/schema/kinds/coordination";
import { SecretSchema } from "../../../../../src/api/schema/kinds/core-secrets";
import { NodeSchema } from "../../../../../src/api/schema/kinds/core-nodes";
import { PodSchema } from "../../../../../src/api/schema/kinds/core-pods";
import { decodeJson, decodeUtf8, validateValue } from "../../../../../src/api/schema/json/decode-json";
import { DEPTH_MAX } from "../../../../../src/api/schema/decode-limits";
import type { JsonObject, JsonValue } from "../../../../../src/api/schema/json/json-value";
import type { MessageSchema } from "../../../../../src/api/schema/types";

function decode(document: unknown, schema: MessageSchema = ServiceSchema) {
  return decodeJson(typeof document === "string" ? document : JSON.stringify(document), schema);
}

function valueOf(document: unknown, schema: MessageSchema = ServiceSchema): unknown {
  const result = decode(document, schema);
  if (!result.ok) throw new Error(result.error.cause);
  return result.value.value;
}

function causeOf(document: unknown, schema: MessageSchema = ServiceSchema): string {
  const result = decode(document, schema);
  return result.ok ? "" : result.error.cause;
}

function problemsOf(document: unknown, schema: MessageSchema = ServiceSchema): string[] {
  const result = decode(document, schema);
  if (!result.ok) throw new Error(result.error.cause);
  return result.value.problems;
}

describe("decodeJson: values", () => {
  it("kind and apiVersion: split off the value", () => {
    const result = decode({ kind: "Service", apiVersion: "v1", metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
    expect(result).toEqual({
      ok: true,
      value: {
        typeMeta: { kind: "Service", apiVersion: "v1" },
        value: { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } },
        problems: [],
      },
    });
  });

  it("a document without kind and apiVersion: an empty type", () => {
    const result = decode({ metadata: { name: "a" } });
    expect(result.ok && result.value.typeMeta).toEqual({ kind: "", apiVersion: "" });
    const nulls = decode({ kind: null, apiVersion: null, metadata: { name: "a" } });
    expect(nulls.ok && nulls.value.typeMeta).toEqual({ kind: "", apiVersion: "" });
    expect(valueOf("null")).toEqual({});
  });

  it.each<{ name: string; given: object; want: object }>([
    { name: "null is absence", given: { metadata: { creationTimestamp: null, labels: null } }, want: { metadata: {} } },
    {
      name: "zero of a plain field is absence",
      given: { spec: { clusterIP: "", publishNotReadyAddresses: false, healthCheckNodePort: 0 } },
      want: { spec: {} },
    },
    { name: "empty plain lists and maps are absence", given: { spec: { ports: [], selector: {} } }, want: { spec: {} } },
    {
      name: "zero of a pointer field stays",
      given: { spec: { allocateLoadBalancerNodePorts: false, loadBalancerClass: "" } },
      want: { spec: { allocateLoadBalancerNodePorts: false, loadBalancerClass: "" } },
    },
    { name: "empty messages stay", given: { status: { loadBalancer: {} } }, want: { status: { loadBalancer: {} } } },
    {
      name: "an always field keeps its zero",
      given: { spec: { ports: [{ port: 0, nodePort: 0 }] } },
      want: { spec: { ports: [{ port: 0 }] } },
    },
    {
      name: "null elements are zero values",
      given: { spec: { ports: [null], externalIPs: [null] } },
      want: { spec: { ports: [{ port: 0 }], externalIPs: [""] } },
    },
    {
      name: "a scalar that Go always prints is there when nobody set it",
      given: { spec: { ports: [{ name: "http" }] } },
      want: { spec: { ports: [{ name: "http", port: 0 }] } },
    },
    { name: "null map values are zero values", given: { metadata: { labels: { a: null } } }, want: { metadata: { labels: { a: "" } } } },
    {
      name: "int-or-string keeps its form",
      given: {
        spec: {
          ports: [
            { port: 1, targetPort: "http" },
            { port: 2, targetPort: 8080 },
          ],
        },
      },
      want: {
        spec: {
          ports: [
            { port: 1, targetPort: "http" },
            { port: 2, targetPort: 8080 },
          ],
        },
      },
    },
  ])("$name", ({ given, want }) => {
    expect(valueOf(given)).toEqual(want);
  });

  it("a list without omitempty: kept when empty, dropped when null", () => {
    expect(valueOf({ endpoints: [], ports: null, addressType: "IPv4" }, EndpointSliceSchema)).toEqual({
      endpoints: [],
      addressType: "IPv4",
    });
  });

  it.each([
    ["2024-05-06T07:08:09Z", "2024-05-06T07:08:09Z"],
    ["2024-05-06T07:08:09.999Z", "2024-05-06T07:08:09Z"],
    ["2024-05-06T07:08:09.000+02:00", "2024-05-06T05:08:09Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["2024-02-29T23:59:59-23:59", "2024-03-01T23:58:59Z"],
  ])("time %s: %s", (given, want) => {
    expect(valueOf({ metadata: { deletionTimestamp: given } })).toEqual({ metadata: { deletionTimestamp: want } });
  });

  it.each([
    ["2024-05-06T07:08:09.123456Z", "2024-05-06T07:08:09.123456Z"],
    ["2024-05-06T07:08:09.000000+02:00", "2024-05-06T05:08:09.000000Z"],
    ["2024-02-29T23:59:59.999999-23:59", "2024-03-01T23:58:59.999999Z"],
    ["0001-01-01T00:00:00.000001Z", "0001-01-01T00:00:00.000001Z"],
    ["0001-01-01T01:00:00.000000+01:00", null],
  ])("MicroTime %s: %s", (given, want) => {
    expect(valueOf({ spec: { renewTime: given } }, LeaseSchema)).toEqual({ spec: { renewTime: want } });
  });

  it.each([
    ["2024-05-06T07:08:09Z", 'cannot parse "Z" as ".000000"'],
    ["2024-05-06T07:08:09.123Z", 'cannot parse ".123Z" as ".000000"'],
    ["2024-05-06T07:08:09.12345+01:00", 'cannot parse ".12345+01:00" as ".000000"'],
    ["2024-05-06T07:08:09.1234567Z", 'cannot parse "7Z" as "Z07:00"'],
    ["2024-05-06T07:08:09.123456", 'cannot parse "" as "Z07:00"'],
    ["2024-05-06T07:08:09.123456+0200", 'cannot parse "+0200" as "Z07:00"'],
    ["2024-05-06t07:08:09.123456z", 'cannot parse "t07:08:09.123456z" as "T"'],
    ["2024-5-06T07:08:09.123456Z", 'cannot parse "5-06T07:08:09.123456Z" as "01"'],
    ["yesterday", 'cannot parse "yesterday" as "2006"'],
    ["", 'cannot parse "" as "2006"'],
  ])("MicroTime %j: refused in Go's words, %s", (given, why) => {
    const layout = "2006-01-02T15:04:05.000000Z07:00";
    expect(causeOf({ spec: { renewTime: given } }, LeaseSchema)).toContain(`parsing time "${given}" as "${layout}": ${why}`);
  });

  it.each([
    ["2024-13-06T07:08:09.123456Z", "month out of range"],
    ["2024-02-30T07:08:09.123456Z", "day out of range"],
    ["2023-02-29T07:08:09.123456Z", "day out of range"],
    ["2024-05-06T24:08:09.123456Z", "hour out of range"],
    ["2024-05-06T07:60:09.123456Z", "minute out of range"],
    ["2024-05-06T07:08:60.123456Z", "second out of range"],
    ["2024-05-06T07:08:09.123456+25:00", "time zone offset hour out of range"],
    ["2024-05-06T07:08:09.123456Zulu", 'extra text: "ulu"'],
  ])("MicroTime %s: refused in Go's words, %s", (given, why) => {
    expect(causeOf({ spec: { renewTime: given } }, LeaseSchema)).toContain(`parsing time "${given}": ${why}`);
  });

  it("a comma before the fraction: read as a point", () => {
    const given = { spec: { renewTime: "2024-05-06T07:08:09,123456Z" } };
    expect(valueOf(given, LeaseSchema)).toEqual({ spec: { renewTime: "2024-05-06T07:08:09.123456Z" } });
  });

  it("quantities: canonical, and no less than a thousandth in a list of resources", () => {
    const resources = { limits: { cpu: " 1.5", memory: "1024Mi", "example.com/x": "1u" } };
    const volumes = [{ name: "v", emptyDir: { sizeLimit: "0.000001" } }];
    expect(valueOf({ spec: { containers: [{ resources }], volumes } }, PodSchema)).toMatchObject({
      spec: {
        containers: [{ resources: { limits: { cpu: "1500m", memory: "1Gi", "example.com/x": "1m" } } }],
        volumes: [{ name: "v", emptyDir: { sizeLimit: "1u" } }],
      },
    });
  });

  it("a quantity that is a number: becomes text", () => {
    expect(valueOf({ status: { capacity: { cpu: 2, memory: "1Gi" } } }, NodeSchema)).toEqual({
      status: { capacity: { cpu: "2", memory: "1Gi" } },
    });
    expect(causeOf({ status: { capacity: { cpu: "lots" } } }, NodeSchema)).toContain("quantities must match the regular expression");
  });
});

describe("decodeJson: bytes", () => {
  it.each<{ name: string; data: object; want: object }>([
    { name: "stand in base64", data: { a: "AAEC", b: "" }, want: { data: { a: "AAEC", b: "" } } },
    { name: "in another form are normalised", data: { a: "AA\nE=" }, want: { data: { a: "AAE=" } } },
    { name: "of null are none", data: { a: null }, want: { data: { a: "" } } },
    { name: "of no key are absence", data: {}, want: {} },
  ])("$name", ({ data, want }) => {
    expect(valueOf({ data }, SecretSchema)).toEqual(want);
  });
});

describe("decodeJson: errors", () => {
  it.each<[string, unknown, string]>([
    ["no base64", "c2VjcmV0!", "illegal base64 data at input byte 8"],
    ["a number", 7, "json: cannot unmarshal number into Go struct field Secret.data of type []uint8"],
    ["an object", {}, "json: cannot unmarshal object into Go struct field Secret.data of type []uint8"],
  ])("bytes, %s: an error without the value", (_, value, want) => {
    expect(causeOf({ data: { a: value } }, SecretSchema)).toBe(want);
  });

  it.each<[string, object, string]>([
    [
      "message",
      { spec: { ports: "x" } },
      "json: cannot unmarshal string into Go struct field ServiceSpec.spec.ports of type []v1.ServicePort",
    ],
    [
      "scalar in a list",
      { spec: { ports: [{ port: "80" }] } },
      "json: cannot unmarshal string into Go struct field ServicePort.spec.ports.port of type int32",
    ],
    [
      "number for string",
      { spec: { clusterIP: 7 } },
      "json: cannot unmarshal number into Go struct field ServiceSpec.spec.clusterIP of type string",
    ],
    [
      "number for a time",
      { metadata: { creationTimestamp: 5 } },
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
    ],
    ["list for object", { metadata: [] }, "json: cannot unmarshal array into Go struct field Service.metadata of type v1.ObjectMeta"],
    [
      "too large",
      { spec: { ports: [{ port: 4294967296 }] } },
      "json: cannot unmarshal number 4294967296 into Go struct field ServicePort.spec.ports.port of type int32",
    ],
    [
      "fraction",
      { spec: { healthCheckNodePort: 1.5 } },
      "json: cannot unmarshal number 1.5 into Go struct field ServiceSpec.spec.healthCheckNodePort of type int32",
    ],
    [
      "map value",
      { metadata: { labels: { a: true } } },
      "json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string",
    ],
    [
      "map",
      { spec: { selector: "a=b" } },
      "json: cannot unmarshal string into Go struct field ServiceSpec.spec.selector of type map[string]string",
    ],
    ["int-or-string", { spec: { ports: [{ port: 1, targetPort: true }] } }, "json: cannot unmarshal bool into Go value of type int32"],
    [
      "time",
      { metadata: { creationTimestamp: "yesterday" } },
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
    [
      "kind",
      { kind: 1 },
      "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
    ],
    [
      "apiVersion and kind, of which the first one counts",
      { kind: [], apiVersion: 1 },
      "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go struct field .kind of type string",
    ],
  ])("%s: the text of Go's decoder", (_, given, want) => {
    expect(causeOf(given)).toBe(want);
  });

  it("a type error: reports the kind", () => {
    const result = decode({ kind: "Service", apiVersion: "v1", spec: 1 });
    expect(result).toMatchObject({ ok: false, error: { reason: "type", typeMeta: { kind: "Service", apiVersion: "v1" } } });
  });

  it.each([
    "2024-13-01T00:00:00Z",
    "2023-02-29T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01 00:00:00Z",
    "2024-01-01T00:00:60Z",
    "2024-01-01T00:00:00",
    "2024-01-01T00:00:00.Z",
    "2024-01-01T00:00:00Zx",
    "0000-01-01T00:00:00+01:00",
    "+02024-01-01T00:00:00Z",
    "",
  ])("time %s: refused", (text) => {
    expect(causeOf({ metadata: { deletionTimestamp: text } })).toContain("parsing time");
  });

  it.each([
    ["", "unexpected end of JSON input"],
    ['{"a":', "unexpected end of JSON input"],
    ['{"a":1', "unexpected end of JSON input"],
    ['{"a":"\\u12', "unexpected end of JSON input"],
    ["x", "invalid character 'x' looking for beginning of value"],
    ["{a:1}", "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['{"a":[1 2]}', "invalid character '2' after array element"],
    ["{} {}", "invalid character '{' after top-level value"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ['{"a":-}', "invalid character '}' in numeric literal"],
    ['{"a":"\n"}', "invalid character '\\n' in string literal"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ["[1]", "json: cannot unmarshal array into Go value of type struct"],
    ["7", "json: cannot unmarshal number into Go value of type struct"],
    ['"s"', "json: cannot unmarshal string into Go value of type struct"],
  ])("syntax error in %j: the text of Go's parser", (text, want) => {
    const result = decode(text);
    expect(result.ok).toBe(false);
    expect(causeOf(text)).toContain(`couldn't get version/kind; json parse error: ${want}`);
  });

  it("a body that is not UTF-8: refused", () => {
    expect(decodeUtf8(new Uint8Array([0x7b, 0xff, 0x7d])).ok).toBe(false);
    expect(decodeUtf8(new TextEncoder().encode("{}"))).toEqual({ ok: true, value: "{}" });
  });
});

describe("decodeJson: unknown and duplicate fields", () => {
  it("unknown fields: removed and named", () => {
    const given = {
      spec: {
        foo: { a: 1 },
        ports: [
          { port: 80, bar: 1 },
          { port: 81, bar: 2 },
        ],
      },
      extra: [1],
    };
    expect(problemsOf(given)).toEqual([
      'unknown field "spec.foo"',
      'unknown field "spec.ports[0].bar"',
      'unknown field "spec.ports[1].bar"',
      'unknown field "extra"',
    ]);
    expect(valueOf(given)).toEqual({ spec: { ports: [{ port: 80 }, { port: 81 }] } });
  });

  it("a field name in another case: unknown", () => {
    expect(problemsOf({ Spec: {}, spec: { clusterIp: "x" } })).toEqual(['unknown field "Spec"', 'unknown field "spec.clusterIp"']);
  });

  it("duplicate fields: named in document order, the last one stays", () => {
    const text = '{"spec":{"foo":1,"type":"NodePort","type":"ClusterIP","ports":[{"port":1,"port":2}]},"kind":"Service","kind":"Service"}';
    expect(problemsOf(text)).toEqual([
      'unknown field "spec.foo"',
      'duplicate field "spec.type"',
      'duplicate field "spec.ports[0].port"',
      'duplicate field "kind"',
    ]);
    expect(valueOf(text)).toEqual({ spec: { type: "ClusterIP", ports: [{ port: 2 }] } });
  });

  it("duplicates behind escapes, in maps and beside colons in strings: found", () => {
    expect(problemsOf('{"metadata":{"labels":{"a":"x:y","\\u0061":"{\\":\\"}"}}}')).toEqual(['duplicate field "metadata.labels.a"']);
    expect(problemsOf('{"metadata":{"annotations":{"a:b":"\\\\","c":"\\":\\""}}}')).toEqual([]);
  });

  it("fields below an unknown field: not reported", () => {
    expect(problemsOf('{"foo":{"a":1,"a":2}}')).toEqual(['unknown field "foo"']);
  });

  it("many problems: at most a hundred are reported", () => {
    const spec = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`x${i}`, 1]));
    expect(problemsOf({ spec })).toHaveLength(100);
  });
});

describe("decodeJson: hostile input", () => {
  it("members named after Object.prototype: plain members", () => {
    const text =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"metadata":{"__proto__":{"polluted":1},"labels":{"__proto__":"p","constructor":"c"}}}';
    const value = valueOf(text) as { metadata: { labels: object } };
    expect(Object.keys(value)).toEqual(["metadata"]);
    expect(Object.keys(value.metadata)).toEqual(["labels"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.entries(value.metadata.labels)).toEqual([
      ["__proto__", "p"],
      ["constructor", "c"],
    ]);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(problemsOf(text)).toEqual(['unknown field "__proto__"', 'unknown field "constructor"', 'unknown field "metadata.__proto__"']);
    expect(valueOf('{"metadata":{"labels":{"__proto__":null}}}')).toEqual({
      metadata: { labels: JSON.parse('{"__proto__":""}') as object },
    });
  });

  it.each([900, 1_100, 9_999, 10_001, 200_000])("nesting of %i: decoded or refused, no crash", (depth) => {
    const inside = "[".repeat(depth) + "]".repeat(depth);
    const result = decode(`{"foo":${inside}}`);
    expect(result.ok).toBe(depth < 1000);
    if (!result.ok) expect(result.error).toMatchObject({ reason: "limit", cause: "exceeded max depth" });
    expect(decode("[".repeat(depth)).ok).toBe(false);
    expect(decode('{"a":'.repeat(depth)).ok).toBe(false);
  });
});

describe("validateValue", () => {
  it.each<[string, (deep: JsonValue) => JsonObject]>([
    ["an unknown field", (deep) => ({ spec: { unknown: deep } })],
    ["lists of managed fields", (deep) => ({ metadata: { managedFields: [{ fieldsV1: { "f:a": [deep] } }] } })],
  ])("a parsed value that nests too deeply in %s: refused for its depth", (_, place) => {
    let deep: JsonValue = 1;
    for (let i = 0; i < DEPTH_MAX; i++) deep = [deep];
    expect(validateValue(place([[1]]), ServiceSchema)).toMatchObject({ ok: true });
    expect(validateValue(place(deep), ServiceSchema)).toMatchObject({ ok: false, error: { reason: "limit", cause: "exceeded max depth" } });
  });

  it("unknown members of a whole document: told in its order, among those of its fields; the value itself keeps them", () => {
    const document = { a: 1, spec: { b: 2 }, __proto_: 3, kind: "Service", status: { c: 4 }, d: 5 };
    const validated = validateValue(document, ServiceSchema);
    expect(validated.ok && validated.value.problems).toEqual(
      ["a", "spec.b", "__proto_", "status.c", "d"].map((path) => `unknown field "${path}"`),
    );
    expect(validated.ok && validated.value.value).toEqual({ spec: {}, status: {} });
    expect(document).toMatchObject({ a: 1, d: 5 });
  });

  it("a parsed value: checked like a document", () => {
    expect(validateValue({ kind: "Service", apiVersion: "v1", spec: { foo: 1, clusterIP: "" } }, ServiceSchema)).toEqual({
      ok: true,
      value: { typeMeta: { kind: "Service", apiVersion: "v1" }, value: { spec: {} }, problems: ['unknown field "spec.foo"'] },
    });
    expect(validateValue([], ServiceSchema).ok).toBe(false);
    expect(validateValue({ spec: 3 }, ServiceSchema).ok).toBe(false);
  });
});

const withGeneration = (number: string) => `{"metadata":{"labels":{"n":"9007199254740994"},"generation":${number}}}`;

it.each(["9007199254740993", "-9007199254740995", "9223372036854775807", "-9223372036854775808"])(
  "the integer %s, which JavaScript would round: kept",
  (number) => {
    const decoded = decodeJson(withGeneration(number), ServiceSchema);
    expect(decoded.ok && JSON.stringify(decoded.value.value)).toBe(withGeneration(number));
  },
);

it.each(["9223372036854775808", "-9223372036854775809", "18446744073709551616", "9007199254740993.5", "1.5"])(
  "the number %s, which is no integer of 64 bits: refused",
  (number) => {
    const decoded = decodeJson(withGeneration(number), ServiceSchema);
    const shown = number.includes(".") ? String(Number(number)) : number;
    expect(!decoded.ok && decoded.error.cause).toBe(
      `json: cannot unmarshal number ${shown} into Go struct field ObjectMeta.metadata.generation of type int64`,
    );
  },
);

it.each([
  [
    '{"spec":{"ports":[{"port":9007199254740993}]}}',
    "number 9007199254740993 into Go struct field ServicePort.spec.ports.port of type int32",
  ],
  ['{"spec":{"ports":[{"targetPort":9007199254740993}]}}', "number 9007199254740993 into Go value of type int32"],
  ['{"spec":{"clusterIP":9007199254740993}}', "number into Go struct field ServiceSpec.spec.clusterIP of type string"],
  ["9007199254740993", "number into Go value of type struct"],
])("%s, a large integer where none fits: refused with its digits", (text, cause) => {
  const decoded = decodeJson(text, ServiceSchema);
  expect(!decoded.ok && decoded.error.cause).toContain(cause);
});
