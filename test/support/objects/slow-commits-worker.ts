/**
 * The Worker of scripts/dev/bench/suites/slow-commits.ts, here because it is type-checked for workerd and not for Node: the whole Worker, with objects whose
 * commits take COMMIT_MS, as where they go to other machines. What an object answers and whom it calls waits for its commits under way, as behind the
 * platform's output gate. The commits of one object take their time beside each other and end in their order.
 */
import { DurableObject } from "cloudflare:workers";
import type { Env } from "../../../durable-objects/platform/env";
import * as real from "../../../src/worker/index";

interface SlowEnv extends Env {
  /** milliseconds; "0" = as fast as the disk is */
  COMMIT_MS: string;
}
type ObjectClass = new (ctx: DurableObjectState, env: Env) => object;
type Call = (...args: unknown[]) => unknown;

/** Rows that all objects have written, as far as their statements say, their values and alarms among them. */
let rows = 0;

class SlowCommits {
  readonly #commitMs: number;
  #last: Promise<void> | undefined;
  #isOpen = false;

  constructor(storage: DurableObjectStorage, commitMs: number) {
    this.#commitMs = commitMs;
    const { sql, kv } = storage;
    const exec = sql.exec.bind(sql);
    const noted = <T extends Record<string, SqlStorageValue>>(query: string, ...values: unknown[]): SqlStorageCursor<T> => {
      const cursor = exec<T>(query, ...values);
      if (cursor.rowsWritten > 0) this.#wrote(cursor.rowsWritten);
      return cursor;
    };
    Object.defineProperty(sql, "exec", { value: noted });
    for (const [target, methods] of [
      [kv, ["put", "delete"]],
      [storage, ["setAlarm", "deleteAlarm"]],
    ] as const) {
      for (const method of methods) {
        const write = (target as unknown as Record<string, Call>)[method]?.bind(target);
        const value = (...args: unknown[]): unknown => {
          this.#wrote(1);
          return write?.(...args);
        };
        Object.defineProperty(target, method, { value });
      }
    }
    const sync = storage.sync.bind(storage);
    Object.defineProperty(storage, "sync", { value: () => Promise.all([sync(), this.durable()]).then(() => undefined) });
  }

  /** Resolves when everything written so far is durable. */
  durable(): Promise<void> {
    return this.#last ?? Promise.resolve();
  }

  /** What one turn writes is one commit. */
  #wrote(count: number): void {
    rows += count;
    if (this.#commitMs === 0 || this.#isOpen) return;
    this.#isOpen = true;
    queueMicrotask(() => (this.#isOpen = false));
    const commit = scheduler.wait(this.#commitMs).then(() => {
      if (this.#last === commit) this.#last = undefined;
    });
    this.#last = commit;
  }
}

/** The bindings as an object has them whose calls wait for its commits. */
function behind(commits: SlowCommits, env: Env): Env {
  const isNamespace = (value: unknown): value is DurableObjectNamespace =>
    typeof value === "object" && value !== null && typeof (value as { idFromName?: unknown }).idFromName === "function";
  const gated = (namespace: DurableObjectNamespace): Pick<DurableObjectNamespace, "idFromName" | "get"> => ({
    idFromName: (name) => namespace.idFromName(name),
    get: (id, options) =>
      new Proxy(namespace.get(id, options), {
        get(stub, key) {
          const members = stub as unknown as Record<string | symbol, Call>;
          if (typeof members[key] !== "function") return members[key];
          // A member of a stub is called as such: any other use of it would be a call of its own.
          return (...args: unknown[]): Promise<unknown> => commits.durable().then(() => members[key]?.(...args));
        },
      }),
  });
  const entries = Object.entries(env).map(([name, value]): [string, unknown] => [name, isNamespace(value) ? gated(value) : value]);
  return Object.fromEntries(entries) as unknown as Env;
}

function slow<C extends ObjectClass>(Real: C): C {
  const commitsOf = new WeakMap<object, SlowCommits>();
  class Slow extends (Real as ObjectClass) {
    constructor(ctx: DurableObjectState, env: Env) {
      const commits = new SlowCommits(ctx.storage, Number((env as SlowEnv).COMMIT_MS));
      super(ctx, behind(commits, env));
      commitsOf.set(this, commits);
    }
  }
  for (let at = Real.prototype as object; at !== DurableObject.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)) as [string, { value?: unknown }][]) {
      if (name === "constructor" || typeof value !== "function" || Object.hasOwn(Slow.prototype, name)) continue;
      const method = value as Call;
      const answered = async function (this: object, ...args: unknown[]): Promise<unknown> {
        const result: unknown = await method.apply(this, args);
        await commitsOf.get(this)?.durable();
        return result;
      };
      Object.defineProperty(Slow.prototype, name, { value: answered, writable: true, configurable: true });
    }
  }
  return Slow as unknown as C;
}

export const ClusterNames = slow(real.ClusterNames);
export const ClusterRecord = slow(real.ClusterRecord);
export const Controller = slow(real.Controller);
export const Coordinator = slow(real.Coordinator);
export const CredentialStore = slow(real.CredentialStore);
export const IPAddressesStore = slow(real.IPAddressesStore);
export const NodeProxy = slow(real.NodeProxy);
export const ProxyView = slow(real.ProxyView);
export const ResourceStore = slow(real.ResourceStore);
export const ServiceCIDR = slow(real.ServiceCIDR);
export const ServicesStore = slow(real.ServicesStore);

/** GET /counted: the rows since the start. Everything else goes to the Worker. */
export const direct = {
  fetch: (request: Request<unknown, IncomingRequestCfProperties>, env: Env, context: ExecutionContext) =>
    // A target as clients write it is no whole URL.
    request.url.endsWith("/counted") ? Response.json({ rows }) : real.direct.fetch(request, env, context),
};

export default real.default;
