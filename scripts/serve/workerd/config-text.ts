/** The text of a configuration of workerd: a constant of the schema workerd.capnp (capnproto.org/language.html). */

/** Words of the language as they stand: the name of an enumerant, the content of a file. */
class Words {
  constructor(readonly text: string) {}
}

export type ConfigValue =
  string | number | boolean | Words | readonly ConfigValue[] | { readonly [field: string]: ConfigValue | undefined };

const HEAD = `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = `;
// eslint-disable-next-line no-control-regex -- what no string of the language may hold as it stands
const ESCAPED = /["\\\x00-\x1f\x7f]/g;

export function enumerant(name: string): Words {
  return new Words(name);
}

/** The content of a file. A path from the root is looked for below the folders of --import-path. */
export function embedded(path: string): Words {
  return new Words(`embed ${quoted(path)}`);
}

export function configText(config: ConfigValue): string {
  return `${HEAD}${textOf(config)};\n`;
}

function textOf(value: ConfigValue): string {
  if (typeof value === "string") return quoted(value);
  if (value instanceof Words) return value.text;
  if (typeof value !== "object") return String(value);
  if (isList(value)) return `[${value.map(textOf).join(", ")}]`;
  const fields = Object.entries(value).flatMap(([name, field]) => (field === undefined ? [] : [`${name} = ${textOf(field)}`]));
  return `(${fields.join(", ")})`;
}

function isList(value: object): value is readonly ConfigValue[] {
  return Array.isArray(value);
}

function quoted(text: string): string {
  return `"${text.replace(ESCAPED, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`)}"`;
}
