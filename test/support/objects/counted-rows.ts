/** Counts the rows that SQL statements of Durable Objects read and write: what the platform bills. */
import { runInDurableObject } from "cloudflare:test";

export interface Statement {
  /** the name of the object, where it has stored one (durable-objects/sql/identity-sql.ts) */
  object: string | undefined;
  query: string;
  read: number;
  written: number;
}

type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>;

/** The cursor, after each use of which `note` is called: in the object whose cursor it is, which alone may ask what it has read. */
function noted(cursor: Cursor, note: () => void): Cursor {
  note();
  return new Proxy(cursor, {
    get(target, key) {
      if (key === Symbol.iterator) {
        return function* () {
          for (const row of target) {
            note();
            yield row;
          }
          note();
        };
      }
      const member = Reflect.get(target, key, target) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        const result = (member as (...given: unknown[]) => unknown).apply(target, args);
        note();
        return result;
      };
    },
  });
}

const names = new WeakMap<SqlStorage, string>();

/** The name of the object whose SQL this is. To be called in that object. */
export function objectNameOf(sql: SqlStorage, exec: SqlStorage["exec"] = sql.exec): string | undefined {
  let name = names.get(sql);
  if (name === undefined) {
    try {
      name = exec.call(sql, "SELECT name FROM identity").toArray()[0]?.["name"] as string | undefined;
    } catch {
      // It has no such table, or not yet.
      return undefined;
    }
    if (name !== undefined) names.set(sql, name);
  }
  return name;
}

/** The statements of all objects while `work` runs. `someObject`: any that has SQLite. */
export async function countedStatements(someObject: DurableObjectStub, work: () => Promise<unknown>): Promise<Statement[]> {
  const prototype = await runInDurableObject(someObject, (_, { storage }) => Object.getPrototypeOf(storage.sql) as SqlStorage);
  const exec = prototype.exec;
  const statements: Statement[] = [];
  prototype.exec = function (this: SqlStorage, query: string, ...values: unknown[]) {
    const cursor = exec.call(this, query, ...values) as Cursor;
    const statement: Statement = { object: objectNameOf(this, exec), query, read: 0, written: 0 };
    statements.push(statement);
    return noted(cursor, () => {
      const name = statement.object ?? objectNameOf(this, exec);
      Object.assign(statement, { object: name, read: cursor.rowsRead, written: cursor.rowsWritten });
    });
  } as typeof exec;
  try {
    await work();
  } finally {
    prototype.exec = exec;
  }
  return statements;
}

/** Those of this object: others go on with late work. */
export async function statementsOf(stub: DurableObjectStub, work: () => Promise<unknown>): Promise<Statement[]> {
  return (await countedStatements(stub, work)).filter(({ object }) => object === stub.name);
}
