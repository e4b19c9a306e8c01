/**
 * The name of an object, kept by itself: an object that its alarm wakes may not be told its name (platform limits of the local
 * runtime and of old alarms), but needs it to find its peers.
 */
export const IDENTITY_SCHEMA = "CREATE TABLE identity (id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL) STRICT;";

/** The object's name: from the runtime, else as it was written down; throws when neither knows it. */
export function objectName(ctx: DurableObjectState): string {
  const { sql } = ctx.storage;
  const stored = sql.exec<{ name: string }>("SELECT name FROM identity").toArray()[0]?.name;
  if (stored !== undefined) return stored;
  const name = ctx.id.name;
  if (name === undefined) throw new Error("an object must be called by its name first");
  sql.exec("INSERT INTO identity (id, name) VALUES (1, ?)", name);
  return name;
}
