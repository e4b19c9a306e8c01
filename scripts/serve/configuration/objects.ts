/** The Durable Objects and KV namespaces of a configuration, in the form of the options of Miniflare, which wrangler makes, too. */
import { neededText, type Table, tableIn, tablesIn, textIn, textsIn } from "./fields";

/** `worker`: the name of the Worker, which has all classes. */
export function durableObjectsOf(
  fields: Table,
  worker: string,
): Record<string, { className: string; scriptName?: string; useSQLite?: boolean }> {
  const classes = classesOf(tablesIn(fields, "migrations"));
  const where = "durable_objects.bindings";
  const entries = tablesIn(tableIn(fields, "durable_objects"), "bindings", where).map((binding) => {
    const name = neededText(binding, "name", where);
    const className = neededText(binding, "class_name", where);
    const scriptName = textIn(binding, "script_name");
    if (scriptName !== undefined && scriptName !== worker)
      throw new Error(`the local server has no other Worker: "script_name" of "${where}" ${name}`);
    return [name, { className, scriptName, useSQLite: classes.get(className) }] as const;
  });
  return Object.fromEntries(entries);
}

/** Class -> whether its objects store with SQLite. */
function classesOf(migrations: readonly Table[]): Map<string, boolean> {
  const classes = new Map<string, boolean>();
  for (const migration of migrations) {
    const where = `migrations ${textIn(migration, "tag") ?? ""}`.trim();
    const existing = (name: string): boolean => {
      const usesSql = classes.get(name);
      if (usesSql === undefined) throw new Error(`"${where}" names ${name}, which no earlier migration has made`);
      return usesSql;
    };
    for (const name of textsIn(migration, "deleted_classes")) {
      existing(name);
      classes.delete(name);
    }
    for (const renamed of tablesIn(migration, "renamed_classes")) {
      const from = neededText(renamed, "from", `${where}: renamed_classes`);
      const usesSql = existing(from);
      classes.delete(from);
      classes.set(neededText(renamed, "to", `${where}: renamed_classes`), usesSql);
    }
    for (const [field, usesSql] of [
      ["new_classes", false],
      ["new_sqlite_classes", true],
    ] as const) {
      for (const name of textsIn(migration, field)) {
        if (classes.has(name)) throw new Error(`"${where}" makes ${name}, which an earlier one has made`);
        classes.set(name, usesSql);
      }
    }
  }
  return classes;
}

export function kvNamespacesOf(fields: Table): Record<string, { id: string }> {
  const entries = tablesIn(fields, "kv_namespaces").map((namespace) => {
    const binding = neededText(namespace, "binding", "kv_namespaces");
    return [binding, { id: textIn(namespace, "preview_id") ?? textIn(namespace, "id") ?? binding }] as const;
  });
  return Object.fromEntries(entries);
}
