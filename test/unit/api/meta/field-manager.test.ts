import { expect, it } from "vitest";
import { fieldManagerErrors, managedFieldsErrors } from "../../../../src/api/meta/field-manager";

const long = "x".repeat(129);

it.each([
  ["", []],
  ["kubectl-client-side-apply", []],
  ["a b é", []],
  ["x".repeat(128), []],
  [long, ["f: Too long: may not be more than 128 bytes"]],
  ["é".repeat(65), ["f: Too long: may not be more than 128 bytes"]],
  ["a\tb", ['f: Invalid value: "a\\tb": invalid character U+0009 (at position 1)']],
  ["é\u00a0", ['f: Invalid value: "é\u00a0": invalid character U+00A0 (at position 2)']],
])("the manager %j: as upstream judges it", (manager, expected) => {
  expect(fieldManagerErrors(manager, "f").map(({ field, body }) => `${field}: ${body}`)).toEqual(expected);
});

it("entries of an object: each by its place, its subresource too", () => {
  const entries = [{ manager: "fine" }, {}, { manager: long, subresource: "status" }, { manager: "a", subresource: "s".repeat(257) }];
  expect(managedFieldsErrors(entries).map(({ field }) => field)).toEqual([
    "metadata.managedFields[2].manager",
    "metadata.managedFields[3].subresource",
  ]);
  expect(managedFieldsErrors(undefined)).toEqual([]);
  // What an earlier release stored does not keep the object from being written.
  expect(managedFieldsErrors(entries, entries.slice(2, 3)).map(({ field }) => field)).toEqual(["metadata.managedFields[3].subresource"]);
});
