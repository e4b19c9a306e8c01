import { describe, expect, it } from "vitest";
import type { Int64 } from "../../../../../src/core/encoding/exact-json";
import { queryDeleteOptions, validateDeleteOptions } from "../../../../../src/worker/http/read/raw-delete-options";

describe("validateDeleteOptions", () => {
  const DELETE = '422 DeleteOptions.meta.k8s.io "" is invalid:';
  function check(raw: Parameters<typeof validateDeleteOptions>[0]): unknown {
    const options = validateDeleteOptions(raw);
    return options.ok ? options.value : `${options.error.code} ${options.error.message ?? ""}`;
  }
  const none = { dryRun: false, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined };

  it.each([
    { raw: {}, want: none },
    { raw: { propagationPolicy: "Background" }, want: { ...none, propagationPolicy: "Background" } },
    { raw: { orphanDependents: true }, want: { ...none, propagationPolicy: "Orphan" } },
    { raw: { orphanDependents: false }, want: { ...none, propagationPolicy: "Background" } },
    { raw: { gracePeriodSeconds: -5 }, want: { ...none, gracePeriodSeconds: 1 } },
    { raw: { gracePeriodSeconds: 0 }, want: { ...none, gracePeriodSeconds: 0 } },
    { raw: { dryRun: ["All"] }, want: { ...none, dryRun: true } },
    {
      raw: { propagationPolicy: "x" },
      want: `${DELETE} propagationPolicy: Unsupported value: "x": supported values: "Foreground", "Background", "Orphan", "nil"`,
    },
    {
      raw: { propagationPolicy: "Orphan", orphanDependents: true },
      want: `${DELETE} propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set`,
    },
    { raw: { dryRun: ["x"] }, want: `${DELETE} dryRun: Unsupported value: ["x"]: supported values: "All"` },
  ])("$raw: read, or refused in upstream's words", ({ raw, want }) => {
    expect(check(raw)).toEqual(want);
  });

  it("options of a query: read with their types", () => {
    const query = new URLSearchParams("gracePeriodSeconds=3&propagationPolicy=Orphan&dryRun=All");
    expect(queryDeleteOptions(query)).toEqual({ ok: true, value: { gracePeriodSeconds: 3, propagationPolicy: "Orphan", dryRun: ["All"] } });
  });

  it.each<[string, object]>([
    ["uid=u&resourceVersion=7", { preconditions: { uid: "u", resourceVersion: "7" } }],
    ["uid=u", { preconditions: { uid: "u" } }],
    ["resourceVersion=0", { preconditions: { resourceVersion: "0" } }],
    ["uid=&resourceVersion=", {}],
  ])("query %s: preconditions, unless empty", (query, value) => {
    expect(queryDeleteOptions(new URLSearchParams(query))).toEqual({ ok: true, value });
  });

  it.each<[string, Int64]>([
    ["9007199254740991", 9007199254740991],
    ["9007199254740993", 9007199254740993n],
    ["+9223372036854775807", 9223372036854775807n],
  ])("grace period %s of a query: exact", (text, gracePeriodSeconds) => {
    expect(queryDeleteOptions(new URLSearchParams({ gracePeriodSeconds: text }))).toEqual({ ok: true, value: { gracePeriodSeconds } });
  });
});
