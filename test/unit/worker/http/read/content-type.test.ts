import { describe, expect, it } from "vitest";
import { bodyTypeOf, patchTypeOf } from "../../../../../src/worker/http/read/content-type";

describe("bodyTypeOf", () => {
  it.each([
    { type: null, want: "json" },
    { type: "", want: "json" },
    { type: "application/json", want: "json" },
    { type: "application/json; charset=utf-8", want: "json" },
    { type: "application/json;", want: "json" },
    { type: 'application/json; charset="utf-8"; v=1', want: "json" },
    { type: "application/json;;;", want: undefined },
    { type: "application/json; charset", want: undefined },
    { type: "application/yaml", want: "yaml" },
    { type: "application/vnd.kubernetes.protobuf", want: "protobuf" },
    { type: "text/plain", want: undefined },
    { type: "application/x-www-form-urlencoded", want: undefined },
  ])("Content-Type $type: $want", ({ type, want }) => {
    expect(bodyTypeOf(type)).toBe(want);
  });
});

describe("patchTypeOf", () => {
  it.each([
    { type: "application/json-patch+json", want: "json" },
    { type: "application/merge-patch+json; charset=utf-8", want: "merge" },
    { type: "application/strategic-merge-patch+json", want: "strategic" },
    { type: "application/apply-patch+yaml", want: "apply" },
    { type: "application/json", want: undefined },
    { type: null, want: undefined },
  ])("Content-Type $type: $want", ({ type, want }) => {
    expect(patchTypeOf(type)).toBe(want);
  });
});
