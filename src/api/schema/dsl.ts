/**
 * The functions that schemas are written with:
 *
 *   export const ServicePort = message("io.k8s.api.core.v1.ServicePort", {
 *     name: plain(1, string, "Name of the port."),
 *     port: required(3, int32, "…"),
 *     targetPort: plain(4, intOrString),
 *   });
 *
 * The number is the protobuf field number. `plain`, `pointer` and `always` are the presence of types.ts; `required` is `always` and required
 * in OpenAPI.
 */
import { assert } from "../../core/base/assert";
import type { Field, FieldType, ListSemantics, MessageSchema, Presence } from "./types";

export const string: FieldType = { kind: "string" };
export const int32: FieldType = { kind: "int32" };
export const int64: FieldType = { kind: "int64" };
export const bool: FieldType = { kind: "bool" };
export const bytes: FieldType = { kind: "bytes" };
export const time: FieldType = { kind: "time" };
export const microTime: FieldType = { kind: "microTime" };
export const intOrString: FieldType = { kind: "intOrString" };
export const quantity: FieldType = { kind: "quantity" };
export const fieldsV1: FieldType = { kind: "fieldsV1" };

/** A string of a closed set. Decoding takes other strings too; validation refuses them. */
export function enumOf(...values: readonly string[]): FieldType {
  return { kind: "string", enum: values };
}

export function ref(schema: MessageSchema): FieldType {
  return { kind: "message", message: () => schema };
}

export function listOf(of: FieldType, list?: ListSemantics): FieldType {
  return list ? { kind: "list", of, list } : { kind: "list", of };
}

/** A map from string. */
export function mapOf(of: FieldType, options: { atomic?: boolean } = {}): FieldType {
  return options.atomic ? { kind: "map", of, atomic: true } : { kind: "map", of };
}

/** A list that both strategic merge and server-side apply treat as keyed by one member. */
export function keyedListOf(schema: MessageSchema, key: string): FieldType {
  return listOf(ref(schema), { mergeKey: key, listType: "map", listMapKeys: [key] });
}

/** What a field states besides number, type and presence. */
export interface FieldOptions {
  required?: boolean;
  default?: unknown;
  inline?: boolean;
  isTransient?: boolean;
}

/** A field before it has its name. */
export type FieldSpec = Omit<Field, "name">;

function field(presence: Presence, number: number, type: FieldType, description: string, options: FieldOptions): FieldSpec {
  return { number, type, presence, ...(description ? { description } : {}), ...options };
}

/** Go field with omitempty: its zero value is absent in JSON. */
export function plain(number: number, type: FieldType, description = "", options: FieldOptions = {}): FieldSpec {
  return field("plain", number, type, description, options);
}

/** Go pointer: zero values are kept. */
export function pointer(number: number, type: FieldType, description = "", options: FieldOptions = {}): FieldSpec {
  return field("pointer", number, type, description, options);
}

/** Go field without omitempty: stands in JSON even when zero. */
export function always(number: number, type: FieldType, description = "", options: FieldOptions = {}): FieldSpec {
  return field("always", number, type, description, options);
}

/** A Go field without omitempty that OpenAPI calls required: nearly all fields without omitempty are. */
export function required(number: number, type: FieldType, description = ""): FieldSpec {
  return field("always", number, type, description, { required: true });
}

/** A message of its own in protobuf; in JSON its members stand in the enclosing object. */
export function inline(number: number, schema: MessageSchema): FieldSpec {
  return field("always", number, ref(schema), "", { inline: true });
}

export interface MessageOptions {
  description?: string;
  isKind?: boolean;
  atomic?: boolean;
  /** members that defaults set, with the shortest value: they count for the size of an object */
  stored?: Readonly<Record<string, unknown>>;
}

/** What Go prints of a scalar that nobody set. */
const ZEROS: Partial<Record<FieldType["kind"], unknown>> = { string: "", int32: 0, int64: 0, bool: false };

/** Builds a message and its indexes. Throws InvariantError on a repeated name or number: a schema is part of the program. */
export function message(name: string, fields: Record<string, FieldSpec>, { stored = {}, ...options }: MessageOptions = {}): MessageSchema {
  const named: Field[] = Object.entries(fields).map(([fieldName, spec]) => ({ name: fieldName, ...spec }));
  const byName = new Map<string, Field>();
  const byNumber = new Map<number, Field>();
  for (const entry of named) {
    for (const member of membersOf(entry)) {
      assert(!byName.has(member.name), `${name}: field ${member.name} is described twice`);
      byName.set(member.name, member);
    }
    if (entry.number === 0) continue;
    assert(!byNumber.has(entry.number), `${name}: number ${entry.number} is used twice`);
    byNumber.set(entry.number, entry);
  }
  const zeros = [...byName.values()].flatMap((entry): [string, unknown][] => {
    const zero = entry.presence === "always" ? ZEROS[entry.type.kind] : undefined;
    return zero === undefined ? [] : [[entry.name, zero]];
  });
  const besides = Object.entries(stored).map(([member, shortest]) => [member, JSON.stringify(shortest).length] as const);
  return { name, fields: named, byName, byNumber, zeros, stored: besides, ...options };
}

/** A kind: a message that also carries kind and apiVersion. */
export function kind(name: string, description: string, fields: Record<string, FieldSpec>): MessageSchema {
  return message(name, fields, { description, isKind: true });
}

/** The JSON members that a field stands for: itself, or the members of the message it inlines. */
function membersOf(entry: Field): readonly Field[] {
  if (!entry.inline) return [entry];
  assert(entry.type.kind === "message", `${entry.name}: only messages can be inlined`);
  return [...entry.type.message().byName.values()];
}
