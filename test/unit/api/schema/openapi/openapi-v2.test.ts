import { describe, expect, it } from "vitest";
import { definitions } from "../../../../../src/api/registry/all";
import { openApiDocument } from "../../../../../src/api/schema/openapi/openapi";
import { openApiV2Document } from "../../../../../src/api/schema/openapi/openapi-v2";
import { encodeOpenApiV2 } from "../../../../../src/api/schema/openapi/openapi-v2-protobuf";
import { type Message, readMessage } from "../../../../support/values/wire-message";

type Json = Record<string, unknown>;

const groupVersions = definitions.flatMap(({ group, versions }) => versions.map((version) => `${group}/${version}`));
const documents = [...new Set(groupVersions)].map((groupVersion) => {
  const [group = "", version = ""] = groupVersion.split("/");
  const resources = definitions
    .filter((definition) => definition.group === group && definition.versions.includes(version))
    .map((definition) => ({ ...definition, version }));
  return openApiDocument({ title: "Servicenet", version: "v1.36.2", resources });
});
const document = openApiV2Document(documents);

function at(value: unknown, ...path: string[]): Json {
  return path.reduce<unknown>((current, step) => (current as Json | undefined)?.[step], value) as Json;
}

/** Every object in a value that has the member. */
function having(value: unknown, member: string, found: Json[] = []): Json[] {
  if (typeof value !== "object" || value === null) return found;
  if (member in value && !Array.isArray(value)) found.push(value as Json);
  for (const inner of Object.values(value)) having(inner, member, found);
  return found;
}

describe("openApiV2Document", () => {
  it("paths and definitions: those of the 3.0 documents, without a keyword of 3.0", () => {
    expect(Object.keys(document.paths).sort()).toEqual([...new Set(documents.flatMap(({ paths }) => Object.keys(paths)))].sort());
    const components = documents.flatMap(({ components: { schemas } }) => Object.keys(schemas));
    expect(Object.keys(document.definitions).sort()).toEqual([...new Set(components)].sort());
    for (const word of ["allOf", "oneOf", "requestBody", "content"]) expect(having(document.paths, word)).toEqual([]);
    const withProperties = having(document.definitions, "properties").filter(({ type }) => type === "object");
    expect(withProperties.length).toBeGreaterThan(100);
    expect(having(document.definitions, "allOf").concat(having(document.definitions, "oneOf"))).toEqual([]);
  });

  it("references: each names a definition", () => {
    const targets = new Set(having(document, "$ref").flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : [])));
    expect(targets.size).toBeGreaterThan(100);
    expect([...targets].filter((target) => !(target.replace("#/definitions/", "") in document.definitions))).toEqual([]);
  });

  it("kinds and merge keys: those that client-side apply needs", () => {
    expect(at(document.definitions, "io.k8s.api.core.v1.ServiceSpec", "properties", "ports")).toMatchObject({
      type: "array",
      items: { $ref: "#/definitions/io.k8s.api.core.v1.ServicePort" },
      "x-kubernetes-patch-merge-key": "port",
      "x-kubernetes-patch-strategy": "merge",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
    });
    expect(at(document.definitions, "io.k8s.api.core.v1.ServicePort", "properties", "targetPort")).toMatchObject({
      $ref: "#/definitions/io.k8s.apimachinery.pkg.util.intstr.IntOrString",
    });
    expect(at(document.definitions, "io.k8s.apimachinery.pkg.util.intstr.IntOrString")).toMatchObject({
      type: "string",
      format: "int-or-string",
    });
  });

  it("a definition of two versions: has both kinds", () => {
    expect(at(document.definitions, "io.k8s.api.networking.v1.IPAddress", "x-kubernetes-group-version-kind")).toEqual([
      { group: "networking.k8s.io", version: "v1", kind: "IPAddress" },
      { group: "networking.k8s.io", version: "v1beta1", kind: "IPAddress" },
    ]);
  });

  it("operations: each has kind, action, parameters and body", () => {
    const patch = at(document.paths, "/api/v1/namespaces/{namespace}/services/{name}", "patch");
    expect(patch).toMatchObject({
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group: "", version: "v1", kind: "Service" },
      consumes: expect.arrayContaining(["application/strategic-merge-patch+json"]) as unknown,
      parameters: expect.arrayContaining([
        { name: "body", in: "body", required: true, schema: { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch" } },
        expect.objectContaining({ name: "fieldValidation", in: "query", type: "string" }),
        expect.objectContaining({ name: "force", in: "query", type: "boolean" }),
      ]) as unknown,
    });
    expect(at(document.paths, "/api/v1/namespaces/{namespace}/pods/{name}/eviction", "post")).toMatchObject({
      "x-kubernetes-group-version-kind": { group: "policy", version: "v1", kind: "Eviction" },
    });
    expect(Object.keys(at(document.paths, "/api/v1/namespaces/{namespace}/bindings"))).toEqual(["parameters", "post"]);
    const proxied = at(document.paths, "/api/v1/nodes/{name}/proxy/{path}");
    expect(Object.keys(proxied)).toEqual(["parameters", "get", "put", "post", "delete", "options", "head", "patch"]);
    expect(at(proxied, "head")).toMatchObject({
      operationId: "connectCoreV1HeadNodeProxyWithPath",
      produces: ["*/*"],
      "x-kubernetes-action": "connect",
      "x-kubernetes-group-version-kind": { group: "", version: "v1", kind: "NodeProxyOptions" },
    });
  });
});

