import { describe, expect, it } from "vitest";
import { type TableForm, eventTable, parseIncludeObject, tableEnvelope, tableRow } from "../../../../src/api/meta/table";
import { typeHead } from "../../../../src/api/meta/type-meta";

const columns = [{ name: "Name", type: "string", format: "name", description: "d", priority: 0 }];
const form: TableForm = { version: "v1", columns, includeObject: "Metadata", objectHead: typeHead("Service", "v1") };
const object = { metadata: { name: "a" }, spec: { x: 1 } };
const stored = JSON.stringify(object);

function whole(parts: { head: string; tail: string }, ...rows: string[]): unknown {
  return JSON.parse(parts.head + rows.join(",") + parts.tail);
}

describe("tableRow", () => {
  it.each([
    ["Metadata", { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a" } }],
    ["Object", { kind: "Service", apiVersion: "v1", ...object }],
    ["None", null],
  ] as const)("includeObject %s: the row holds that form", (includeObject, want) => {
    expect(JSON.parse(tableRow({ ...form, includeObject }, ["a", 1, null], object, stored))).toEqual({
      cells: ["a", 1, null],
      object: want,
    });
  });
});

it("conditions of an object's row: stand between its cells and its object", () => {
  const completed = { type: "Completed", status: "True", reason: "R", message: "m" } as const;
  const told: TableForm = { ...form, includeObject: "None", rowConditions: ({ metadata }) => (metadata?.name === "a" ? [completed] : []) };
  expect(tableRow(told, ["a"], object, stored)).toBe(`{"cells":["a"],"conditions":[${JSON.stringify(completed)}],"object":null}`);
  expect(tableRow(told, ["b"], { metadata: { name: "b" } }, "{}")).toBe('{"cells":["b"],"object":null}');
});

it("tableEnvelope: all columns and the list's metadata", () => {
  expect(
    whole(tableEnvelope(form, { resourceVersion: "5", continue: "t", remainingItemCount: 2 }), tableRow(form, ["a"], object, stored)),
  ).toEqual({
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: { resourceVersion: "5", continue: "t", remainingItemCount: 2 },
    columnDefinitions: columns,
    rows: [{ cells: ["a"], object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a" } } }],
  });
});

it("eventTable: the columns stand in the first event only", () => {
  const row = tableRow({ ...form, includeObject: "None" }, ["a"], object, stored);
  const shape = { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: { resourceVersion: "5" }, rows: [{ cells: ["a"], object: null }] };
  expect(JSON.parse(eventTable(form, row, "5", true))).toEqual({ ...shape, columnDefinitions: columns });
  expect(JSON.parse(eventTable(form, row, "5", false))).toEqual({ ...shape, columnDefinitions: null });
});

describe("parseIncludeObject", () => {
  it.each([
    ["", "Metadata"],
    ["Metadata", "Metadata"],
    ["Object", "Object"],
    ["None", "None"],
  ])("%j is %s", (text, want) => {
    expect(parseIncludeObject(text)).toEqual({ ok: true, value: want });
  });

  it("any other value: 400", () => {
    expect(parseIncludeObject("x")).toEqual({
      ok: false,
      error: `Unable to convert to Table as requested: includeObject: Invalid value: "x": must be 'Metadata', 'Object', 'None', or empty`,
    });
  });
});
