/** Objects of every class: which there are, and stubs of them. */
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

/** The platform's own stub of an object. One that the product makes names the version of the protocol in each call, and is another thing. */
export function platformStub<T extends Rpc.DurableObjectBranded | undefined = undefined>(made: unknown): DurableObjectStub<T> {
  const { id } = made as DurableObjectStub;
  for (const binding of OBJECT_BINDINGS) {
    const namespace = (env as unknown as Record<string, DurableObjectNamespace<T>>)[binding];
    // An id of another class is taken, too, and would name another object.
    if (namespace && id.name !== undefined && namespace.idFromName(id.name).equals(id)) return namespace.get(id);
  }
  throw new Error(`no class of objects has the id ${String(id)}`);
}
