/** Names in memory. */
import type { NameEntry, NameStorage } from "../../../src/tenancy/cluster-names";

export function memoryNameStorage(): NameStorage {
  const names = new Set<string>();
  const entries = new Map<string, NameEntry>();
  const lives = new Map<string, string>();
  let isImported = false;
  return {
    has: (name) => names.has(name),
    add: (name) => void names.add(name),
    remove(name) {
      for (const kept of [names, entries, lives]) kept.delete(name);
    },
    names: (after, limit) =>
      [...names]
        .filter((name) => name > after)
        .sort()
        .slice(0, limit),
    entryOf: (name) => entries.get(name),
    saveEntry(name, entry) {
      entries.set(name, entry);
      lives.delete(name);
    },
    lifeOf: (name) => lives.get(name),
    noteLife: (name, id) => void (id === null ? lives.delete(name) : lives.set(name, id)),
    isImported: () => isImported,
    noteImported: () => void (isImported = true),
  };
}
