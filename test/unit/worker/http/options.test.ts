import { describe, expect, it } from "vitest";
import {
  parseCollectionOptions,
  parseTimeout,
  parseWriteOptions,
  queryBool,
  queryDeleteOptions,
  resourceVersionProblem,
  validateDeleteOptions,
} from "../../../../src/worker/http/options";

const context = { userAgent: "kubectl/v1.32.5 (linux/amd64)", group: "", version: "v1" };

function writeRefusal(query: string, kind: "CreateOptions" | "PatchOptions" = "CreateOptions", apply = false): string {
  const options = parseWriteOptions(kind, new URLSearchParams(query), { ...context, apply });
  return options.ok ? "ok" : `${options.error.code} ${options.error.message ?? ""}`;
}

describe("parseWriteOptions", () => {
  it("defaults: Warn, the program's name as manager", () => {
    expect(parseWriteOptions("CreateOptions", new URLSearchParams(), context)).toEqual({
      ok: true,
      value: { dryRun: false, fieldManager: "kubectl", fieldValidation: "Warn", force: false, group: "", version: "v1" },
    });
  });

  it("takes what the query says", () => {
    const query = new URLSearchParams("fieldManager=me&fieldValidation=Strict&dryRun=All&force=true");
    expect(parseWriteOptions("PatchOptions", query, { ...context, apply: true })).toEqual({
      ok: true,
      value: { dryRun: true, fieldManager: "me", fieldValidation: "Strict", force: true, group: "", version: "v1" },
    });
  });

  it.each([
    {
      query: "dryRun=x",
      want: '422 CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: []string{"x"}: supported values: "All"',
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
  ])("create: $query", ({ query, want }) => {
    expect(writeRefusal(query)).toBe(want);
  });

  it("force belongs to apply", () => {
    const want = '422 PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch';
    expect(writeRefusal("force=true", "PatchOptions")).toBe(want);
  });

  it("apply needs a field manager", () => {
    const want = '422 PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch';
    expect(writeRefusal("", "PatchOptions", true)).toBe(want);
  });
});

function collection(query: string, watch = false): string {
  const options = parseCollectionOptions(new URLSearchParams(query), watch);
  return options.ok ? "ok" : `${options.error.code} ${options.error.message ?? ""}`;
}

describe("parseCollectionOptions", () => {
  it("reads every option", () => {
    const query = new URLSearchParams(
      "labelSelector=a%3Db&fieldSelector=metadata.name%3Dx&limit=500&continue=t&allowWatchBookmarks=true&timeoutSeconds=7",
    );
    expect(parseCollectionOptions(query, false)).toEqual({
      ok: true,
      value: {
        labelSelector: "a=b",
        fieldSelector: "metadata.name=x",
        limit: 500,
        continueToken: "t",
        resourceVersion: "",
        resourceVersionMatch: "",
        allowWatchBookmarks: true,
        sendInitialEvents: undefined,
        timeoutSeconds: 7,
      },
    });
  });

  const LIST = '422 ListOptions.meta.k8s.io "" is invalid:';
  it.each([
    { query: "limit=x", want: '400 strconv.ParseInt: parsing "x": invalid syntax' },
    { query: "limit=99999999999999999999", want: '400 strconv.ParseInt: parsing "99999999999999999999": value out of range' },
    { query: "timeoutSeconds=1.5", want: '400 strconv.ParseInt: parsing "1.5": invalid syntax' },
    { query: "limit=", want: "ok" },
    { query: "continue=t&resourceVersion=5", want: "400 specifying resource version is not allowed when using continue" },
    { query: "continue=t&resourceVersion=0", want: "ok" },
    {
      query: "resourceVersionMatch=Exact",
      want: `${LIST} resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
    },
    {
      query: "resourceVersionMatch=Exact&resourceVersion=0",
      want: `${LIST} resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"`,
    },
    {
      query: "resourceVersionMatch=Best&resourceVersion=1",
      want: `${LIST} resourceVersionMatch: Unsupported value: "Best": supported values: "Exact", "NotOlderThan", ""`,
    },
    { query: "sendInitialEvents=false", want: `${LIST} sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list` },
  ])("list: $query", ({ query, want }) => {
    expect(collection(query)).toBe(want);
  });

  it.each([
    {
      query: "sendInitialEvents=true",
      want: `${LIST} resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`,
    },
    {
      query: "resourceVersionMatch=NotOlderThan",
      want: `${LIST} resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`,
    },
    { query: "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", want: "ok" },
  ])("watch: $query", ({ query, want }) => {
    expect(collection(query, true)).toBe(want);
  });
});

describe("resourceVersionProblem", () => {
  it.each([
    { text: "", want: undefined },
    { text: "0", want: undefined },
    { text: "42", want: undefined },
    { text: "9007199254740993", want: undefined },
    { text: "9223372036854775808", want: undefined },
    { text: "18446744073709551615", want: undefined },
    { text: "000000000018446744073709551615", want: undefined },
    {
      text: "18446744073709551616",
      want: 'Invalid value: "18446744073709551616": strconv.ParseUint: parsing "18446744073709551616": value out of range',
    },
    {
      text: "100000000000000000000",
      want: 'Invalid value: "100000000000000000000": strconv.ParseUint: parsing "100000000000000000000": value out of range',
    },
    { text: "x", want: 'Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax' },
    { text: "-1", want: 'Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax' },
  ])("$text", ({ text, want }) => {
    expect(resourceVersionProblem(text)?.body).toBe(want);
  });
});

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
    { raw: { dryRun: ["x"] }, want: `${DELETE} dryRun: Unsupported value: []string{"x"}: supported values: "All"` },
  ])("$raw", ({ raw, want }) => {
    expect(check(raw)).toEqual(want);
  });

  it("reads the query", () => {
    const query = new URLSearchParams("gracePeriodSeconds=3&propagationPolicy=Orphan&dryRun=All");
    expect(queryDeleteOptions(query)).toEqual({ ok: true, value: { gracePeriodSeconds: 3, propagationPolicy: "Orphan", dryRun: ["All"] } });
  });
});

describe("parseTimeout", () => {
  it("absent = none; readable = milliseconds; unreadable = 400 with Go's words", () => {
    expect(parseTimeout(new URLSearchParams())).toEqual({ ok: true, value: 0 });
    expect(parseTimeout(new URLSearchParams("timeout=32s"))).toEqual({ ok: true, value: 32_000 });
    const refused = parseTimeout(new URLSearchParams("timeout=invalid"));
    expect(refused).toMatchObject({
      error: { code: 400, message: 'invalid timeout specified in the request URL - time: invalid duration "invalid"' },
    });
  });
});

describe("queryBool", () => {
  it.each([
    ["watch=true", true],
    ["watch=1", true],
    ["watch=", true],
    ["watch=yes", true],
    ["watch=false", false],
    ["watch=False", false],
    ["watch=0", false],
    ["", false],
  ])("%s is %s", (query, want) => {
    expect(queryBool(new URLSearchParams(query), "watch")).toBe(want);
  });
});
