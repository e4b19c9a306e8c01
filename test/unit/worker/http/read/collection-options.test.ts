import { describe, expect, it } from "vitest";
import { parseCollectionOptions, resourceVersionProblem } from "../../../../../src/worker/http/read/collection-options";

function collection(query: string, watch = false): string {
  const options = parseCollectionOptions(new URLSearchParams(query), watch);
  return options.ok ? "ok" : `${options.error.code} ${options.error.message ?? ""}`;
}

describe("parseCollectionOptions", () => {
  it("a query with every option: all are read", () => {
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
    { query: "limit=9223372036854775808", want: '400 strconv.ParseInt: parsing "9223372036854775808": value out of range' },
    { query: "limit=9223372036854775807", want: "ok" },
    { query: "limit=99999999999999999999", want: '400 strconv.ParseInt: parsing "99999999999999999999": value out of range' },
    { query: "timeoutSeconds=1.5", want: '400 strconv.ParseInt: parsing "1.5": invalid syntax' },
    { query: "limit=", want: '400 strconv.ParseInt: parsing "": invalid syntax' },
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
  ])("list, $query: read, or upstream's text", ({ query, want }) => {
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
  ])("watch, $query: read, or upstream's text", ({ query, want }) => {
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
  ])("resourceVersion $text: accepted, or upstream's text", ({ text, want }) => {
    expect(resourceVersionProblem(text)?.body).toBe(want);
  });
});
