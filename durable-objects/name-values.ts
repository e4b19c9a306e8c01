/** The list of all clusters: values by name. */
import type { NameEntry, NameStorage } from "../src/tenancy/cluster-names";

/** A value for each name. */
const NAMES = "name/";
/** What is known of it: another one, which releases without it leave alone. */
const ENTRIES = "cluster/";
/** As the release before keeps it. */
const LIVES = "life/";
const IMPORTED = "imported";

/** The NameStorage port. */
export function keptNames({ kv }: DurableObjectStorage): NameStorage {
  return {
    has: (name) => kv.get<true>(NAMES + name) === true,
    add(name) {
      if (!this.has(name)) kv.put(NAMES + name, true);
    },
    remove(name) {
      for (const prefix of [NAMES, ENTRIES, LIVES]) remove(kv, prefix + name);
    },
    names(after, limit) {
      const behind = after === "" ? {} : { startAfter: NAMES + after };
      return [...kv.list({ prefix: NAMES, ...behind, limit })].map(([key]) => key.slice(NAMES.length));
    },
    entryOf: (name) => kv.get<NameEntry>(ENTRIES + name),
    saveEntry(name, entry) {
      kv.put(ENTRIES + name, entry);
      remove(kv, LIVES + name);
    },
    lifeOf: (name) => kv.get<string>(LIVES + name),
    noteLife(name, id) {
      if (id !== null) kv.put(LIVES + name, id);
      else kv.delete(LIVES + name);
    },
    isImported: () => kv.get<true>(IMPORTED) === true,
    noteImported: () => kv.put(IMPORTED, true),
  };
}

/** Costs no row where there is nothing. */
function remove(kv: SyncKvStorage, key: string): void {
  if (kv.get(key) !== undefined) kv.delete(key);
}
