/** Names in memory. */
import type { NameStorage } from "../../../src/tenancy/cluster-names";

export function memoryNameStorage(): NameStorage {
  const names = new Set<string>();
  return { has: (name) => names.has(name), add: (name) => void names.add(name) };
}
