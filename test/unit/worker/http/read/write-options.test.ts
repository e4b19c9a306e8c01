import { describe, expect, it } from "vitest";
import { parseWriteOptions } from "../../../../../src/worker/http/read/write-options";

const context = { userAgent: "kubectl/v1.32.5 (linux/amd64)", group: "", version: "v1" };

function writeRefusal(query: string, kind: "CreateOptions" | "PatchOptions" = "CreateOptions", apply = false): string {
  const options = parseWriteOptions(kind, new URLSearchParams(query), { ...context, apply });
  return options.ok ? "ok" : `${options.error.code} ${options.error.message ?? ""}`;
}

describe("parseWriteOptions", () => {
  it("an empty query: Warn, and the program's name as manager", () => {
    expect(parseWriteOptions("CreateOptions", new URLSearchParams(), context)).toEqual({
      ok: true,
      value: { dryRun: false, fieldManager: "kubectl", fieldValidation: "Warn", force: false, group: "", version: "v1" },
    });
  });

  it("options of a query: taken", () => {
    const query = new URLSearchParams("fieldManager=me&fieldValidation=Strict&dryRun=All&force=true");
    expect(parseWriteOptions("PatchOptions", query, { ...context, apply: true })).toEqual({
      ok: true,
      value: { dryRun: true, fieldManager: "me", fieldValidation: "Strict", force: true, group: "", version: "v1" },
    });
  });

  it.each([
    {
      query: "dryRun=x",
      want: '422 CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported values: "All"',
    },
    { query: "dryRun=All&dryRun=All", want: "ok" },
    {
      query: "fieldValidation=Loud",
      want: '422 CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loud": supported values: "", "Ignore", "Strict", "Warn"',
    },
    {
      query: "fieldManager=a%07b",
      want: '422 CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\u0007b": invalid character U+0007 (at position 1)',
    },
    { query: "fieldManager=a%20b", want: "ok" },
    {
      query: `fieldManager=${"a".repeat(129)}`,
      want: '422 CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    },
  ])("create, $query: read, or upstream's text", ({ query, want }) => {
    expect(writeRefusal(query)).toBe(want);
  });

  it("force without apply: refused", () => {
    const want = '422 PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch';
    expect(writeRefusal("force=true", "PatchOptions")).toBe(want);
  });

  it("apply without a field manager: refused", () => {
    const want = '422 PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch';
    expect(writeRefusal("", "PatchOptions", true)).toBe(want);
  });
});