describe("encodeOpenApiV2", () => {
  const encoded = readMessage(encodeOpenApiV2(document));
  const text = (message: Message | undefined, number: number): string => new TextDecoder().decode(message?.bytes(number)[0]);
  const inner = (message: Message | undefined, ...numbers: number[]): Message | undefined =>
    numbers.reduce((current, number) => current && readMessage(current.bytes(number)[0] ?? new Uint8Array()), message);
  const named = (pairs: Message | undefined, number: number): Map<string, Message> =>
    new Map((pairs?.bytes(number) ?? []).map((bytes) => [text(readMessage(bytes), 1), inner(readMessage(bytes), 2) as Message]));

  it("paths and definitions: those of the document", () => {
    expect(text(encoded, 1)).toBe("2.0");
    expect([...named(inner(encoded, 8), 2).keys()]).toEqual(Object.keys(document.paths));
    expect([...named(inner(encoded, 9), 1).keys()]).toEqual(Object.keys(document.definitions));
  });

  it("a schema: reads back equal to its JSON", () => {
    const spec = named(inner(encoded, 9), 1).get("io.k8s.api.core.v1.ServiceSpec");
    const properties = named(inner(spec, 25), 1);
    const wanted = at(document.definitions, "io.k8s.api.core.v1.ServiceSpec", "properties");
    expect([...properties.keys()]).toEqual(Object.keys(wanted));
    const ports = properties.get("ports");
    expect(text(ports, 4)).toBe(wanted["ports"] && (wanted["ports"] as Json)["description"]);
    expect(text(inner(ports, 22), 1)).toBe("array");
    expect(text(inner(ports, 23, 1), 1)).toBe("#/definitions/io.k8s.api.core.v1.ServicePort");
    const extensions = (ports?.bytes(31) ?? []).map((bytes) => [text(readMessage(bytes), 1), text(inner(readMessage(bytes), 2), 2)]);
    expect(Object.fromEntries(extensions)).toEqual({
      "x-kubernetes-list-type": '"map"',
      "x-kubernetes-list-map-keys": '["port","protocol"]',
      "x-kubernetes-patch-merge-key": '"port"',
      "x-kubernetes-patch-strategy": '"merge"',
    });
  });

  it("an operation: keeps its body, parameters and answers", () => {
    const patch = inner(named(inner(encoded, 8), 2).get("/api/v1/namespaces/{namespace}/services/{name}"), 8);
    expect(text(patch, 5)).toBe("patchCoreV1NamespacedService");
    const parameters = (patch?.bytes(8) ?? []).map((bytes) => inner(readMessage(bytes), 1));
    expect(text(inner(parameters[0], 1), 2)).toBe("body");
    expect(parameters.slice(1).map((parameter) => text(inner(parameter, 2, 3), 4))).toContain("fieldManager");
    expect([...named(inner(patch, 9), 1).keys()]).toEqual(["200", "201"]);
  });
});
