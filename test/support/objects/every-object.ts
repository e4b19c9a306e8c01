/** The objects that there are, whichever class they are of. */
import { env, listDurableObjectIds } from "cloudflare:test";

/** Bindings of objects that wrangler.toml has; the test pool adds some of its own. */
export const OBJECT_BINDINGS: readonly string[] = Object.entries(env).flatMap(([name, binding]) =>
  typeof (binding as { idFromName?: unknown }).idFromName === "function" && !name.startsWith("__") ? [name] : [],
);

/** Each object by its binding and id. */
export async function everyObject(): Promise<Set<string>> {
  const found = new Set<string>();
  for (const binding of OBJECT_BINDINGS) {
    const namespace = (env as unknown as Record<string, DurableObjectNamespace>)[binding];
    if (!namespace) continue;
    for (const id of await listDurableObjectIds(namespace)) found.add(`${binding} ${id.toString()}`);
  }
  return found;
}
