import { describe, expect, it } from "vitest";
import { namespacesDefinition } from "../../../../../src/api/registry/namespaces/definition";
import { servicesDefinition } from "../../../../../src/api/registry/services/definition";
import { missingNamespace, nameMismatch, namespaceMismatch } from "../../../../../src/worker/http/read/body-names";

describe("names in body and URL", () => {
  it("namespace of the body: refused when another, accepted when absent or the same", () => {
    expect(namespaceMismatch({ metadata: { namespace: "b" } }, "a")?.message).toBe(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
    expect(namespaceMismatch({ metadata: {} }, "a")).toBeUndefined();
    expect(namespaceMismatch({ metadata: { namespace: "a" } }, "a")).toBeUndefined();
    expect(namespaceMismatch({ metadata: { namespace: "b" } }, "")).toBeUndefined();
  });

  it("a create in the empty namespace: its object has none, or another", () => {
    expect(missingNamespace({ metadata: { name: "a" } }, "", servicesDefinition)).toMatchObject({
      code: 422,
      message: 'Service "a" is invalid: metadata.namespace: Required value',
    });
    expect(missingNamespace({}, "", servicesDefinition)?.message).toBe('Service "" is invalid: metadata.namespace: Required value');
    expect(missingNamespace({ metadata: { name: "a", namespace: "x" } }, "", servicesDefinition)?.message).toBe(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
    expect(missingNamespace({ metadata: { name: "a" } }, "x", servicesDefinition)).toBeUndefined();
    expect(missingNamespace({ metadata: { name: "a" } }, "", namespacesDefinition)).toBeUndefined();
  });

  it("a PUT without the name of its URL: refused", () => {
    expect(nameMismatch({ metadata: { name: "a" } }, "b")?.message).toBe(
      "the name of the object (a) does not match the name on the URL (b)",
    );
    expect(nameMismatch({}, "b")?.message).toBe("the name of the object (b based on URL) was undeterminable: name must be provided");
    expect(nameMismatch({ metadata: { name: "b" } }, "b")).toBeUndefined();
  });
});
