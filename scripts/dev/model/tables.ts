/** The tables of docs/edge.md that the bounds and the prices decide, and the one that a run fills, as Markdown. */
import { HOPS, type Meter as Counted } from "../../../test/support/economy/bounds";
import { CREATED_ROWS } from "../../../test/support/economy/created-rows";
import type { MeasuredOperation } from "./measure";
import { TIMERS } from "../../../test/support/economy/timers";
import { type BoundedOperation, boundedOperations, GB_OF_OBJECT, type MonthPart, months, sumOf } from "./operations";
import { dollars, dollarsOfMillion, PRICES, PRICES_OF } from "./prices";

/** The sections behind "computed": nothing in them depends on a run. */
export function boundTables(): string {
  const created = String(sumOf(CREATED_ROWS));
  return [
    "## Operations",
    "At most, with everything that follows the answer. In parentheses: what is wanted, where that is less. Beside rows and calls an operation makes objects, sets alarms, writes values beside the tables, or writes the key-value store, as the third column says.",
    table(["operation", "rows", "calls of objects", "besides", "dollars per million"], boundedOperations().map(operationRow)),
    "## What an answer waits for",
    "Calls of objects that wait for one another before the answer, at most. Each takes the way from its caller to the object. An isolate that has not met the cluster is what `everything asleep` means, and objects that start.",
    table(
      ["request", "calls"],
      Object.entries(HOPS).map(([what, hops]) => [what, String(hops)]),
    ),
    "## A month of 30 days",
    "In dollars, by the bounds and beyond what the plan includes. CPU and the time that objects are awake come on top, except in the months whose parts stand below.",
    table(
      ["what", "at most", "wanted", "goal"],
      months().map(({ what, usage, usageAimed, goal }) => [
        what,
        money(dollars(usage)),
        money(dollars(usageAimed)),
        goal === undefined ? "–" : `≤ ${money(goal)}`,
      ]),
    ),
    ...months().flatMap(({ what, parts }) => (parts ? [`### In parts: ${what}`, partsTable(parts)] : [])),
    "The Worker's CPU and the time awake are assumptions, taken high. A request has 5 ms of CPU. A write keeps its object awake for 20 ms, a read for 5, and one that wakes it for 50. The runs of cron are the deployment's, and have a row of their own. Between these events nothing is awake: `test/object/slow/watch-sleep.test.ts` and `test/object/further/economy/between-events.test.ts` count it.",
    "## What stays awake after an answer",
    "The timers of objects: each keeps its object awake until it rings or is cancelled, for so many seconds at most. A body that its client takes slowly keeps its object, too.",
    table(
      ["file", "seconds", "when"],
      Object.entries(TIMERS).map(([file, { seconds, when }]) => [`\`${file}\``, String(seconds), when]),
    ),
    "## The rows of a create",
    `A Service with one selector, one port and one address, alone in its turn: ${created} rows at most. Each row stays for the reason beside it. \`owner\` is the object of the ServiceCIDR. What is written once for many changes is not among them: the state of a store, its counts, and how far controllers have read.`,
    table(
      ["object", "table", "rows", "why"],
      CREATED_ROWS.map(({ object, table, rows, why }) => [object, `\`${table}\``, String(rows), why]),
    ),
    "## Prices",
    `In dollars, as of ${PRICES_OF}. The paid plan costs 5 a month, with the included amounts.`,
    table(
      ["what", "per million", "included a month", "source"],
      Object.values(PRICES).map(({ unit, perMillion, included, source }) => [
        unit,
        String(perMillion),
        included.toLocaleString("en-US"),
        `<${source}>`,
      ]),
    ),
  ].join("\n\n");
}

function partsTable(parts: readonly MonthPart[]): string {
  const sum = parts.reduce((all, { usage, times }) => all + dollars(usage) * times, 0);
  const figure = (value: number | undefined): string => (value ? String(Math.round(value * 1e4) / 1e4) : "–");
  return table(
    ["part", "times", "requests", "calls of objects", "rows", "s awake", "ms of CPU", "dollars"],
    [
      ...parts.map(({ what, times, usage }) => [
        what,
        Math.round(times).toLocaleString("en-US"),
        ...[usage.workerRequests, usage.objectRequests, usage.rowsWritten].map(figure),
        figure((usage.objectGbSeconds ?? 0) / GB_OF_OBJECT),
        figure(usage.workerCpuMs),
        money(dollars(usage) * times),
      ]),
      ["together", ...Array.from({ length: 6 }, () => ""), money(sum)],
    ],
  );
}

function operationRow({ operation, bound, aim, usage, usageAimed }: BoundedOperation): string[] {
  const figure = (meter: Counted): string => withAim(String(bound[meter]), String(aim[meter]));
  const besides = (["made", "alarms", "values", "puts"] as const).filter((meter) => bound[meter] > 0);
  return [
    operation,
    figure("rows"),
    figure("calls"),
    besides.map((meter) => `${meter} ${figure(meter)}`).join(", ") || "–",
    withAim(money(dollarsOfMillion(usage)), money(dollarsOfMillion(usageAimed))),
  ];
}

/** What a run has measured. */
export function measuredTable(measured: readonly MeasuredOperation[]): string {
  return table(
    ["operation", "rows", "calls", "hops", "objects", "KiB written", "keys read / written", "answered in", "CPU"],
    measured.map(({ what, rows, calls, hops, objects, bytes, keysRead, keysWritten, answerMs, cpuMs }) => [
      what,
      figureOf(rows),
      figureOf(calls),
      hops === undefined ? "–" : String(hops),
      figureOf(objects),
      figureOf(bytes / 1024),
      `${figureOf(keysRead)} / ${figureOf(keysWritten)}`,
      `${figureOf(answerMs)} ms`,
      cpuMs === undefined ? "–" : `${figureOf(cpuMs)} ms`,
    ]),
  );
}

const withAim = (value: string, aim: string): string => (aim === value ? value : `${value} (${aim})`);
const money = (dollars: number): string => dollars.toFixed(2);
const figureOf = (value: number): string => String(Math.round(value * 10) / 10);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
