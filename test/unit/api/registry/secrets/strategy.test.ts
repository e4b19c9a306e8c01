import { describe, expect, it } from "vitest";
import { encodeBase64 } from "../../../../../src/core/encoding/base64";
import type { Secret } from "../../../../../src/api/meta/kubernetes";
import { secretsDefinition } from "../../../../../src/api/registry/secrets/definition";
import { create, update } from "../outcomes";

const IMMUTABLE = "Forbidden: field is immutable when `immutable` is set";
const MIB = 1024 * 1024;

function aSecret(content: Partial<Secret> = {}): Secret {
  return { metadata: { name: "s", namespace: "ns" }, ...content };
}

function json(text: string): Record<string, string> {
  return { ".dockerconfigjson": encodeBase64(text) };
}

describe("Secret", () => {
  const type = (name: string) => `kubernetes.io/${name}`;
  const redacted = 'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": ';
  it.each<{ name: string; content: Partial<Secret>; want: string[] }>([
    { name: "without data", content: {}, want: [] },
    { name: "of a type of its own", content: { type: "example.com/any", data: { k: "AAEC" } }, want: [] },
    {
      name: "of a bad key",
      content: { data: { "..": "AAEC" } },
      want: [`data[..]: Invalid value: "..": must not be '..'`],
    },
    { name: "of 1 MiB", content: { stringData: { a: "x".repeat(MIB) } }, want: [] },
    {
      name: "of a byte more",
      content: { stringData: { a: "x".repeat(MIB + 1) } },
      want: ["data: Too long: may not be more than 1048576 bytes"],
    },
    {
      name: "for a ServiceAccount's token without its name",
      content: { type: type("service-account-token") },
      want: ["metadata.annotations[kubernetes.io/service-account.name]: Required value"],
    },
    {
      name: "for a ServiceAccount's token",
      content: {
        type: type("service-account-token"),
        metadata: { name: "s", annotations: { "kubernetes.io/service-account.name": "default" } },
      },
      want: [],
    },
    { name: "of .dockercfg without it", content: { type: type("dockercfg") }, want: ["data[.dockercfg]: Required value"] },
    { name: "of .dockercfg", content: { type: type("dockercfg"), stringData: { ".dockercfg": "{}" } }, want: [] },
    {
      name: "of a Docker configuration without it",
      content: { type: type("dockerconfigjson") },
      want: ["data[.dockerconfigjson]: Required value"],
    },
    { name: "of a Docker configuration", content: { type: type("dockerconfigjson"), data: json('{"auths":{}}') }, want: [] },
    { name: "of null as Docker configuration", content: { type: type("dockerconfigjson"), data: json("null") }, want: [] },
    {
      name: "of no JSON as Docker configuration",
      content: { type: type("dockerconfigjson"), data: json("{s3cr3t}") },
      want: [`${redacted}invalid character 's' looking for beginning of object key string`],
    },
    {
      name: "of an empty Docker configuration",
      content: { type: type("dockerconfigjson"), data: json("") },
      want: [`${redacted}unexpected end of JSON input`],
    },
    {
      name: "of a list as Docker configuration",
      content: { type: type("dockerconfigjson"), data: json('["s3cr3t"]') },
      want: [`${redacted}json: cannot unmarshal array into Go value of type map[string]interface {}`],
    },
    {
      name: "of a text as Docker configuration",
      content: { type: type("dockerconfigjson"), data: json('"s3cr3t"') },
      want: [`${redacted}json: cannot unmarshal string into Go value of type map[string]interface {}`],
    },
    {
      name: "of basic authentication without its keys",
      content: { type: type("basic-auth"), data: { other: "" } },
      want: ["data[username]: Required value", "data[password]: Required value"],
    },
    { name: "of basic authentication with an empty user", content: { type: type("basic-auth"), data: { username: "" } }, want: [] },
    { name: "of basic authentication with a password", content: { type: type("basic-auth"), data: { password: "AA==" } }, want: [] },
    {
      name: "of SSH with an empty key",
      content: { type: type("ssh-auth"), data: { "ssh-privatekey": "" } },
      want: ["data[ssh-privatekey]: Required value"],
    },
    { name: "of SSH", content: { type: type("ssh-auth"), data: { "ssh-privatekey": "AA==" } }, want: [] },
    {
      name: "of TLS without its files",
      content: { type: type("tls") },
      want: ["data[tls.crt]: Required value", "data[tls.key]: Required value"],
    },
    { name: "of TLS with a key alone", content: { type: type("tls"), data: { "tls.key": "" } }, want: ["data[tls.crt]: Required value"] },
    { name: "of TLS", content: { type: type("tls"), data: { "tls.key": "", "tls.crt": "" } }, want: [] },
  ])("$name: upstream's errors", ({ content, want }) => {
    expect(create(secretsDefinition, aSecret(content)).errors).toEqual(want);
  });

  it("without a type: Opaque", () => {
    expect(create(secretsDefinition, aSecret()).object.type).toBe("Opaque");
  });

  it("with stringData: it stands in data, over what was there, and nowhere else", () => {
    const sent = aSecret({ data: { a: "AAEC", b: "AAEC" }, stringData: { b: "grüße", ["__proto__"]: "p" } });
    const { object } = create(secretsDefinition, sent);
    expect(Object.entries(object.data ?? {})).toEqual([
      ["a", "AAEC"],
      ["b", encodeBase64("grüße")],
      ["__proto__", encodeBase64("p")],
    ]);
    expect(object).not.toHaveProperty("stringData");
  });
});

describe("change of a Secret", () => {
  const stored = aSecret({ type: "Opaque", immutable: true, data: { a: "AAEC" } });
  it.each<{ name: string; before?: Partial<Secret>; after: Partial<Secret>; want: string[] }>([
    {
      name: "type",
      before: { immutable: false },
      after: { type: "example.com/x" },
      want: ['type: Invalid value: "example.com/x": field is immutable'],
    },
    {
      name: "type to none",
      before: { immutable: false, type: "example.com/x" },
      after: { type: undefined },
      want: ['type: Invalid value: "Opaque": field is immutable'],
    },
    { name: "data", before: { immutable: false }, after: { data: { a: "AAED" } }, want: [] },
    { name: "data when it is immutable", after: { data: { a: "AAED" } }, want: [`data: ${IMMUTABLE}`] },
    { name: "data by stringData when it is immutable", after: { stringData: { a: "x" } }, want: [`data: ${IMMUTABLE}`] },
    { name: "nothing by stringData when it is immutable", after: { stringData: { a: "\u0000\u0001\u0002" } }, want: [] },
    { name: "immutable", after: { immutable: false }, want: [`immutable: ${IMMUTABLE}`] },
    { name: "metadata when it is immutable", after: { metadata: { name: "s", namespace: "ns", labels: { a: "b" } } }, want: [] },
  ])("$name: upstream's errors", ({ before, after, want }) => {
    const old = { ...stored, ...before };
    expect(update(secretsDefinition, { before: old, after: { ...old, ...after } }).errors).toEqual(want);
  });
});

it("selectable fields: type", () => {
  expect(secretsDefinition.selectableFields(aSecret({ type: "Opaque" }) as never)).toEqual({ type: "Opaque" });
  expect(secretsDefinition.unknownFieldLabel("data")).toBe("field label not supported: data");
});

it("cells: name, type, number of keys, age; no value", () => {
  const { object } = create(secretsDefinition, aSecret({ data: { a: "AAEC", b: "" } }));
  expect(secretsDefinition.cells(object, Date.parse(object.metadata?.creationTimestamp ?? "") + 5_000)).toEqual(["s", "Opaque", 2, "5s"]);
});
