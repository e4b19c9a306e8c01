import { describe, expect, it } from "vitest";
import { nameMismatch, namespaceMismatch } from "../../../../src/worker/http/body-names";

describe("names in body and URL", () => {
  it("namespace of the body: refused when another, accepted when absent or the same", () => {
    expect(namespaceMismatch({ metadata: { namespace: "b" } }, "a")?.message).toBe(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
    expect(namespaceMismatch({ metadata: {} }, "a")).toBeUndefined();
    expect(namespaceMismatch({ metadata: { namespace: "a" } }, "a")).toBeUndefined();
    expect(namespaceMismatch({ metadata: { namespace: "b" } }, "")).toBeUndefined();
  });

  it("a PUT without the name of its URL: refused", () => {
    expect(nameMismatch({ metadata: { name: "a" } }, "b")?.message).toBe(
      "the name of the object (a) does not match the name on the URL (b)",
    );
    expect(nameMismatch({}, "b")?.message).toBe("the name of the object (b based on URL) was undeterminable: name must be provided");
    expect(nameMismatch({ metadata: { name: "b" } }, "b")).toBeUndefined();
  });
});
