/**
 * Upstream's facts about the served messages: the tables of test/fixtures/upstream, which scripts/dev/upstream extracts, and the same
 * facts about the schemas of src/api/schema. Both are read into one form, so that the comparison is plain equality.
 */
import type { Field, FieldType, MessageSchema } from "../../../../src/api/schema/types";
import { type Facts, factsIn, type MessageFacts } from "../../../support/values/upstream-table";

const tables = import.meta.glob("../../../fixtures/upstream/kubernetes-*.tsv", { query: "?raw", import: "default" });

/** The table of one version of Kubernetes, for example 1.36. Throws when the repository has none. */
export async function upstreamFacts(version: string): Promise<Facts> {
  const text = await tables[`../../../fixtures/upstream/kubernetes-${version}.tsv`]?.();
  if (typeof text !== "string") throw new Error(`test/fixtures/upstream has no table of Kubernetes ${version}`);
  return factsIn(text);
}

/** The same facts about the given kinds and all messages that they reach, inlined ones included. Throws when two share a name. */
export function schemaFacts(roots: readonly MessageSchema[]): Facts {
  const schemas = new Map<string, MessageSchema>();
  const found = new Map<string, MessageFacts>();
  const visit = (schema: MessageSchema): void => {
    if (schemas.get(schema.name) === schema) return;
    if (schemas.has(schema.name)) throw new Error(`two messages are called ${schema.name}`);
    schemas.set(schema.name, schema);
    const self = [...(schema.atomic ? ["atomic"] : []), ...(schema.isKind ? ["kind"] : [])];
    found.set(schema.name, { self, fields: new Map(schema.fields.map((field) => [field.name, fieldFacts(field)])) });
    for (const field of schema.fields) {
      const message = messageIn(field.type);
      if (message) visit(message);
    }
  };
  for (const root of roots) visit(root);
  return found;
}

function messageIn(type: FieldType): MessageSchema | undefined {
  if (type.kind === "message") return type.message();
  return type.kind === "list" || type.kind === "map" ? messageIn(type.of) : undefined;
}

const PRESENCE = { plain: "omitempty", pointer: "pointer", always: "always" } as const;

function fieldFacts(field: Field): ReadonlyMap<string, string> {
  const facts = new Map<string, string>([
    ["number", String(field.number)],
    ["type", typeName(field.type)],
    ["presence", field.inline ? "inline" : PRESENCE[field.presence]],
  ]);
  if (field.required) facts.set("required", "yes");
  if (field.default !== undefined) facts.set("default", JSON.stringify(field.default));
  const values = enumIn(field.type);
  if (values) facts.set("enum", [...values].sort().join());
  if (field.type.kind === "map" && field.type.atomic) facts.set("map", "atomic");
  if (field.type.kind !== "list") return facts;
  const { mergeKey, retainKeys, listType = "atomic", listMapKeys } = field.type.list ?? {};
  facts.set("list", listType);
  if (listMapKeys) facts.set("keys", listMapKeys.join());
  if (mergeKey !== undefined || retainKeys) {
    facts.set("strategy", [...(mergeKey === undefined ? [] : ["merge"]), ...(retainKeys ? ["retainKeys"] : [])].join());
  }
  if (mergeKey !== undefined && mergeKey !== "set") facts.set("mergeKey", mergeKey);
  return facts;
}

/** A type as Go writes it. */
function typeName(type: FieldType): string {
  switch (type.kind) {
    case "message":
      return type.message().name;
    case "list":
      return `[]${typeName(type.of)}`;
    case "map":
      return `map[string]${typeName(type.of)}`;
    case "time":
    case "microTime":
    case "intOrString":
    case "quantity":
    case "fieldsV1":
      return type.kind.charAt(0).toUpperCase() + type.kind.slice(1);
    default:
      return type.kind;
  }
}

function enumIn(type: FieldType): readonly string[] | undefined {
  if (type.kind === "list" || type.kind === "map") return enumIn(type.of);
  return type.kind === "string" ? type.enum : undefined;
}

/** One line for each difference, the message's and field's name first. */
export function differences(upstream: Facts, ours: Facts): string[] {
  return [...new Set([...upstream.keys(), ...ours.keys()])].sort().flatMap((name) => {
    const theirs = upstream.get(name);
    const own = ours.get(name);
    if (!theirs) return [`${name}: unknown upstream`];
    if (!own) return [`${name}: missing`];
    const lines = theirs.self.join() === own.self.join() ? [] : [`${name}: [${theirs.self.join()}], here [${own.self.join()}]`];
    for (const field of new Set([...theirs.fields.keys(), ...own.fields.keys()])) {
      lines.push(...fieldDifferences(`${name}.${field}`, theirs.fields.get(field), own.fields.get(field)));
    }
    return lines;
  });
}

function fieldDifferences(
  name: string,
  theirs: ReadonlyMap<string, string> | undefined,
  own: ReadonlyMap<string, string> | undefined,
): string[] {
  if (!theirs) return [`${name}: unknown upstream`];
  if (!own) return [`${name}: missing`];
  return [...new Set([...theirs.keys(), ...own.keys()])]
    .filter((fact) => theirs.get(fact) !== own.get(fact))
    .map((fact) => `${name}: ${fact} ${theirs.get(fact) ?? "none"}, here ${own.get(fact) ?? "none"}`);
}
