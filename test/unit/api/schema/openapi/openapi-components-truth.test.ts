/** The published schemas agree with decoding: random values of every kind, whole and with one member spoilt. */
import { describe, expect, it } from "vitest";
import { decodeJson } from "../../../../../src/api/schema/json/decode-json";
import { openApiComponents } from "../../../../../src/api/schema/openapi/openapi-components";
import type { FieldType, MessageSchema } from "../../../../../src/api/schema/types";
import { OpenApiValidator } from "../../../../support/values/openapi-validator";
import { seededRandom } from "../../../../support/sim/platform/seeded-random";
import { ALL_KINDS } from "../all-kinds";
import { RandomValues } from "../random-values";

type Json = Record<string, unknown>;

const SEED = 20261121;
const ROUNDS = 40;
const components = openApiComponents(ALL_KINDS);
const asDecoded = new OpenApiValidator(components, { strict: false });
const strict = new OpenApiValidator(components);

/** Every place of a value that holds a scalar or is empty, as a setter. */
function places(value: unknown, found: ((spoilt: unknown) => void)[] = []): ((spoilt: unknown) => void)[] {
  if (typeof value !== "object" || value === null) return found;
  for (const [name, member] of Object.entries(value)) {
    if (typeof member === "object" && member !== null) places(member, found);
    found.push((spoilt) => ((value as Json)[name] = spoilt));
  }
  return found;
}

/** Values of every JSON type; "7" is a quantity and a text, and no time. */
const SPOILT: readonly unknown[] = ["7", 12, 1.5, true, {}, []];

function takenByDecoding(schema: MessageSchema, value: unknown): boolean {
  const decoded = decodeJson(JSON.stringify(value), schema);
  return decoded.ok && decoded.value.problems.length === 0;
}

describe(`published schemas, from seed ${String(SEED)}`, () => {
  it.each(ALL_KINDS.map((schema): [string, MessageSchema] => [schema.name, schema]))(
    "%s: accepts the values that decoding accepts, and refuses the others",
    (name, schema) => {
      const random = seededRandom(SEED);
      const values = new RandomValues(random);
      let refused = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const value = values.message(schema);
        expect(asDecoded.errors(name, value)).toEqual([]);
        const setters = places(value);
        const spoil = setters[random.below(Math.max(1, setters.length))];
        const spoilt = SPOILT[random.below(SPOILT.length)];
        spoil?.(spoilt);
        const taken = takenByDecoding(schema, value);
        if (!taken) refused++;
        expect({ round, value, taken: asDecoded.errors(name, value).length === 0 }).toEqual({ round, value, taken });
      }
      expect(refused).toBeGreaterThan(0);
    },
  );
});

describe("published schemas", () => {
  it.each(Object.entries(components))("%s: keys of lists are members, defaults fit, required members are there", (name, component) => {
    const properties = (component["properties"] ?? {}) as Record<string, Json>;
    for (const required of (component["required"] ?? []) as string[]) expect(Object.keys(properties)).toContain(required);
    for (const [property, schema] of Object.entries(properties)) {
      const keys = schema["x-kubernetes-list-map-keys"] as string[] | undefined;
      expect(schema["x-kubernetes-list-type"] === "map").toBe(keys !== undefined);
      if (schema["type"] === "array") expect(["atomic", "map", "set"]).toContain(schema["x-kubernetes-list-type"]);
      if (keys) {
        const [reference] = ((schema["items"] as Json)["allOf"] ?? []) as { $ref: string }[];
        const item = components[reference?.$ref.replace("#/components/schemas/", "") ?? ""];
        expect(Object.keys((item?.["properties"] ?? {}) as Json)).toEqual(expect.arrayContaining(keys));
      }
      if (schema["default"] !== undefined)
        expect(
          strict.errors(name, { [property]: schema["default"] }).filter((e) => e.startsWith(`.${property}:`) && !e.endsWith("missing")),
        ).toEqual([]);
    }
  });

  it("the validator of these tests, a value outside an enum and a missing member: refused", () => {
    const type: FieldType | undefined = ALL_KINDS[0]?.byName.get("spec")?.type;
    expect(type?.kind).toBe("message");
    expect(strict.errors("io.k8s.api.core.v1.ServiceSpec", { type: "ClusterIP" })).toEqual([]);
    expect(strict.errors("io.k8s.api.core.v1.ServiceSpec", { type: "Other" })).toEqual([".type: not of the enum"]);
    expect(strict.errors("io.k8s.api.core.v1.ServicePort", { name: "a" })).toEqual([".port: missing"]);
  });
});
