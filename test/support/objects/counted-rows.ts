/** Counts the rows that SQL statements of Durable Objects read and write: what the platform bills. */
import { runInDurableObject } from "cloudflare:test";

export interface Statement {
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

/** The statements of all objects while `work` runs. `someObject`: any that has SQLite. */
export async function countedStatements(someObject: DurableObjectStub, work: () => Promise<unknown>): Promise<Statement[]> {
  const prototype = await runInDurableObject(someObject, (_, { storage }) => Object.getPrototypeOf(storage.sql) as SqlStorage);
  const exec = prototype.exec;
  const statements: Statement[] = [];
  prototype.exec = function (this: SqlStorage, query: string, ...values: unknown[]) {
    const cursor = exec.call(this, query, ...values) as Cursor;
    const statement = { query, read: 0, written: 0 };
    statements.push(statement);
    return noted(cursor, () => Object.assign(statement, { read: cursor.rowsRead, written: cursor.rowsWritten }));
  } as typeof exec;
  try {
    await work();
  } finally {
    prototype.exec = exec;
  }
  return statements;
}
