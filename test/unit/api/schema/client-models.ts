/**
 * The attribute tables of the official JavaScript client, as a second opinion on the schemas. They are read out of the
 * client's model files as text: importing its two thousand modules would cost seconds.
 */
import { shortName } from "../../../../src/api/schema/value-walk";
import type { FieldType, MessageSchema } from "../../../../src/api/schema/types";

interface Attribute {
  baseName: string;
  type: string;
  format: string;
}

/** Vite's glob import; each entry loads the text of one file. */
declare global {
  interface ImportMeta {
    glob(pattern: string, options: { query: "?raw"; import: "default" }): Record<string, () => Promise<unknown>>;
  }
}

const MODELS = "../../../../node_modules/@kubernetes/client-node/dist/gen/models/";
const files = import.meta.glob("../../../../node_modules/@kubernetes/client-node/dist/gen/models/*V1*.js", {
  query: "?raw",
  import: "default",
});

/** Names that two groups share carry their group in the client. */
function className(schema: MessageSchema): string {
  const name = shortName(schema);
  const group = schema.name.split(".").at(-3) ?? "";
  const shared = ["Event", "EventSeries", "EndpointPort", "ResourceClaim"].includes(name);
  const capital = group.charAt(0).toUpperCase() + group.slice(1);
  return shared ? `${capital}V1${name}` : `V1${name}`;
}

/** The client's attributes of a message, or undefined when the client does not know the message. */
export async function attributesOf(schema: MessageSchema): Promise<Attribute[] | undefined> {
  const text = await files[`${MODELS}${className(schema)}.js`]?.();
  const table = /\.attributeTypeMap = (\[[\s\S]*?\]);/.exec(String(text))?.[1];
  return table === undefined ? undefined : (JSON.parse(table) as Attribute[]);
}

/** How the client writes a field type; undefined = it writes such types in several ways. */
export function clientType(type: FieldType): { type: string; format?: string } | undefined {
  switch (type.kind) {
    case "string":
      return { type: "string", format: "" };
    case "quantity":
      return { type: "string", format: "" };
    case "bool":
      return { type: "boolean", format: "" };
    case "int32":
    case "int64":
      return { type: "number", format: type.kind };
    case "time":
      return { type: "Date", format: "date-time" };
    case "microTime":
      return { type: "V1MicroTime", format: "date-time-micro" };
    case "intOrString":
      return { type: "IntOrString", format: "int-or-string" };
    case "fieldsV1":
    case "any":
      return { type: "any" };
    case "message":
      return { type: className(type.message()) };
    case "list": {
      const of = clientType(type.of);
      return of && { type: `Array<${of.type}>` };
    }
    case "map": {
      const of = clientType(type.of);
      return of && { type: `{ [key: string]: ${of.type}; }` };
    }
  }
}

/** The messages that stand for themselves in JSON among all that `roots` reach (inlined ones do not). */
export function closureOf(roots: readonly MessageSchema[]): MessageSchema[] {
  const found = new Map<string, MessageSchema>();
  const visitType = (type: FieldType): void => {
    if (type.kind === "message") visit(type.message());
    else if (type.kind === "list" || type.kind === "map") visitType(type.of);
  };
  const visit = (schema: MessageSchema): void => {
    if (found.has(schema.name)) return;
    found.set(schema.name, schema);
    for (const field of schema.byName.values()) visitType(field.type);
  };
  for (const root of roots) visit(root);
  return [...found.values()];
}
