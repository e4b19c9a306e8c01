/** Names in memory. */
import type { NameStorage } from "../../../src/tenancy/cluster-names";

export function memoryNameStorage(): NameStorage {
  const names = new Set<string>();
  const lives = new Map<string, string>();
  return {
    has: (name) => names.has(name),
    add: (name) => void names.add(name),
    lifeOf: (name) => lives.get(name),
    noteLife: (name, id) => void (id === null ? lives.delete(name) : lives.set(name, id)),
  };
}
