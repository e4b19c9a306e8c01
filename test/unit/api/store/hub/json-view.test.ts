import { expect, it } from "vitest";
import { definitionOf, definitions } from "../../../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../../../src/api/registry/resource";
import { podsDefinition } from "../../../../../src/api/registry/pods/definition";
import { jsonViewOf } from "../../../../../src/api/store/hub/json-view";
import type { JsonListForm } from "../../../../../src/api/store/hub/view";

interface TableRow {
  conditions?: object[];
}

function bookmarkOf(definition: ResourceDefinition, version = "v1"): string {
  return jsonViewOf(definition, version, { as: "object" }, () => 0).bookmark(9, false, false) as string;
}

it.each(definitions.map((definition) => [`${definition.resource}.${definition.group}`, definition] as const))(
  "a bookmark of %s: has every member that the kind requires",
  (_, definition) => {
    const { object } = JSON.parse(bookmarkOf(definition)) as { object: object };
    const required = definition.schema.fields.filter((field) => field.required).map(({ name }) => name);
    expect(Object.keys(object)).toEqual(expect.arrayContaining(["kind", "apiVersion", "metadata", ...required]));
  },
);

// As apiserver 1.36 sends them, without empty members that the kind does not require.
it.each([
  ["", "pods", ""],
  ["discovery.k8s.io", "endpointslices", ',"addressType":"","endpoints":null,"ports":null'],
  ["networking.k8s.io", "ipaddresses", ',"spec":{"parentRef":null}'],
  ["events.k8s.io", "events", ',"eventTime":null'],
  ["", "events", ',"involvedObject":{},"reportingComponent":"","reportingInstance":""'],
])("a bookmark of %s %s: has these members behind its metadata: %s", (group, resource, members) => {
  const definition = definitionOf(group, resource) as ResourceDefinition;
  const apiVersion = group === "" ? "v1" : `${group}/v1`;
  expect(bookmarkOf(definition)).toBe(
    `{"type":"BOOKMARK","object":{"kind":"${definition.kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"9"}${members}}}\n`,
  );
});

it("a Table of Pods: the row of an ended one says so, in a list and in a watch", () => {
  const view = jsonViewOf(podsDefinition, "v1", { as: "table", version: "v1", includeObject: "None" }, () => 0);
  const stored = (phase: string) => JSON.stringify({ metadata: { name: "p", resourceVersion: "1" }, status: { phase } });
  const conditions = [{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." }];
  const { row } = view.list({ resourceVersion: "1" }) as JsonListForm;
  const rows = [stored("Failed"), stored("Running")].map((text) => JSON.parse(row(text)) as TableRow);
  expect(rows.map((shown) => shown.conditions)).toEqual([conditions, undefined]);
  const event = JSON.parse(view.event("MODIFIED", stored("Failed"), true) as string) as { object: { rows: TableRow[] } };
  expect(event.object.rows[0]?.conditions).toEqual(conditions);
});
