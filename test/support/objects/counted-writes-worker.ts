/** The Worker of scripts/bench/renewal-cost.ts, here because it is type-checked for workerd and not for Node: the whole Worker, which counts what its objects write. */
import type { Env } from "../../../durable-objects/env";
import { ResourceStore as RealStore } from "../../../durable-objects/resource-store";
import worker from "../../../src/worker/index";

export * from "../../../src/worker/index";

const written = { rows: 0, bytes: 0 };

export class ResourceStore extends RealStore {
  constructor(ctx: DurableObjectState, env: Env) {
    countWrites(ctx.storage.sql);
    super(ctx, env);
  }
}

/** Of the objects of this class alone: each has statements of its own. */
function countWrites(sql: SqlStorage): void {
  const exec = sql.exec.bind(sql);
  const counted = <T extends Record<string, SqlStorageValue>>(query: string, ...values: unknown[]): SqlStorageCursor<T> => {
    const cursor = exec<T>(query, ...values);
    if (cursor.rowsWritten > 0) {
      written.rows += cursor.rowsWritten;
      for (const value of values) written.bytes += typeof value === "string" ? new TextEncoder().encode(value).length : 8;
    }
    return cursor;
  };
  Object.defineProperty(sql, "exec", { value: counted });
}

/** GET /written: the sums since the start. Everything else goes to the Worker. */
export default {
  fetch: (request: Request, env: Env, context: ExecutionContext) =>
    new URL(request.url).pathname === "/written" ? Response.json(written) : worker.fetch(request, env, context),
};
