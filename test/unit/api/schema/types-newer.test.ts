/** What clients of the next version send beyond this one: every member of it is dropped, in JSON and in protobuf, as an apiserver of this version does. */
import { describe, expect, it } from "vitest";
import { decodeJson } from "../../../../src/api/schema/json/decode-json";
import { decodeProtobuf } from "../../../../src/api/schema/protobuf/decode-protobuf";
import * as dsl from "../../../../src/api/schema/dsl";
import { encodeProtobuf } from "../../../../src/api/schema/protobuf/encode-protobuf";
import type { FieldType, MessageSchema } from "../../../../src/api/schema/types";
import { additions, type Facts } from "../../../support/values/upstream-table";
import { ALL_KINDS } from "./all-kinds";
import { upstreamFacts } from "./upstream-facts";

type Json = Record<string, unknown>;

const SCALARS: Readonly<Record<string, { type: FieldType; sample: unknown }>> = {
  string: { type: dsl.string, sample: "a" },
  int32: { type: dsl.int32, sample: 1 },
  int64: { type: dsl.int64, sample: 1 },
  bool: { type: dsl.bool, sample: true },
  bytes: { type: dsl.bytes, sample: "YQ==" },
  Time: { type: dsl.time, sample: "2026-01-01T00:00:00Z" },
  MicroTime: { type: dsl.microTime, sample: "2026-01-01T00:00:00.000000Z" },
  IntOrString: { type: dsl.intOrString, sample: 1 },
  Quantity: { type: dsl.quantity, sample: "1" },
  FieldsV1: { type: dsl.fieldsV1, sample: { "f:a": {} } },
};
const PRESENCE: Readonly<Record<string, typeof dsl.plain>> = { omitempty: dsl.plain, pointer: dsl.pointer, always: dsl.always };

/** Schemas as a client of the version has them. */
class Schemas {
  readonly #made = new Map<string, MessageSchema>();

  constructor(private readonly facts: Facts) {}

  message(name: string): MessageSchema {
    const known = this.#made.get(name);
    if (known) return known;
    const { self, fields } = this.facts.get(name) ?? { self: [], fields: new Map<string, ReadonlyMap<string, string>>() };
    const specs = [...fields].map(([field, facts]): [string, dsl.FieldSpec] => {
      const [number, type] = [Number(facts.get("number")), this.#type(facts.get("type") ?? "")];
      const presence = facts.get("presence") ?? "";
      if (presence === "inline" && type.kind === "message") return [field, dsl.inline(number, type.message())];
      const spec = PRESENCE[presence];
      if (!spec) throw new Error(`${name}.${field}: presence ${presence}`);
      return [field, spec(number, type)];
    });
    const made = dsl.message(name, Object.fromEntries(specs), { isKind: self.includes("kind") });
    this.#made.set(name, made);
    return made;
  }

  #type(name: string): FieldType {
    if (name.startsWith("[]")) return dsl.listOf(this.#type(name.slice("[]".length)));
    if (name.startsWith("map[string]")) return dsl.mapOf(this.#type(name.slice("map[string]".length)));
    return SCALARS[name]?.type ?? dsl.ref(this.message(name));
  }
}

/** A value with every member, and what of it a server of the older version keeps. */
class Whole {
  /** paths of what it drops, as a warning names them */
  readonly dropped: string[] = [];
  /** the same as `message.member` */
  readonly met = new Set<string>();

  constructor(private readonly older: Facts) {}

  message(schema: MessageSchema, path: string, isKept: boolean): { sent: Json; kept: Json } {
    const [sent, kept]: [Json, Json] = [{}, {}];
    for (const field of schema.fields) {
      if (field.inline && field.type.kind === "message") {
        const inner = this.message(field.type.message(), path, isKept);
        Object.assign(sent, inner.sent);
        Object.assign(kept, inner.kept);
        continue;
      }
      const isKnown = this.older.get(schema.name)?.fields.has(field.name) ?? false;
      const place = path === "" ? field.name : `${path}.${field.name}`;
      if (isKept && !isKnown) this.dropped.push(`unknown field "${place}"`);
      if (!isKnown) this.met.add(`${schema.name}.${field.name}`);
      const value = this.#value(field.type, place, isKept && isKnown);
      sent[field.name] = value.sent;
      if (isKnown) kept[field.name] = value.kept;
    }
    return { sent, kept };
  }

  #value(type: FieldType, path: string, isKept: boolean): { sent: unknown; kept: unknown } {
    if (type.kind === "message") return this.message(type.message(), path, isKept);
    if (type.kind === "list") {
      const { sent, kept } = this.#value(type.of, `${path}[0]`, isKept);
      return { sent: [sent], kept: [kept] };
    }
    if (type.kind === "map") {
      const { sent, kept } = this.#value(type.of, `${path}.a`, isKept);
      return { sent: { a: sent }, kept: { a: kept } };
    }
    const sample = Object.values(SCALARS).find((scalar) => scalar.type.kind === type.kind)?.sample;
    return { sent: sample, kept: sample };
  }
}

function decoded(result: ReturnType<typeof decodeJson>): { value: Json; problems: string[] } {
  if (!result.ok) throw new Error(result.error.cause);
  return result.value;
}

describe("a client of Kubernetes 1.37", async () => {
  const [older, newer] = [await upstreamFacts("1.36"), await upstreamFacts("1.37")];
  const schemas = new Schemas(newer);
  const typeMeta = { apiVersion: "v1", kind: "K" };
  const met = new Set<string>();

  it.each(ALL_KINDS.map((schema): [string, MessageSchema] => [schema.name, schema]))(
    "%s with every member: those of 1.36 are kept, the others dropped and named",
    (name, schema) => {
      const theirs = schemas.message(name);
      const whole = new Whole(older);
      const { sent, kept } = whole.message(theirs, "", true);
      for (const member of whole.met) met.add(member);
      const expected = decoded(decodeJson(JSON.stringify({ ...typeMeta, ...kept }), schema));
      expect(expected.problems).toEqual([]);
      const fromJson = decoded(decodeJson(JSON.stringify({ ...typeMeta, ...sent }), schema));
      expect(fromJson.value).toEqual(expected.value);
      expect(fromJson.problems).toEqual(whole.dropped);
      expect(decoded(decodeProtobuf(encodeProtobuf(sent, theirs, typeMeta), schema)).value).toEqual(expected.value);
    },
  );

  it("all additions of 1.37: were among the members", () => {
    expect(met.size).toBeGreaterThan(30);
    const added = additions(older, newer).flatMap(({ message, members }) => members.map((member) => `${message}.${member.name}`));
    expect([...met].sort()).toEqual(added.sort());
  });
});
