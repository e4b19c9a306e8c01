/**
 * The Worker of scripts/dev/bench/counted-runtime.ts, here because it is type-checked for workerd and not for Node: the whole Worker, which counts what
 * its objects write, and which objects are called.
 */
import type { DurableObject } from "cloudflare:workers";
import type { Env } from "../../../durable-objects/platform/env";
import worker, * as product from "../../../src/worker/index";

/** Sums since the start. */
const counted = { rows: 0, bytes: 0, values: 0, alarms: 0, calls: 0, keysRead: 0, keysWritten: 0, underWay: 0 };
/** Ids of objects that were called since they were asked for. */
const called = new Set<string>();
/** Each call of an object begins so much later: who waits for one call after the other answers later by so many delays. */
let delayMs = 0;

type ObjectClass = new (ctx: DurableObjectState, env: Env) => DurableObject<Env>;

function countedClass(base: ObjectClass): ObjectClass {
  return class extends base {
    constructor(ctx: DurableObjectState, env: Env) {
      countWrites(ctx.storage);
      super(ctx, withCounting(env));
    }
  };
}

export const ClusterNames = countedClass(product.ClusterNames);
export const ClusterRecord = countedClass(product.ClusterRecord);
export const Controller = countedClass(product.Controller);
export const Coordinator = countedClass(product.Coordinator);
export const CredentialStore = countedClass(product.CredentialStore);
export const IPAddressesStore = countedClass(product.IPAddressesStore);
export const NodeProxy = countedClass(product.NodeProxy);
export const ProxyView = countedClass(product.ProxyView);
export const ResourceStore = countedClass(product.ResourceStore);
export const ServiceCIDR = countedClass(product.ServiceCIDR);
export const ServicesStore = countedClass(product.ServicesStore);

/** Of one object: each has a storage of its own. */
function countWrites(storage: DurableObjectStorage): void {
  const { sql, kv } = storage;
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
  countEach(kv, { put: () => counted.values++, delete: () => counted.values++ });
  countEach(storage, { setAlarm: () => counted.alarms++ });
}

/** Calls `notes` before each call of the methods of these names. */
function countEach(target: object, notes: Record<string, () => unknown>): void {
  for (const [name, note] of Object.entries(notes)) {
    const method = (target as Record<string, (...args: unknown[]) => unknown>)[name];
    if (!method) throw new Error(`there is no method ${name}`);
    const value = (...args: unknown[]): unknown => {
      note();
      return method.apply(target, args);
    };
    Object.defineProperty(target, name, { value });
  }
}

const envs = new WeakMap<Env, Env>();

/** The environment with bindings that count. The same one for the same environment: caches are kept by it. */
function withCounting(env: Env): Env {
  const known = envs.get(env);
  if (known) return known;
  const isNamespace = (value: unknown): value is DurableObjectNamespace =>
    typeof value === "object" && value !== null && typeof (value as { idFromName?: unknown }).idFromName === "function";
  const entries = Object.entries(env).map(([name, value]): [string, unknown] => [
    name,
    isNamespace(value) ? countedNamespace(value) : value,
  ]);
  const made = { ...Object.fromEntries(entries), DIRECTORY: countedKeys(env.DIRECTORY) } as unknown as Env;
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
            called.add(id.toString());
            // A member of a stub is called as such: any other use of it would be a call of its own.
            return followed(() => members[key]?.(...args));
          };
        },
      }),
  };
}

/** Who calls while this runs has work under way. */
async function followed(call: () => unknown): Promise<unknown> {
  counted.underWay++;
  try {
    if (delayMs > 0) await scheduler.wait(delayMs);
    return await call();
  } finally {
    counted.underWay--;
  }
}

function countedKeys(keys: KVNamespace): KVNamespace {
  return new Proxy(keys, {
    get(target, key) {
      const method = (target as unknown as Record<string | symbol, (...args: unknown[]) => unknown>)[key];
      if (typeof method !== "function") return method;
      return (...args: unknown[]): unknown => {
        // A list costs as much as a write.
        if (key === "get" || key === "getWithMetadata") counted.keysRead++;
        else counted.keysWritten++;
        return method.apply(target, args);
      };
    },
  });
}

/** GET /counted: the sums, and how many objects were called since the last time. ?delay=MS sets the delay of calls. */
function answer(url: URL): Response {
  delayMs = Number(url.searchParams.get("delay") ?? delayMs);
  const objects = called.size;
  called.clear();
  return Response.json({ ...counted, objects });
}

export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) => {
    const url = new URL(request.url);
    return url.pathname === "/counted" ? answer(url) : worker.fetch(request, withCounting(env), context);
  },
  scheduled: (controller: ScheduledController, env: Env, context: ExecutionContext) =>
    worker.scheduled(controller, withCounting(env), context),
};
