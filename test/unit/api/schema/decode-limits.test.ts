/** What a body may say at most, judged while it is decoded. */
import { describe, expect, it } from "vitest";
import { parseApply } from "../../../../src/api/fields/parse-apply";
import type { KubeObject, Pod } from "../../../../src/api/meta/kubernetes";
import { podsDefinition } from "../../../../src/api/registry/pods/definition";
import { secretsDefinition } from "../../../../src/api/registry/secrets/definition";
import { PodSchema } from "../../../../src/api/schema/kinds/core-pods";
import { SecretSchema } from "../../../../src/api/schema/kinds/core-secrets";
import { ServiceSchema } from "../../../../src/api/schema/kinds/core-services";
import { decodeJson } from "../../../../src/api/schema/json/decode-json";
import { OBJECT_MAX_BYTES, VALUES_MAX } from "../../../../src/api/schema/decode-limits";
import { decodeProtobuf } from "../../../../src/api/schema/protobuf/decode-protobuf";
import { encodeProtobuf } from "../../../../src/api/schema/protobuf/encode-protobuf";
import { repeatedFields } from "../../../../src/api/schema/json/json-text";
import type { MessageSchema } from "../../../../src/api/schema/types";
import { parseYamlText } from "../../../../src/api/schema/json/yaml-text";
import { hostileBodies } from "../../../support/values/hostile-bodies";
import { decodeBody, type Expected } from "../../../../src/worker/http/read/decode-body";

function refusalOf(value: unknown, schema: MessageSchema): string | undefined {
  const decoded = decodeJson(JSON.stringify(value), schema);
  return decoded.ok ? undefined : `${decoded.error.reason}: ${decoded.error.cause}`;
}

const list = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

const TOO_LARGE = "size: Request entity too large: limit is 1572864";
const TOO_MANY = "size: Request entity too large: limit is 300000 values";

describe("size of an object", () => {
  it("containers that say nothing: count with the defaults that they are stored with", () => {
    expect(refusalOf({ spec: { containers: list(8_000, {}) } }, PodSchema)).toBeUndefined();
    expect(refusalOf({ spec: { containers: list(12_000, {}) } }, PodSchema)).toBe(TOO_LARGE);
    expect(refusalOf({ spec: { containers: list(12_000, null) } }, PodSchema)).toBe(TOO_LARGE);
  });

  it("a Pod whose stored form is as large as an object may be: is decoded", () => {
    const pod = (containers: number): Pod => ({
      metadata: { name: "a" },
      spec: { containers: list(containers, { name: "c", image: "i:1" }).map((container) => ({ ...container })) },
    });
    const one = storedSize(pod(2)) - storedSize(pod(1));
    const most = Math.floor((OBJECT_MAX_BYTES - storedSize(pod(1))) / one);
    expect(storedSize(pod(most))).toBeGreaterThan(OBJECT_MAX_BYTES - 2 * one);
    expect(refusalOf(pod(most), PodSchema)).toBeUndefined();
    expect(refusalOf(pod(Math.ceil(most * 1.1)), PodSchema)).toBe(TOO_LARGE);
  });

  it("a status, and texts that become data: count for themselves", () => {
    const text = "a".repeat(1_000_000);
    expect(refusalOf({ metadata: { annotations: { a: text } }, status: { message: text } }, PodSchema)).toBeUndefined();
    expect(refusalOf({ data: { a: "YWFh".repeat(340_000) }, stringData: { a: text } }, SecretSchema)).toBeUndefined();
    expect(refusalOf({ status: { message: text + text } }, PodSchema)).toBe(TOO_LARGE);
    expect(refusalOf({ metadata: { annotations: { a: text, b: text } } }, PodSchema)).toBe(TOO_LARGE);
  });

  it("unknown fields, which no object keeps: do not count", () => {
    expect(refusalOf({ unknown: "a".repeat(2_000_000) }, ServiceSchema)).toBeUndefined();
  });

  function storedSize(pod: Pod): number {
    const object = structuredClone(pod) as KubeObject;
    podsDefinition.strategy.defaults(object);
    return JSON.stringify(object).length;
  }
});

it("a hundred problems below one long key: each names the beginning of the path", () => {
  const text = `{"${"k".repeat(1_000_000)}":{${list(200, 0)
    .map((_, i) => `"a${i}":1,"a${i}":2`)
    .join(",")}}}`;
  const problems = repeatedFields(text);
  expect(problems).toEqual([`duplicate field "${"k".repeat(512)}..."`]);
});

