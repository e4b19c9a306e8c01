import { describe, expect, it } from "vitest";
import { NamespaceSchema } from "../../../../../src/api/schema/kinds/core-namespaces";
import { PodSchema } from "../../../../../src/api/schema/kinds/core-pods";
import { ServiceSchema } from "../../../../../src/api/schema/kinds/core-services";
import { IPAddressSchema } from "../../../../../src/api/schema/kinds/networking";
import { SelfSubjectAccessReviewSchema } from "../../../../../src/api/schema/kinds/authorization";
import { openApiDocument, type OpenApiResource } from "../../../../../src/api/schema/openapi/openapi";
import { openApiComponents } from "../../../../../src/api/schema/openapi/openapi-components";
import { ALL_KINDS } from "../all-kinds";

const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const v1 = { group: "", version: "v1", verbs: ALL_VERBS };
const SERVICES: OpenApiResource = {
  ...v1,
  kind: "Service",
  resource: "services",
  namespaced: true,
  schema: ServiceSchema,
  subresources: ["status"],
};
const PODS: OpenApiResource = { ...v1, kind: "Pod", resource: "pods", namespaced: true, schema: PodSchema, subresources: ["status"] };
const NAMESPACES: OpenApiResource = {
  ...v1,
  kind: "Namespace",
  resource: "namespaces",
  namespaced: false,
  schema: NamespaceSchema,
  verbs: ALL_VERBS.filter((verb) => verb !== "deletecollection"),
  subresources: ["status", "finalize"],
};

function documentOf(...resources: OpenApiResource[]) {
  return openApiDocument({ title: "Servicenet", version: "v1.36.2", resources });
}

/** Everything that `path` leads to, as test code wants it. */
function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((current, step) => (current as Record<string, unknown> | undefined)?.[step], value);
}

/** Targets of all references in a document. */
function references(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== "object" || value === null) return found;
  for (const [name, member] of Object.entries(value)) {
    if (name === "$ref") found.add(String(member));
    else references(member, found);
  }
  return found;
}

