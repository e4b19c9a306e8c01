import { describe, expect, it } from "vitest";
import {
  validateDNS1123Label,
  validateDNS1123Subdomain,
  validateLabelValue,
  validatePathSegmentName,
  validateQualifiedName,
} from "../../../../src/api/meta/names";

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

interface Row {
  value: string;
  want: string[];
}

describe("validateDNS1123Label", () => {
  it.each<Row>([
    { value: "a", want: [] },
    { value: "0-9a", want: [] },
    { value: "a".repeat(63), want: [] },
    { value: "a".repeat(64), want: ["must be no more than 63 characters"] },
    { value: "a.b", want: ["must not contain dots"] },
    { value: "", want: [LABEL] },
    { value: "-a", want: [LABEL] },
    { value: "a-", want: [LABEL] },
    { value: "A", want: [LABEL] },
    { value: "a_b", want: [LABEL] },
    { value: "ä", want: [LABEL] },
    { value: "ä".repeat(32), want: ["must be no more than 63 characters", LABEL] },
  ])("$value: $want", ({ value, want }) => {
    expect(validateDNS1123Label(value)).toEqual(want);
  });
});

describe("validateDNS1123Subdomain", () => {
  it.each<Row>([
    { value: "a.b-c.9", want: [] },
    { value: `${"a".repeat(126)}.${"b".repeat(126)}`, want: [] },
    { value: `${"a".repeat(127)}.${"b".repeat(126)}`, want: ["must be no more than 253 characters"] },
    { value: "a..b", want: [SUBDOMAIN] },
    { value: ".a", want: [SUBDOMAIN] },
    { value: "a.", want: [SUBDOMAIN] },
    { value: "", want: [SUBDOMAIN] },
    { value: "Foo", want: [SUBDOMAIN] },
  ])("$value", ({ value, want }) => {
    expect(validateDNS1123Subdomain(value)).toEqual(want);
  });
});

describe("validateQualifiedName", () => {
  it.each<Row>([
    { value: "simple", want: [] },
    { value: "With_All.Three-kinds", want: [] },
    { value: "example.com/MyName", want: [] },
    { value: `example.com/${"a".repeat(63)}`, want: [] },
    { value: "", want: ["name part must be non-empty", `name part ${QUALIFIED}`] },
    { value: "-a", want: [`name part ${QUALIFIED}`] },
    {
      value: `${"a".repeat(254)}/b`,
      want: ["prefix part must be no more than 253 bytes"],
    },
    { value: "a".repeat(64), want: ["name part must be no more than 63 bytes"] },
    { value: "/a", want: ["prefix part must be non-empty"] },
    { value: "UP/a", want: [`prefix part ${SUBDOMAIN}`] },
    { value: "example.com/", want: ["name part must be non-empty", `name part ${QUALIFIED}`] },
    { value: "a/b/c", want: [`a valid label key ${QUALIFIED} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`] },
  ])("$value", ({ value, want }) => {
    expect(validateQualifiedName(value)).toEqual(want);
  });
});

describe("validateLabelValue", () => {
  it.each<Row>([
    { value: "", want: [] },
    { value: "a_b.C-9", want: [] },
    { value: "a".repeat(64), want: ["must be no more than 63 bytes"] },
    { value: "_a", want: [VALUE] },
    { value: "a b", want: [VALUE] },
  ])("$value", ({ value, want }) => {
    expect(validateLabelValue(value)).toEqual(want);
  });
});

describe("validatePathSegmentName", () => {
  it.each<Row>([
    { value: "foo.bar", want: [] },
    { value: ".", want: ["may not be '.'"] },
    { value: "..", want: ["may not be '..'"] },
    { value: "a/b%c", want: ["may not contain '/'", "may not contain '%'"] },
  ])("$value", ({ value, want }) => {
    expect(validatePathSegmentName(value)).toEqual(want);
  });
});
