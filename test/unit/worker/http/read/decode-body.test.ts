import { describe, expect, it } from "vitest";
import { ServiceSchema } from "../../../../../src/api/schema/kinds/core-services";
import { decodeBody } from "../../../../../src/worker/http/read/decode-body";
import type { BodyType } from "../../../../../src/worker/http/read/content-type";

const SERVICE = { kind: "Service", group: "", version: "v1", schema: ServiceSchema };
const IS_NOT = "the object provided is unrecognized (must be of type Service):";

function decode(text: string | Uint8Array, type: BodyType = "json", fieldValidation: "Strict" | "Warn" | "Ignore" = "Warn"): unknown {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const decoded = decodeBody(bytes, type, SERVICE, fieldValidation);
  return decoded.ok ? decoded.value : `${decoded.error.code} ${decoded.error.message ?? ""}`;
}

describe("decodeBody", () => {
  it("kind and apiVersion: split off, both may be absent", () => {
    const want = { object: { metadata: { name: "a" } }, warnings: [] };
    expect(decode('{"kind":"Service","apiVersion":"v1","metadata":{"name":"a"}}')).toEqual(want);
    expect(decode('{"metadata":{"name":"a"}}')).toEqual(want);
    expect(decode("metadata:\n  name: a\n", "yaml")).toEqual(want);
  });

  it.each([
    { body: "", want: `400 ${IS_NOT} couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)` },
    {
      body: '{"metadata":',
      want: `400 ${IS_NOT} couldn't get version/kind; json parse error: unexpected end of JSON input ({"metadata":)`,
    },
    {
      body: "hello",
      want: `400 ${IS_NOT} couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value (68656c6c6f)`,
    },
    {
      body: '{"kind":"Pod","apiVersion":"v1"}',
      want: '400 Pod in version "v1" cannot be handled as a Service: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
    },
    {
      body: '{"kind":"Service","apiVersion":"v2"}',
      want: "400 the API version in the data (v2) does not match the expected API version (v1)",
    },
    {
      body: '{"spec":{"ports":"x"}}',
      want: /^400 Service in version "v1" cannot be handled as a Service: json: cannot unmarshal string/,
    },
  ])("body $body: refused", ({ body, want }) => {
    expect(decode(body)).toEqual(typeof want === "string" ? want : expect.stringMatching(want));
  });

  it("bytes that are not UTF-8: 400", () => {
    expect(decode(new Uint8Array([0x7b, 0xff, 0x7d]))).toMatch(/^400 the object provided is unrecognized .*invalid UTF-8/);
  });

  it("a long body: cut in the error text", () => {
    const body = `{"metadata":{"name":"${"a".repeat(100)}"`;
    expect(decode(body)).toMatch(/\(\{"metadata":\{"name":"aaaaaaaaa \.\.\.\)$/);
  });

  const unknown = '{"metadata":{"name":"a"},"spec":{"foo":1,"type":"ClusterIP","type":"NodePort"}}';
  it("Strict: 400 that names every problem", () => {
    expect(decode(unknown, "json", "Strict")).toBe(
      '400 Service in version "v1" cannot be handled as a Service: strict decoding error: unknown field "spec.foo", duplicate field "spec.type"',
    );
  });

  it("Warn: decoded, with one text per problem", () => {
    expect(decode(unknown, "json", "Warn")).toEqual({
      object: { metadata: { name: "a" }, spec: { type: "NodePort" } },
      warnings: ['unknown field "spec.foo"', 'duplicate field "spec.type"'],
    });
  });

  it("Ignore: decoded without warnings", () => {
    expect(decode(unknown, "json", "Ignore")).toMatchObject({ warnings: [] });
  });

  it("YAML: a repeated key is a problem, an alias resolved, a broken document refused", () => {
    expect(decode("metadata:\n  name: a\n  name: b\n", "yaml", "Strict")).toMatch(/strict decoding error: yaml: /);
    expect(decode("metadata: &m\n  name: a\nspec: {}\n", "yaml")).toMatchObject({ object: { metadata: { name: "a" } } });
    expect(decode("a: [b\n", "yaml")).toMatch(
      /^400 the object provided is unrecognized \(must be of type Service\): error converting YAML to JSON: yaml: /,
    );
    // 20,000 keys: comparing each with every other would take seconds.
    const many = Array.from({ length: 20_000 }, (_, i) => `  k${i}: v`).join("\n");
    expect(decode(`metadata:\n  name: a\n  annotations:\n${many.replaceAll("  k", "    k")}\n`, "yaml")).toMatchObject({
      object: { metadata: { name: "a" } },
    });
    expect(decode(`a: ${"[".repeat(10_000)}`, "yaml")).toMatch(/^400 /);
    expect(decode("just text", "yaml")).toMatch(/^400 the object provided is unrecognized/);
  });

  it("protobuf of kubectl create service: decoded", () => {
    const hex =
      "6b3873000a0d0a02763112075365727669636512690a1f0a0363697012001a0022002a003200380042005a0a0a03617070120363697012420a1b0a0738302d38303830120354435018502207080010903f1a002800120a0a0361707012036369701a002209436c757374657249503a00420052005a00600068001a020a001a002200";
    const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
    expect(decode(bytes, "protobuf", "Strict")).toMatchObject({
      object: { metadata: { name: "cip", labels: { app: "cip" } }, spec: { type: "ClusterIP", selector: { app: "cip" } } },
      warnings: [],
    });
    expect(decode(bytes.subarray(0, 40), "protobuf")).toMatch(/^400 /);
    expect(decode("{}", "protobuf")).toMatch(/^400 /);
  });
});
