/**
 * Data folders that earlier code wrote, one SQL text each (test/fixtures/schemas), and how one becomes Durable Objects and KV entries again.
 * A text is a header, then for each object a line `--@ object <binding> <name>` and the statements that make its tables and rows. The header may name
 * another text, whose objects stand before its own: `--@ with <text>`.
 */
import { abortAllDurableObjects, env, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import { directoryKey } from "../../../src/tenancy/directory-keys";
import type { Env } from "../../../durable-objects/platform/env";

/** The cluster that every text speaks of. */
export const OLD_CLUSTER = "default";

type Binding = { [K in keyof Env]-?: Env[K] extends DurableObjectNamespace ? K : never }[keyof Env];

/** Of objects that have tables. The view for proxies keeps nothing, and the list of clusters a value for each name. */
export type ObjectBinding = Exclude<Binding, "PROXY_VIEW" | "CLUSTER_NAMES">;

export interface OldObject {
  binding: ObjectBinding;
  name: string;
  sql: string;
}

const bindings = env as unknown as Env;
const files = import.meta.glob("../../fixtures/schemas/*.sql", { query: "?raw", import: "default" });

/** Names of the texts, oldest first. */
export const OLD_SCHEMAS = Object.keys(files)
  .map((path) => path.slice(path.lastIndexOf("/") + 1, -".sql".length))
  .sort();

/** The objects of one text. */
export async function oldObjects(schema: string): Promise<OldObject[]> {
  const text = String(await files[`../../fixtures/schemas/${schema}.sql`]?.());
  const base = /^--@ with (\S+)$/mu.exec(text)?.[1];
  const own = text
    .split(/^--@ object /mu)
    .slice(1)
    .map((part) => {
      const [, binding = "", name = "", sql = ""] = /^(\S+) (\S+)\n([\s\S]*)$/u.exec(part) ?? [];
      if (!(binding in bindings)) throw new Error(`${schema}: no binding ${binding}`);
      return { binding: binding as ObjectBinding, name, sql };
    });
  return base === undefined ? own : [...(await oldObjects(base)), ...own];
}

export function stubOf({ binding, name }: Pick<OldObject, "binding" | "name">): DurableObjectStub {
  return bindings[binding].getByName(name);
}

/**
 * Replaces all objects by the files of `objects`, with the entry of the directory that every cluster has had. No object runs when this resolves:
 * the constructors of today meet the old tables at the first call.
 */
export async function restore(objects: readonly OldObject[]): Promise<void> {
  // The Coordinator stands first in a text and comes last here: nobody may act on its old rows while other objects are empty.
  for (const object of objects.toReversed()) await replace(object);
  await abortAllDurableObjects();
  const { keys } = await bindings.DIRECTORY.list();
  for (const { name } of keys) await bindings.DIRECTORY.delete(name);
  await bindings.DIRECTORY.put(directoryKey(OLD_CLUSTER), "");
}

/** The object that has to run for this dies before it reads its rows. */
async function replace(object: OldObject): Promise<void> {
  const death = "its file is replaced";
  const replacing = runInDurableObject(stubOf(object), (_, state) =>
    state.blockConcurrencyWhile(async () => {
      const { storage } = state;
      await storage.deleteAlarm();
      storage.transactionSync(() => {
        for (const table of tablesIn(storage)) storage.sql.exec(`DROP TABLE "${table}"`);
        storage.sql.exec(object.sql);
      });
      await storage.sync();
      state.abort(death);
    }),
  );
  await expect(replacing).rejects.toThrow(death);
}

function tablesIn({ sql }: DurableObjectStorage): string[] {
  const rows = sql.exec<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 4) NOT IN ('_cf_', 'sqli')",
  );
  return rows.toArray().map(({ name }) => name);
}
