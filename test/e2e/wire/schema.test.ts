/** What the server publishes about its types, against what it answers. */
import { describe, expect, it } from "vitest";
import { definitionsEverywhere } from "../../../src/api/registry/all";
import { OpenApiValidator } from "../../support/values/openapi-validator";
import { samples } from "../conformance/matrix/samples";
import { clusterForTests } from "../../support/server/cluster-for-tests";

type Json = Record<string, unknown>;

const cluster = clusterForTests();

const served = definitionsEverywhere.flatMap((definition) => definition.versions.map((version) => ({ definition, version })));

describe("OpenAPI v3 against answers", () => {
  it.each(served.map((one) => [`${one.definition.group}/${one.version} ${one.definition.resource}`, one] as const))(
    "%s: answers fit the published schema",
    async (_, { definition, version }) => {
      const root = definition.group === "" ? `api/${version}` : `apis/${definition.group}/${version}`;
      const { components } = (await (await fetch(`${cluster.url}/openapi/v3/${root}`)).json()) as {
        components: { schemas: Record<string, Json> };
      };
      const sample = samples[`${definition.group}/${definition.resource}`];
      const n = definition.versions.indexOf(version) + 1;
      const metadata = { name: sample?.name?.(n) ?? `sample-${definition.group || "core"}-${version}`.replaceAll(".", "-") };
      const body = {
        apiVersion: definition.group === "" ? version : `${definition.group}/${version}`,
        kind: definition.kind,
        metadata,
        ...sample?.content(n, "default"),
      };
      const url = `${cluster.url}/${root}/${definition.namespaced ? "namespaces/default/" : ""}${definition.resource}`;
      const response = await fetch(url, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
      const answer: unknown = await response.json();
      expect({ code: response.status, answer }).toMatchObject({ code: 201 });
      const validator = new OpenApiValidator(components.schemas);
      expect(validator.errors(definition.schema.name, body)).toEqual([]);
      expect(validator.errors(definition.schema.name, answer)).toEqual([]);
      expect(validator.errors(`${definition.schema.name}List`, await (await fetch(url)).json())).toEqual([]);
    },
  );
});
