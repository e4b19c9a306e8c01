/** Measures what an operation costs in the whole Worker and real objects, and holds it against its row of bounds.ts. */
import { env, listDurableObjectIds, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { clusterShardName, clusterShardOf, shardNumberIn } from "../../../src/tenancy/shards";
import { countedCalls } from "../objects/counted-calls";
import { countedStatements, objectNameOf } from "../objects/counted-rows";
import { type Bound, type Count, ECONOMY, type Meter, METERS, type Operation } from "./bounds";

const bindings = env as unknown as Env;

interface Measured {
  count: Count;
  /** Rows by object and table, as "services objects". */
  rows: Map<string, number>;
  /** What each meter counted, the most first: "  3 rows   services objects". */
  lines: string[];
}

/** Objects of the deployment, which belong to no cluster. */
const DEPLOYMENT = /^(?:credentials|clusters|shards\/\d+)$/;

/** The object of a range has the uid of its ServiceCIDR as its name. */
const OWNER = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Objects that do not store their name, by their tables. */
const UNNAMED: Readonly<Record<string, string>> = {
  address: "owner",
  page: "owner",
  counter: "owner",
  released_lists: "owner",
  bearer_tokens: "credentials",
};
const ATTEMPTS = 3;
const NOTHING: Readonly<Count> = { rows: 0, calls: 0, made: 0, alarms: 0, values: 0, puts: 0 };
const NAMESPACES = Object.values(bindings).filter(
  (binding): binding is DurableObjectNamespace => (binding as object).constructor.name === "DurableObjectNamespace",
);

type Work = (attempt: number) => Promise<unknown>;

interface MeasureOptions {
  /** `work` does the operation so many times; the cost is that of one */
  times?: number;
  /** what has to be there, and is not measured */
  before?: Work;
  /** how the names of further objects begin that count */
  also?: string;
}

/** The measurements of one test. */
export class Economy {
  readonly #prefix: string;
  readonly #measured = new Map<Operation, Measured>();

  /** `prefix`: how the names of the objects that count begin, besides those of the deployment. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /**
   * What `work` and all that it causes cost. It is measured again where that is above the bound: on a busy machine a controller may begin a pass
   * more. `attempt`: 0, 1, … Of several measurements of an operation the dearest counts, of each meter.
   */
  async measure(operation: Operation, work: Work, { times = 1, before, also }: MeasureOptions = {}): Promise<void> {
    const earlier = this.#measured.get(operation);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (before) await countedCalls(() => before(attempt));
      const { count, rows, lines } = await measured(this.#prefix, () => work(attempt), also);
      for (const meter of METERS) count[meter] /= times;
      const isWithin = METERS.every((meter) => count[meter] <= boundOf(operation)[meter]);
      for (const meter of METERS) count[meter] = Math.max(count[meter], earlier?.count[meter] ?? 0);
      this.#measured.set(operation, { count, rows, lines: earlier ? [...earlier.lines, "and then", ...lines] : lines });
      if (isWithin) return;
    }
  }

  /** The rows of the last measurement by object and table, as "services objects"; "owner" is the object of a range. */
  rowsOf(operation: Operation): ReadonlyMap<string, number> {
    return this.#measured.get(operation)?.rows ?? new Map<string, number>();
  }

  /** Prints what was measured. Fails for what costs more than its bound, and says what was written and called for it. */
  expectWithinBounds(): void {
    const rows = [...this.#measured].map(([operation, { count }]) => [operation, ...METERS.map((meter) => shown(operation, meter, count))]);
    console.log(aligned([["operation: measured ≤ bound (aim)", ...METERS], ...rows]));
    const over = [...this.#measured].filter(([operation, { count }]) => METERS.some((meter) => count[meter] > boundOf(operation)[meter]));
    const told = over.map(([operation, { count, lines }]) =>
      [`${operation}: ${METERS.map((meter) => `${meter} ${shown(operation, meter, count)}`).join(", ")}`, ...lines].join("\n"),
    );
    expect(told.join("\n\n")).toBe("");
  }
}

function boundOf(operation: Operation): Count {
  return { ...NOTHING, ...(ECONOMY[operation] as Bound) };
}

function shown(operation: Operation, meter: Meter, count: Count): string {
  const { aim }: Bound = ECONOMY[operation];
  const bound = boundOf(operation)[meter];
  const wanted = aim?.[meter] !== undefined && aim[meter] < bound ? ` (${String(aim[meter])})` : "";
  const value = count[meter];
  return `${String(Math.round(value * 100) / 100)} ${value > bound ? ">" : "≤"} ${String(bound)}${wanted}`;
}

function aligned(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")).join("\n");
}

/**
 * Of one cluster (`name/`) its own shard counts alone. Another one is poked for its own clusters, as that of `default`, where the object of a new cluster is
 * written.
 */
function isMeasured(prefix: string, object: string): boolean {
  if (object.startsWith(prefix)) return true;
  const isOfOthers = prefix.endsWith("/") && shardNumberIn(object) !== undefined && object !== shardOf(prefix.slice(0, -1));
  return DEPLOYMENT.test(object) && !isOfOthers;
}

const shardOf = (cluster: string): string => clusterShardName(clusterShardOf(cluster));

async function measured(prefix: string, work: () => Promise<unknown>, also?: string): Promise<Measured> {
  const sums = new Map<string, number>();
  const rows = new Map<string, number>();
  const count = { ...NOTHING };
  /** `object` undefined: nobody knows which one. Objects of earlier tests are gone, so it is one of this. */
  const add = (meter: Meter, object: string | undefined, what: string, amount = 1): void => {
    const counts = object === undefined || isMeasured(prefix, object) || (also !== undefined && object.startsWith(also));
    if (amount === 0 || !counts) return;
    count[meter] += amount;
    const where = `${object?.slice(object.indexOf("/") + 1).replace(OWNER, "owner") ?? UNNAMED[what] ?? ""} ${what}`;
    if (meter === "rows") rows.set(where, (rows.get(where) ?? 0) + amount);
    const line = `${meter.padEnd(6)} ${where}`;
    sums.set(line, (sums.get(line) ?? 0) + amount);
  };
  const someObject = bindings.CLUSTER_RECORD.getByName("counted-calls/record");
  const unwatch = await watchWritesBesideTables(someObject, add);
  try {
    const before = await objectIds();
    const statements = await countedStatements(someObject, async () => {
      const calls = await countedCalls(work);
      for (const { object, method } of calls) add("calls", object, method);
      const after = await objectIds();
      const names = [...new Set(calls.map(({ object }) => object))];
      const isMade = (name: string): boolean => {
        const ids = NAMESPACES.map((namespace) => String(namespace.idFromName(name)));
        return ids.some((id) => after.has(id) && !before.has(id));
      };
      for (const name of names.filter(isMade)) add("made", name, "object");
    });
    for (const { object, query, written } of statements) add("rows", object, tableOf(query), written);
  } finally {
    unwatch();
  }
  const lines = [...sums].sort(([a, n], [b, m]) => m - n || a.localeCompare(b)).map(([line, n]) => `${String(n).padStart(4)} ${line}`);
  return { count, rows, lines };
}

/** Of all objects that are there. */
async function objectIds(): Promise<Set<string>> {
  const ids = await Promise.all(NAMESPACES.map((namespace) => listDurableObjectIds(namespace)));
  return new Set(ids.flat().map(String));
}

function tableOf(query: string): string {
  return /\b(?:INTO|UPDATE|FROM|TABLE|INDEX)\s+(\w+)/.exec(query)?.[1] ?? query;
}

type Note = (meter: Meter, object: string | undefined, what: string) => void;

/** Tells of what is written beside the tables, until the result is called. */
async function watchWritesBesideTables(someObject: DurableObjectStub, note: Note): Promise<() => void> {
  const [storages, values] = await runInDurableObject(
    someObject,
    (_, { storage }) =>
      [Object.getPrototypeOf(storage) as DurableObjectStorage, Object.getPrototypeOf(storage.kv) as SyncKvStorage] as const,
  );
  const keys = Object.getPrototypeOf(bindings.DIRECTORY) as KVNamespace;
  const noteValue = (_: SyncKvStorage, key: string): void => note("values", undefined, key);
  const noteKey = (_: KVNamespace, key: string): void => note("puts", undefined, key);
  const watched = [
    beforeEachCall(storages, "setAlarm", ({ sql }) => note("alarms", objectNameOf(sql), "setAlarm")),
    beforeEachCall(values, "put", noteValue),
    beforeEachCall(values, "delete", noteValue),
    beforeEachCall(keys, "put", noteKey),
    beforeEachCall(keys, "delete", noteKey),
  ];
  return () => {
    for (const end of watched) end();
  };
}

/** No spy of Vitest: there may be one of this method already. */
function beforeEachCall<T extends object, K extends keyof T>(
  prototype: T,
  method: K,
  work: (self: T, ...args: never[]) => void,
): () => void {
  const real = prototype[method] as (this: T, ...args: never[]) => unknown;
  prototype[method] = function (this: T, ...args: never[]): unknown {
    work(this, ...args);
    return real.apply(this, args);
  } as T[K];
  return () => {
    prototype[method] = real as T[K];
  };
}
