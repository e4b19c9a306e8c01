/** The arithmetic of `npm run model`, and the table of bounds that it shows. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { billed, boundedOperations, months, sumOf } from "../../../scripts/dev/model/operations";
import { dollars, dollarsOfMillion, PRICES, usageOf } from "../../../scripts/dev/model/prices";
import { boundTables, measuredTable } from "../../../scripts/dev/model/tables";
import { type Count, ECONOMY, METERS } from "../../support/economy/bounds";
import { NOT_OF_OBJECTS, TIMER, TIMERS } from "../../support/economy/timers";
import { CREATED_ROWS } from "../../support/economy/created-rows";

const NOTHING: Count = { rows: 0, calls: 0, made: 0, alarms: 0, values: 0, puts: 0 };
const TESTS = ["test/object/economy", "test/object/further/economy"];
const MILLION = 1e6;

describe("dollars", () => {
  it("a million operations that write 43 rows and make 77 calls: rows, calls and the requests themselves", () => {
    const usage = usageOf([[billed({ ...NOTHING, rows: 43, calls: 77 }, 1), MILLION]]);
    expect(usage).toEqual({ workerRequests: MILLION, objectRequests: 77 * MILLION, rowsWritten: 43 * MILLION, keysWritten: 0 });
    expect(dollars(usage)).toBeCloseTo(43 + 77 * 0.15 + 0.3, 6);
    expect(dollarsOfMillion(billed({ ...NOTHING, rows: 43, calls: 77 }, 1))).toBe(dollars(usage));
  });

  it("a month of renewals, one in ten seconds, of six rows and one call", () => {
    expect(dollars(usageOf([[billed({ ...NOTHING, rows: 6, calls: 1 }, 1), 259_200]]))).toBeCloseTo(1.67, 2);
  });

  it("an alarm: a row when it is set, a call when it rings; a value: a row; a write of the key-value store: as much as five rows", () => {
    expect(billed({ ...NOTHING, alarms: 1, values: 1 }, 0)).toMatchObject({ rowsWritten: 2, objectRequests: 1, workerRequests: 0 });
    expect(dollars({ keysWritten: 1 })).toBeCloseTo(dollars({ rowsWritten: 5 }), 12);
  });

  it("nothing: nothing", () => {
    expect(dollars({})).toBe(0);
    expect(usageOf([])).toEqual({});
  });
});

describe("the table of bounds", () => {
  const operations = boundedOperations();

  it("each operation is measured by a test", () => {
    const tests = TESTS.flatMap((folder) => readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8")));
    expect(Object.keys(ECONOMY).filter((operation) => !tests.some((text) => text.includes(`"${operation}"`)))).toEqual([]);
  });

  it("an aim is below its bound", () => {
    const reached = operations.flatMap(({ operation, bound }) =>
      Object.entries((ECONOMY[operation] as { aim?: Partial<Count> }).aim ?? {})
        .filter(([meter, aim]) => aim >= bound[meter as keyof Count])
        .map(([meter]) => `${operation}: ${meter}`),
    );
    expect(reached).toEqual([]);
  });

  it("what is wanted costs no more than what is", () => {
    for (const { operation, bound, aim } of operations)
      for (const meter of METERS) expect(aim[meter], `${operation}: ${meter}`).toBeLessThanOrEqual(bound[meter]);
  });

  it("the rows of a create have a reason, and are as many as its bound", () => {
    expect(sumOf(CREATED_ROWS)).toBe(ECONOMY["Service: created alone"].rows);
    expect(CREATED_ROWS.filter(({ why }) => why.length < 5)).toEqual([]);
  });
});

describe("months", () => {
  it("a month with a goal costs no more", () => {
    for (const { what, usage, goal } of months()) if (goal !== undefined) expect(dollars(usage), what).toBeLessThanOrEqual(goal);
  });

  it("the parts of a month: together they are its dollars, and each has its time awake and its CPU where it has calls", () => {
    const inParts = months().flatMap((one) => (one.parts ? [{ ...one, parts: one.parts }] : []));
    expect(inParts.length).toBeGreaterThan(1);
    for (const { what, parts, usage } of inParts) {
      expect(
        parts.reduce((sum, part) => sum + dollars(part.usage) * part.times, 0),
        what,
      ).toBeCloseTo(dollars(usage), 6);
      for (const part of parts) if (part.usage.objectRequests) expect(part.usage.objectGbSeconds, part.what).toBeGreaterThan(0);
    }
  });
});

describe("timers of objects", () => {
  const sources = ["src", "durable-objects"]
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith(".ts") && !NOT_OF_OBJECTS.test(file));
  const code = (file: string): string[] =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => !/^\s*(?:\*|\/\/|\/\*\*|import )|export function (?:pause|throttled)/.test(line));

  it("each file that sets one has a row, and each row a file", () => {
    expect(sources.length).toBeGreaterThan(300);
    const found = sources.filter((file) => code(file).some((line) => TIMER.test(line)));
    expect(found.sort()).toEqual(Object.keys(TIMERS).sort());
  });

  it.each(["clock.after(5, work)", "this.#clock.sleep(5)", "setInterval(look, 5)", "throttled(clock, 5, work)", "await pause(clock, 5)"])(
    "%s: is one",
    (line) => expect(TIMER.test(line)).toBe(true),
  );

  it("none keeps its object for longer than a call may last, unless something hangs or a create was refused", () => {
    const long = Object.entries(TIMERS).filter(([, { seconds }]) => seconds > 30);
    expect(long.map(([, { when }]) => when).filter((when) => !/hangs|refused create/.test(when))).toEqual([]);
  });
});

describe("the tables of the page", () => {
  it("bounds: each operation with its dollars, each month, each row of a create, each price with its source", () => {
    const tables = boundTables();
    for (const { operation, usage } of boundedOperations()) {
      const row = tables.split("\n").find((line) => line.startsWith(`| ${operation} | `));
      expect(row?.split(" | ").at(-1), operation).toContain(dollarsOfMillion(usage).toFixed(2));
    }
    for (const { what } of months()) expect(tables).toContain(`| ${what} | `);
    for (const { unit, source } of Object.values(PRICES)) expect(tables).toMatch(new RegExp(`\\| ${unit} \\|.*<${source}>`));
    for (const { object, table } of CREATED_ROWS) expect(tables).toContain(`| ${object} | \`${table}\` | `);
  });

  it("a run: what was not measured is a dash", () => {
    const operation = {
      what: "x",
      rows: 1,
      bytes: 2048,
      values: 0,
      alarms: 0,
      calls: 2.04,
      keysRead: 0,
      keysWritten: 1,
      objects: 3,
      answerMs: 4,
    };
    const [, , row] = measuredTable([{ ...operation, hops: undefined, cpuMs: undefined }]).split("\n");
    expect(row).toBe("| x | 1 | 2 | – | 3 | 2 | 0 / 1 | 4 ms | – |");
  });
});
