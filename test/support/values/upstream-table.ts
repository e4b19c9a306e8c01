/** The tables of test/fixtures/upstream: facts about the messages of one version of Kubernetes, which scripts/dev/upstream extracts. */

/** One message: its own marks, and the facts about each field as `name: value`. */
export interface MessageFacts {
  self: readonly string[];
  fields: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export type Facts = ReadonlyMap<string, MessageFacts>;

/** The facts of a table (its form is explained in its first lines). */
export function factsIn(table: string): Facts {
  const messages = new Map<string, { self: string[]; fields: Map<string, Map<string, string>> }>();
  let current: Map<string, Map<string, string>> | undefined;
  for (const line of table.split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [message = "", name = "", number = "", type = "", presence = "", ...further] = line.split("\t");
    if (message !== "") {
      current = new Map();
      messages.set(message, { self: line.split("\t").slice(1).sort(), fields: current });
      continue;
    }
    current?.set(name, normalized(new Map([["number", number], ["type", type], ["presence", presence], ...further.map(pair)])));
  }
  return messages;
}

/** A fact of the table: `list=map`, or a word that stands alone. */
function pair(fact: string): [string, string] {
  const at = fact.indexOf("=");
  return at < 0 ? [fact, "yes"] : [fact.slice(0, at), fact.slice(at + 1)];
}

/**
 * Adds what upstream's generators conclude from a missing marker (kube-openapi pkg/schemaconv): a list without +listType is
 * keyed by its merge key, a set when it merges without one, and atomic otherwise.
 */
function normalized(facts: Map<string, string>): Map<string, string> {
  if (facts.get("type")?.startsWith("[]") && !facts.has("list")) {
    const key = facts.get("mergeKey");
    const merges = facts.get("strategy")?.startsWith("merge") ?? false;
    facts.set("list", merges ? (key === undefined ? "set" : "map") : "atomic");
    if (merges && key !== undefined) facts.set("keys", key);
  }
  const values = facts.get("enum");
  if (values !== undefined) facts.set("enum", values.split(",").sort().join());
  for (const kind of ["map", "struct"]) if (facts.get(kind) === "granular") facts.delete(kind);
  return facts;
}

/** What a version adds to a message, or to the messages that older versions have. */
export interface Addition {
  message: string;
  /** the older version has no such message */
  isNew: boolean;
  members: { name: string; type: string }[];
}

/** Members that only the newer version has, by message. */
export function additions(older: Facts, newer: Facts): Addition[] {
  return [...newer].flatMap(([message, { fields }]) => {
    const known = older.get(message)?.fields;
    const members = [...fields].filter(([name]) => !known?.has(name)).map(([name, facts]) => ({ name, type: facts.get("type") ?? "" }));
    return members.length > 0 ? [{ message, isNew: known === undefined, members }] : [];
  });
}

/** `message.member` of members about which the versions state other facts: type, presence, list semantics, values. */
export function changes(older: Facts, newer: Facts): string[] {
  const text = (facts: ReadonlyMap<string, string> | undefined) => JSON.stringify([...(facts ?? [])].sort());
  return [...newer].flatMap(([message, { fields }]) => {
    const known = older.get(message)?.fields;
    return [...fields]
      .filter(([name, facts]) => known?.has(name) && text(known.get(name)) !== text(facts))
      .map(([name]) => `${message}.${name}`);
  });
}
