/** `npm run bench`: one table, with the machine it was measured on. Never part of the tests: a figure that is missed is shown, not failed. */
import { cpus, loadavg, totalmem } from "node:os";
import type { BenchRow } from "./bench/row";
import { oneOf, parseCommandLine, runProgram } from "./terminal/command-line";
import { progressOn } from "./terminal/progress";

/** Each is loaded when it is chosen: all together take seconds. */
const suites: Readonly<Record<string, () => Promise<BenchRow[]>>> = {
  core: async () => (await import("./bench/suites/core")).benchCore(),
  server: async () => (await import("./bench/suites/server")).benchServer(),
  fill: async () => (await import("./bench/suites/fill")).benchFill(),
  handoff: async () => (await import("./bench/suites/handoff")).benchHandoff(),
  surrounding: async () => (await import("./bench/suites/surrounding")).benchSurrounding(),
  churn: async () => (await import("./bench/suites/churn")).benchChurn(),
  repair: async () => (await import("./bench/suites/repair")).benchRepair(),
  restart: async () => (await import("./bench/suites/restart")).benchRestart(),
  ranges: async () => (await import("./bench/suites/ranges")).benchRanges(),
  lists: async () => (await import("./bench/suites/lists")).benchLists(),
  leases: async () => (await import("./bench/suites/leases")).benchLeases(),
  watchers: async () => (await import("./bench/suites/watchers")).benchWatchers(),
  "watchers-burst": async () => (await import("./bench/suites/watchers-burst")).benchWatchersBurst(),
  overload: async () => (await import("./bench/suites/overload")).benchOverload(),
};
const names = Object.keys(suites);

const usage = `Usage: npm run bench -- [options]

Measures the server and its parts on this machine, each suite with servers and data of its own.

  --only NAMES        the suites to run, separated by commas: ${names.join(", ")} (all)
  --json              one JSON object for each figure, a line each
  --help              this text`;

await runProgram({
  name: "bench",
  usage,
  parse: (args) => {
    const options = { only: { type: "string", default: names.join(",") }, json: { type: "boolean", default: false } } as const;
    const parsed = parseCommandLine("npm run bench", { args, options });
    if (parsed === "help") return "help";
    return { json: parsed.values.json, chosen: parsed.values.only.split(",").map((name) => oneOf("--only", name, names)) };
  },
  main: async ({ json, chosen }) => {
    if (!json) console.log(machine());
    const progress = progressOn(process.stderr);
    for (const [index, name] of chosen.entries()) {
      if (!json) console.log(`\n${name} (load before: ${loadavg()[0]?.toFixed(2) ?? "?"})`);
      progress.show(name, index, chosen.length);
      const rows = (await suites[name]?.()) ?? [];
      progress.clear();
      if (json) for (const { name: row, value, unit } of rows) console.log(JSON.stringify({ name: row, value, unit }));
      else print(rows);
    }
    return 0;
  },
});

function machine(): string {
  const [cpu] = cpus();
  const memory = `${String(Math.round(totalmem() / 2 ** 30))} GiB`;
  return `${String(cpus().length)} x ${cpu?.model ?? "unknown CPU"}, ${memory}, Node ${process.version}, ${process.platform}`;
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
