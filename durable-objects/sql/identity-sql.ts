/**
 * The stored name of an object. An object needs its name to find its peers, and one that its alarm wakes may not get it (platform limits of the
 * local runtime and of old alarms).
 */
export const IDENTITY_SCHEMA = "CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL) STRICT;";

/** The object's name: from the runtime, else as stored; throws when neither knows it. */
export function objectName(ctx: DurableObjectState): string {
  const { sql } = ctx.storage;
  const stored = sql.exec<{ name: string }>("SELECT name FROM identity").toArray()[0]?.name;
  if (stored !== undefined) return stored;
  const name = ctx.id.name;
  if (name === undefined) throw new Error("an object must be called by its name first");
  sql.exec("INSERT INTO identity (id, name) VALUES (1, ?)", name);
  return name;
}
