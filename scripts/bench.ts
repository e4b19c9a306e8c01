/**
 * `npm run bench`: one table, with the machine it was measured on. `--json` prints one object per line instead, `--only core,server`
 * chooses suites. Never part of the tests: a figure that is missed is shown, not failed.
 */
import { cpus, loadavg, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { benchChurn } from "./bench/churn";
import { benchCore } from "./bench/core";
import { benchFill } from "./bench/fill";
import { benchHandoff } from "./bench/handoff";
import { benchLeases } from "./bench/leases";
import { benchLists } from "./bench/lists";
import { benchOverload } from "./bench/overload";
import { benchRanges } from "./bench/ranges";
import { benchRepair } from "./bench/repair";
import { benchRestart } from "./bench/restart";
import type { BenchRow } from "./bench/row";
import { benchServer } from "./bench/server";
import { benchSurrounding } from "./bench/surrounding";
import { benchWatchers } from "./bench/watchers";
import { progressOn } from "./terminal/progress";

const suites: Record<string, () => Promise<BenchRow[]>> = {
  core: benchCore,
  server: benchServer,
  fill: benchFill,
  handoff: benchHandoff,
  surrounding: benchSurrounding,
  churn: benchChurn,
  repair: benchRepair,
  restart: benchRestart,
  ranges: benchRanges,
  lists: benchLists,
  leases: benchLeases,
  watchers: benchWatchers,
  overload: benchOverload,
};

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, only: { type: "string", default: Object.keys(suites).join(",") } },
});
const chosen = values.only.split(",").map((name) => {
  const suite = suites[name];
  if (!suite) {
    console.error(`There is no suite "${name}"; there are ${Object.keys(suites).join(", ")}.`);
    process.exit(1);
  }
  return { name, suite };
});

if (!values.json) {
  const [cpu] = cpus();
  console.log(
    `${String(cpus().length)} x ${cpu?.model ?? "unknown CPU"}, ${String(Math.round(totalmem() / 2 ** 30))} GiB, Node ${process.version}, ${process.platform}`,
  );
}
const progress = progressOn(process.stderr);
for (const [index, { name, suite }] of chosen.entries()) {
  if (!values.json) console.log(`\n${name} (load before: ${loadavg()[0]?.toFixed(2) ?? "?"})`);
  progress.show(name, index, chosen.length);
  const rows = await suite();
  progress.clear();
  if (values.json) for (const { name: row, value, unit } of rows) console.log(JSON.stringify({ name: row, value, unit }));
  else print(rows);
}

function print(rows: readonly BenchRow[]): void {
  const cells = rows.map((row) => [
    row.name,
    row.value.toLocaleString("en-US", { maximumFractionDigits: 3 }),
    row.unit,
    row.target === undefined ? "" : `${row.target} ${row.ok ? "ok" : "MISSED"}`,
    row.note ?? "",
  ]);
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  for (const row of cells) {
    const line = row.map((cell, column) => (column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0)));
    console.log(`  ${line.join("  ").trimEnd()}`);
  }
}
