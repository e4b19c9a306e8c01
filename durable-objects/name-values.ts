/** The names of all clusters: values by name. */
import type { NameStorage } from "../src/tenancy/cluster-names";

/** A value for each name. */
const NAMES = "name/";
/** Another one, which releases without it leave alone. */
const LIVES = "life/";

/** The NameStorage port. */
export function keptNames({ kv }: DurableObjectStorage): NameStorage {
  return {
    has: (name) => kv.get<true>(NAMES + name) === true,
    add(name) {
      if (!this.has(name)) kv.put(NAMES + name, true);
    },
    lifeOf: (name) => kv.get<string>(LIVES + name),
    noteLife(name, id) {
      if (id !== null) kv.put(LIVES + name, id);
      else kv.delete(LIVES + name);
    },
  };
}
