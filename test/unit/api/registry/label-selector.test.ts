import { expect, it } from "vitest";
import type { FieldError } from "../../../../src/api/meta/field-errors";
import type { LabelSelector } from "../../../../src/api/meta/kubernetes";
import { validateLabelSelector } from "../../../../src/api/registry/label-selector";
import { texts } from "./services/a-service";

const AT = "s.matchExpressions[0]";

it.each<{ name: string; selector: LabelSelector; want: (string | RegExp)[] }>([
  { name: "empty", selector: {}, want: [] },
  { name: "of labels", selector: { matchLabels: { "example.com/a": "b", c: "" } }, want: [] },
  {
    name: "of bad labels",
    selector: { matchLabels: { "-a": "b", c: "-d" } },
    want: [/^s.matchLabels: Invalid value: "-a": name part must consist of/, /^s.matchLabels: Invalid value: "-d": a valid label must be/],
  },
  { name: "In", selector: { matchExpressions: [{ key: "a", operator: "In", values: ["b", ""] }] }, want: [] },
  { name: "Exists", selector: { matchExpressions: [{ key: "a", operator: "Exists" }] }, want: [] },
  {
    name: "NotIn without values",
    selector: { matchExpressions: [{ key: "a", operator: "NotIn" }] },
    want: [`${AT}.values: Required value: must be specified when \`operator\` is 'In' or 'NotIn'`],
  },
  {
    name: "DoesNotExist with values",
    selector: { matchExpressions: [{ key: "a", operator: "DoesNotExist", values: ["b"] }] },
    want: [`${AT}.values: Forbidden: may not be specified when \`operator\` is 'Exists' or 'DoesNotExist'`],
  },
  {
    name: "of an unknown operator, a bad key and a bad value",
    selector: { matchExpressions: [{ key: "", operator: "Gt", values: ["1", "b/c"] }] },
    want: [
      `${AT}.operator: Invalid value: "Gt": not a valid selector operator`,
      `${AT}.key: Invalid value: "": name part must be non-empty`,
      /^s.matchExpressions\[0\].key: Invalid value: "": name part must consist of/,
      /^s.matchExpressions\[0\].values\[1\]: Invalid value: "b\/c": a valid label must be/,
    ],
  },
])("selector $name: upstream's errors", ({ selector, want }) => {
  const errors: FieldError[] = [];
  validateLabelSelector(selector, "s", errors);
  expect(texts(errors)).toEqual(want.map((text) => (typeof text === "string" ? text : (expect.stringMatching(text) as string))));
});
