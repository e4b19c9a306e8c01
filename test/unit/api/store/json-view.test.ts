import { expect, it } from "vitest";
import { definitionOf, definitions } from "../../../../src/api/registry/all";
import type { ResourceDefinition } from "../../../../src/api/registry/resource";
import { jsonViewOf } from "../../../../src/api/store/json-view";

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
