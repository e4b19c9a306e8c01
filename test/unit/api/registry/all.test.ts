import { describe, expect, it } from "vitest";
import { definitionOf, definitions, representationsOf } from "../../../../src/api/registry/all";

describe.each(definitions.map((definition) => [`${definition.group}/${definition.resource}`, definition] as const))(
  "%s",
  (_, definition) => {
    it("has one cell per column, with nothing set", () => {
      expect(definition.cells({}, 0)).toHaveLength(definition.columns.length);
    });

    it("has a column of format name", () => {
      expect(definition.columns.filter((column) => column.format === "name").map((column) => column.name)).toEqual(["Name"]);
    });

    it("lists the labels of its selectable fields", () => {
      expect(Object.keys(definition.selectableFields({})).sort()).toEqual([...definition.fieldLabels].sort());
    });

    it("is described by a schema of its kind", () => {
      expect(definition.schema.name.endsWith(`.${definition.kind}`)).toBe(true);
      expect(definition.schema.isKind).toBe(true);
      expect(definition.subresources.includes("status")).toBe(definition.schema.byName.has("status"));
    });

    it("is found by its name", () => {
      expect(definitionOf(definition.group, definition.resource)).toBe(definition);
    });

    it("has the singular that clients derive from its kind", () => {
      expect(definition.singular).toBe(definition.kind.toLowerCase());
    });
  },
);

it("resources: no two with one group and name", () => {
  expect(new Set(definitions.map(({ group, resource }) => `${group}/${resource}`)).size).toBe(definitions.length);
});

it("upstream's flags of each kind", () => {
  const row = (name: string) => {
    const definition = definitions.find(({ resource, group }) => resource === name && group !== "events.k8s.io");
    if (!definition) throw new Error(name);
    const { generation, allowCreateOnUpdate, allowUnconditionalUpdate, returnsDeletedObject, namespaced, shortNames } = definition;
    return [generation, allowCreateOnUpdate, allowUnconditionalUpdate, returnsDeletedObject, namespaced, shortNames.join()];
  };
  expect(row("services")).toEqual(["none", true, true, true, true, "svc"]);
  expect(row("endpointslices")).toEqual(["specAndLabels", false, true, false, true, ""]);
  expect(row("leases")).toEqual(["none", true, false, false, true, ""]);
  expect(row("servicecidrs")).toEqual(["none", false, true, false, false, ""]);
  expect(row("ipaddresses")).toEqual(["none", false, true, false, false, "ip"]);
  expect(row("nodes")).toEqual(["none", false, true, false, false, "no"]);
  expect(row("pods")).toEqual(["spec", false, true, true, true, "po"]);
  expect(row("namespaces")).toEqual(["none", false, true, false, false, "ns"]);
  expect(row("events")).toEqual(["none", true, true, false, true, "ev"]);
  expect(row("endpoints")).toEqual(["none", true, true, false, true, "ep"]);
});

it("deletecollection: every resource but namespaces", () => {
  expect(definitions.filter(({ verbs }) => !verbs.includes("deletecollection")).map(({ resource }) => resource)).toEqual(["namespaces"]);
});

it("events of events.k8s.io: a representation of core events", () => {
  const core = definitionOf("", "events");
  expect(core && representationsOf(core).map(({ group }) => group)).toEqual(["events.k8s.io"]);
});
