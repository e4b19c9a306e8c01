/**
 * The Worker of scripts/dev/bench/counted-runtime.ts, here because it is type-checked for workerd and not for Node: the whole Worker, which counts what its
 * stores and the health of nodes write, and which objects are called for it.
 */
import type { Env } from "../../../durable-objects/platform/env";
import { NodeProxy as RealNodeProxy } from "../../../durable-objects/node-proxy";
import { ResourceStore as RealStore } from "../../../durable-objects/resource-store";
import worker from "../../../src/worker/index";

export * from "../../../src/worker/index";

const counted = { rows: 0, bytes: 0, calls: 0 };

export class ResourceStore extends RealStore {
  constructor(ctx: DurableObjectState, env: Env) {
    countWrites(ctx.storage.sql);
    super(ctx, env);
  }
}

export class NodeProxy extends RealNodeProxy {
  constructor(ctx: DurableObjectState, env: Env) {
    countWrites(ctx.storage.sql);
    super(ctx, withCountedCalls(env));
  }
}

/** Of the objects of these classes alone: each has statements of its own. */
function countWrites(sql: SqlStorage): void {
  const exec = sql.exec.bind(sql);
  const countedExec = <T extends Record<string, SqlStorageValue>>(query: string, ...values: unknown[]): SqlStorageCursor<T> => {
    const cursor = exec<T>(query, ...values);
    if (cursor.rowsWritten > 0) {
      counted.rows += cursor.rowsWritten;
      for (const value of values) counted.bytes += typeof value === "string" ? new TextEncoder().encode(value).length : 8;
    }
    return cursor;
  };
  Object.defineProperty(sql, "exec", { value: countedExec });
}

const envs = new WeakMap<Env, Env>();

/** The environment with bindings that count each call of an object. The same one for the same environment: caches are kept by it. */
function withCountedCalls(env: Env): Env {
  const known = envs.get(env);
  if (known) return known;
  const isNamespace = (value: unknown): value is DurableObjectNamespace =>
    typeof value === "object" && value !== null && typeof (value as { idFromName?: unknown }).idFromName === "function";
  const entries = Object.entries(env).map(([name, value]): [string, unknown] => [
    name,
    isNamespace(value) ? countedNamespace(value) : value,
  ]);
  const made = Object.fromEntries(entries) as unknown as Env;
  envs.set(env, made);
  return made;
}

function countedNamespace(namespace: DurableObjectNamespace): Pick<DurableObjectNamespace, "idFromName" | "get"> {
  return {
    idFromName: (name) => namespace.idFromName(name),
    get: (id, options) =>
      new Proxy(namespace.get(id, options), {
        get(stub, key) {
          const members = stub as unknown as Record<string | symbol, (...args: unknown[]) => unknown>;
          if (typeof members[key] !== "function") return members[key];
          return (...args: unknown[]): unknown => {
            counted.calls++;
            // A member of a stub is called as such: any other use of it would be a call of its own.
            return members[key]?.(...args);
          };
        },
      }),
  };
}

/** GET /counted: the sums since the start. Everything else goes to the Worker. */
export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    new URL(request.url).pathname === "/counted" ? Response.json(counted) : worker.fetch(request, withCountedCalls(env), context),
};