describe("values of a document", () => {
  it("JSON: more than the limit is refused, and text in quotes is one value", () => {
    expect(refusalOf({ spec: { externalIPs: list(VALUES_MAX, "") } }, ServiceSchema)).toBe(TOO_MANY);
    expect(refusalOf({ unknown: list(VALUES_MAX, 0) }, ServiceSchema)).toBe(TOO_MANY);
    expect(refusalOf({ unknown: list(VALUES_MAX - 1_000, 0) }, ServiceSchema)).toBeUndefined();
    expect(refusalOf({ metadata: { annotations: { a: '{"a":[1,2]},'.repeat(100_000) } } }, ServiceSchema)).toBeUndefined();
  });

  it("protobuf: the same", () => {
    const body = (ips: number) =>
      encodeProtobuf({ spec: { externalIPs: list(ips, "") } }, ServiceSchema, { apiVersion: "v1", kind: "Service" });
    expect(decodeProtobuf(body(VALUES_MAX), ServiceSchema)).toMatchObject({ ok: false, error: { reason: "size" } });
    expect(decodeProtobuf(body(VALUES_MAX - 1_000), ServiceSchema)).toMatchObject({ ok: true });
  });

  it("an apply: a third of them, since each has an owner", () => {
    const config = (count: number) => JSON.stringify({ data: Object.fromEntries(list(count, 0).map((_, i) => [`k${i}`, "v"])) });
    expect(parseApply(config(40_000), "Strict").ok).toBe(true);
    expect(parseApply(config(60_000), "Strict")).toMatchObject({
      ok: false,
      error: { code: 413, message: "Request entity too large: limit is 100000 values of an apply" },
    });
  });

  it("a body that nests too deeply: is not parsed", () => {
    expect(decodeJson("[".repeat(2_900_000), ServiceSchema)).toMatchObject({ ok: false, error: { cause: "exceeded max depth" } });
  });
});

describe("YAML", () => {
  it("a slice of 1,000 endpoints: is read", () => {
    const endpoint = (i: number) =>
      `- addresses:\n  - 10.0.${i >> 8}.${i & 255}\n  conditions:\n    ready: true\n  nodeName: node-${i}\n  targetRef:\n    kind: Pod\n    name: p-${i}\n    uid: u-${i}\n`;
    const text = `addressType: IPv4\nendpoints:\n${list(1_000, 0)
      .map((_, i) => endpoint(i))
      .join("")}`;
    expect(parseYamlText(text).ok).toBe(true);
  });

  it.each([
    ["digits", "1".repeat(1_000_000), "1".repeat(1_000_000)],
    ["zeros", "0".repeat(1_000_000), 0],
    ["zeros and an 8", `${"0".repeat(1_000_000)}8`, 8],
    ["zeros and a letter", `${"0".repeat(1_000_000)}z`, `${"0".repeat(1_000_000)}z`],
    ["binary zeros and a letter", `0b${"0".repeat(1_000_000)}z`, `0b${"0".repeat(1_000_000)}z`],
    ["digits, underscores and a letter", `.${"1_".repeat(500_000)}z`, `.${"1_".repeat(500_000)}z`],
  ])("a million %s: read in a time that grows with their number", (_, text, value) => {
    expect(parseYamlText(`a: ${text}`)).toMatchObject({ ok: true, value: { value: { a: value } } });
  });

  it.each([
    ["a scalar of a million lines", `a: >\n${"\n".repeat(1_000_000)}`, "100000 words, signs, lines and repeated values"],
    ["brackets", `[${"[],".repeat(50_000)}]`, "100000 words, signs, lines and repeated values"],
    [
      "comments behind empty lines",
      `- a\n-${"\n".repeat(30_000)}${"  #\n".repeat(10_000)}`,
      "100000 words, signs, lines and repeated values",
    ],
    [
      "values that aliases repeat",
      `- &a [${"a,".repeat(1_000)}]\n${"- *a\n".repeat(110)}`,
      "100000 words, signs, lines and repeated values",
    ],
    ["a text that aliases repeat", `- &a ${"a".repeat(100_000)}\n- [${"*a,".repeat(20)}]\n`, "excessive aliasing"],
    ["a long directive", `%TAG !e! ${"x".repeat(300)}\n---\n- !e!a b\n`, "256 characters"],
    ["more characters than an object", `a: ${"b".repeat(OBJECT_MAX_BYTES)}`, "1572864 characters"],
  ])("%s: refused by a bound", (_, text, bound) => {
    const parsed = parseYamlText(text);
    expect(parsed.ok ? "" : parsed.error).toContain(bound);
  });
});

it("hostile bodies of a kind: an object, or a refusal with a 4xx", () => {
  const expected: Expected = { kind: "Secret", group: "", version: "v1", schema: secretsDefinition.schema };
  let bodies = 0;
  for (const body of hostileBodies([expected], 20)) {
    const decoded = decodeBody(body.bytes(), body.type, body.expected, "Strict");
    if (!decoded.ok) expect(decoded.error.code, body.name).toBeGreaterThanOrEqual(400);
    if (!decoded.ok) expect(decoded.error.code, body.name).toBeLessThan(500);
    bodies++;
  }
  expect(bodies).toBeGreaterThan(50);
});