it("DELETE: answers the object where the kind says so, else a Status, at once or accepted", () => {
  const document = documentOf({ ...SERVICES, returnsDeletedObject: true }, NAMESPACES);
  const answer = (path: string, code: string) =>
    at(document.paths, path, "delete", "responses", code, "content", "application/json", "schema", "$ref");
  for (const code of ["200", "202"]) {
    expect(answer("/api/v1/namespaces/{namespace}/services/{name}", code)).toBe("#/components/schemas/io.k8s.api.core.v1.Service");
    expect(answer("/api/v1/namespaces/{name}", code)).toBe("#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  }
  expect(answer("/api/v1/namespaces/{namespace}/services", "200")).toBe("#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status");
});

describe("openApiDocument: what kubectl reads", () => {
  const document = documentOf(SERVICES, NAMESPACES, PODS);

  it.each([
    ["/api/v1/namespaces/{namespace}/services/{name}", "Service"],
    ["/api/v1/namespaces/{namespace}/services/{name}/status", "Service"],
    ["/api/v1/namespaces/{name}", "Namespace"],
    ["/api/v1/namespaces/{namespace}/pods/{name}", "Pod"],
  ])("PATCH %s: names kind, fieldValidation and strategic merge", (path, kind) => {
    const patch = at(document.paths, path, "patch");
    expect(at(patch, "x-kubernetes-group-version-kind")).toEqual({ group: "", version: "v1", kind });
    expect(at(patch, "parameters")).toContainEqual(expect.objectContaining({ name: "fieldValidation", in: "query" }));
    expect(at(patch, "requestBody", "content")).toHaveProperty(["application/strategic-merge-patch+json"]);
  });

  it("components and lists: have their kinds", () => {
    const schemas = document.components.schemas;
    expect(at(schemas, "io.k8s.api.core.v1.Service", "x-kubernetes-group-version-kind")).toEqual([
      { group: "", version: "v1", kind: "Service" },
    ]);
    expect(at(schemas, "io.k8s.api.core.v1.ServiceList", "x-kubernetes-group-version-kind")).toEqual([
      { group: "", version: "v1", kind: "ServiceList" },
    ]);
    expect(Object.keys(at(schemas, "io.k8s.api.core.v1.Service", "properties") as object)).toEqual([
      "apiVersion",
      "kind",
      "metadata",
      "spec",
      "status",
    ]);
  });

  it("lists: have merge keys", () => {
    const ports = at(document.components.schemas, "io.k8s.api.core.v1.ServiceSpec", "properties", "ports");
    expect(ports).toMatchObject({
      type: "array",
      items: { allOf: [{ $ref: "#/components/schemas/io.k8s.api.core.v1.ServicePort" }] },
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
      "x-kubernetes-patch-merge-key": "port",
      "x-kubernetes-patch-strategy": "merge",
    });
    expect(at(document.components.schemas, "io.k8s.api.core.v1.ServiceSpec", "properties", "selector")).toMatchObject({
      "x-kubernetes-map-type": "atomic",
    });
    expect(at(document.components.schemas, "io.k8s.api.core.v1.PodSpec", "properties", "volumes")).toMatchObject({
      "x-kubernetes-patch-strategy": "merge,retainKeys",
      "x-kubernetes-patch-merge-key": "name",
    });
    const finalizers = at(document.components.schemas, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "properties", "finalizers");
    expect(finalizers).toMatchObject({ "x-kubernetes-list-type": "set", "x-kubernetes-patch-strategy": "merge" });
    expect(finalizers).not.toHaveProperty(["x-kubernetes-patch-merge-key"]);
  });

  it("inlined messages: their members stand in the enclosing component", () => {
    const volume = at(document.components.schemas, "io.k8s.api.core.v1.Volume", "properties") as object;
    expect(Object.keys(volume)).toContain("hostPath");
    expect(Object.keys(volume)).not.toContain("volumeSource");
  });

  it("paths: those of the resources, and no others", () => {
    expect(Object.keys(documentOf(SERVICES, NAMESPACES).paths)).toEqual([
      "/api/v1/namespaces",
      "/api/v1/namespaces/{namespace}/services",
      "/api/v1/namespaces/{namespace}/services/{name}",
      "/api/v1/namespaces/{namespace}/services/{name}/status",
      "/api/v1/namespaces/{name}",
      "/api/v1/namespaces/{name}/finalize",
      "/api/v1/namespaces/{name}/status",
      "/api/v1/services",
    ]);
    expect(Object.keys(at(document.paths, "/api/v1/namespaces") as object).sort()).toEqual(["get", "parameters", "post"]);
    expect(Object.keys(at(document.paths, "/api/v1/namespaces/{name}/finalize") as object).sort()).toEqual(["parameters", "put"]);
  });

  it("references: each names a component", () => {
    const names = new Set(Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`));
    expect([...references(document)].filter((target) => !names.has(target))).toEqual([]);
  });

  it("operation ids: unique", () => {
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((operation) => at(operation, "operationId")));
    const named = ids.filter((id) => id !== undefined);
    expect(new Set(named).size).toBe(named.length);
    expect(named).toContain("createCoreV1NamespacedService");
    expect(named).toContain("listCoreV1ServiceForAllNamespaces");
    expect(named).toContain("replaceCoreV1NamespacedServiceStatus");
  });

  it("resources in another order: the same text", () => {
    expect(JSON.stringify(documentOf(PODS, NAMESPACES, SERVICES))).toBe(JSON.stringify(document));
  });

  it("size: below 400 KB", () => {
    expect(JSON.stringify(document).length).toBeLessThan(400_000);
  });
});

describe("openApiDocument: other groups", () => {
  it("groups with several versions: each served version has its paths", () => {
    const document = documentOf({
      group: "networking.k8s.io",
      version: "v1beta1",
      kind: "IPAddress",
      resource: "ipaddresses",
      namespaced: false,
      schema: IPAddressSchema,
      verbs: ALL_VERBS,
      subresources: [],
    });
    expect(Object.keys(document.paths)).toEqual([
      "/apis/networking.k8s.io/v1beta1/ipaddresses",
      "/apis/networking.k8s.io/v1beta1/ipaddresses/{name}",
    ]);
    const kind = { group: "networking.k8s.io", version: "v1beta1", kind: "IPAddress" };
    expect(at(document.components.schemas, "io.k8s.api.networking.v1.IPAddress", "x-kubernetes-group-version-kind")).toEqual([kind]);
    expect(
      at(document.components.schemas, "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions", "x-kubernetes-group-version-kind"),
    ).toContainEqual({
      ...kind,
      kind: "DeleteOptions",
    });
  });

  it("create-only kinds: one operation and no list", () => {
    const document = documentOf({
      group: "authorization.k8s.io",
      version: "v1",
      kind: "SelfSubjectAccessReview",
      resource: "selfsubjectaccessreviews",
      namespaced: false,
      schema: SelfSubjectAccessReviewSchema,
      verbs: ["create"],
      subresources: [],
    });
    const path = at(document.paths, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") as object;
    expect(Object.keys(document.paths)).toHaveLength(1);
    expect(Object.keys(path).sort()).toEqual(["parameters", "post"]);
    expect(Object.keys(document.components.schemas)).not.toContain("io.k8s.api.authorization.v1.SelfSubjectAccessReviewList");
  });
});

describe("openApiComponents", () => {
  it("components: every message that a kind reaches", () => {
    const components = openApiComponents(ALL_KINDS);
    const names = new Set(Object.keys(components).map((name) => `#/components/schemas/${name}`));
    expect([...references(components)].filter((target) => !names.has(target))).toEqual([]);
    expect(Object.keys(components)).toEqual(Object.keys(components).sort());
  });

  it("descriptions: every component and property has one", () => {
    const components = openApiComponents(ALL_KINDS);
    const missing = Object.entries(components).flatMap(([name, schema]) => [
      ...(schema["description"] ? [] : [name]),
      ...Object.entries((schema["properties"] ?? {}) as Record<string, { description?: string }>)
        .filter(([, property]) => !property.description)
        .map(([property]) => `${name}.${property}`),
    ]);
    expect(Object.keys(components).length).toBeGreaterThan(150);
    expect(missing).toEqual([]);
  });
});
