/** `npm run bench`: one table, with the machine it was measured on. Never part of the tests: a figure that is missed is shown, not failed. */
import { cpus, loadavg, totalmem } from "node:os";
import type { ComparedFigure } from "./bench/compared-figures";
import type { Comparison } from "./bench/against";
import { againstOptions, againstUsage, parseAgainst } from "./bench/against-options";
import type { BenchRow } from "./bench/row";
import { oneOf, parseCommandLine, runProgram, wholeNumber } from "../terminal/command-line";
import { progressOn } from "../terminal/progress";
import { UserError } from "../terminal/user-error";

/** Each is loaded when it is chosen: all together take seconds. */
const suites: Readonly<Record<string, (setting: { minutes?: number | undefined }) => Promise<BenchRow[]>>> = {
  core: async () => (await import("./bench/suites/addresses/core")).benchCore(),
  access: async () => (await import("./bench/suites/access")).benchAccess(),
  server: async () => (await import("./bench/suites/server")).benchServer(),
  "slow-commits": async () => (await import("./bench/suites/slow-commits")).benchSlowCommits(),
  https: async () => (await import("./bench/suites/https")).benchHttps(),
  authorization: async () => (await import("./bench/suites/authorization")).benchAuthorization(),
  fill: async () => (await import("./bench/suites/addresses/fill")).benchFill(),
  handoff: async () => (await import("./bench/suites/addresses/handoff")).benchHandoff(),
  surrounding: async () => (await import("./bench/suites/surrounding")).benchSurrounding(),
  churn: async () => (await import("./bench/suites/addresses/churn")).benchChurn(),
  repair: async () => (await import("./bench/suites/addresses/repair")).benchRepair(),
  restart: async () => (await import("./bench/suites/restart")).benchRestart(),
  ranges: async () => (await import("./bench/suites/addresses/ranges")).benchRanges(),
  tenants: async () => (await import("./bench/suites/addresses/tenants")).benchTenants(),
  "load-balancers": async () => (await import("./bench/suites/addresses/load-balancers")).benchLoadBalancers(),
  clusters: async () => (await import("./bench/suites/clusters")).benchClusters(),
  claims: async () => (await import("./bench/suites/addresses/claims")).benchClaims(),
  prefixes: async () => (await import("./bench/suites/addresses/prefixes")).benchPrefixes(),
  lists: async () => (await import("./bench/suites/lists")).benchLists(),
  leases: async () => (await import("./bench/suites/nodes/leases")).benchLeases(),
  "node-leases": async (setting) => (await import("./bench/suites/nodes/node-leases")).benchNodeLeases(setting),
  "node-health": async () => (await import("./bench/suites/nodes/node-health")).benchNodeHealth(),
  "lease-collection": async () => (await import("./bench/suites/nodes/lease-collection")).benchLeaseCollection(),
  "identity-slo": async (setting) => (await import("./bench/suites/nodes/identity-slo")).benchIdentitySlo(setting),
  watchers: async () => (await import("./bench/suites/watchers")).benchWatchers(),
  "watchers-burst": async () => (await import("./bench/suites/watchers-burst")).benchWatchersBurst(),
  "endpoint-slices": async () => (await import("./bench/suites/endpoints/endpoint-slices")).benchEndpointSlices(),
  "slice-watchers": async () => (await import("./bench/suites/endpoints/slice-watchers")).benchSliceWatchers(),
  "endpoint-resync": async () => (await import("./bench/suites/endpoints/endpoint-resync")).benchEndpointResync(),
  "kep-tables": async () => (await import("./bench/suites/addresses/kep-tables")).benchKepTables(),
  "endpoint-controllers": async () => (await import("./bench/suites/endpoints/endpoint-controllers")).benchEndpointControllers(),
  proxy: async () => (await import("./bench/suites/endpoints/proxy")).benchProxy(),
  "noisy-neighbour": async () => (await import("./bench/suites/noisy-neighbour")).benchNoisyNeighbour(),
  overload: async () => (await import("./bench/suites/overload")).benchOverload(),
  "profile-creates": async () => (await import("./bench/suites/profile")).benchProfile("creates"),
  "profile-creates-https": async () => (await import("./bench/suites/profile")).benchProfile("creates-https"),
  "profile-leases": async () => (await import("./bench/suites/profile")).benchProfile("leases"),
  "profile-watchers": async () => (await import("./bench/suites/profile")).benchProfile("watchers"),
};
const names = Object.keys(suites);
/** The others take some minutes together, these some each. */
const BY_NAME_ALONE = ["kep-tables", "identity-slo", ...names.filter((name) => name.startsWith("profile-"))];
const usual = names.filter((name) => !BY_NAME_ALONE.includes(name));

const usage = `Usage: npm run bench -- [options]

Measures the server and its parts on this machine, each suite with servers and data of its own.

  --only NAMES        the suites to run, separated by commas: ${names.join(", ")}
                      (all but ${BY_NAME_ALONE.join(", ")})
  --minutes N         how long node-leases renews and identity-slo looks (2 and 10)
  --against URL       instead of the suites: creates, lists and deletes of Services, Leases and watchers on the Kubernetes API server at
                      this URL and on a Servicenet of this run, in turn, with ratios; in a namespace that is deleted afterwards
  --beside FOLDER     the same on the server of another checkout, such as a worktree of the commit before: ratios of rounds in turn tell
                      what single runs do not, which differ by a fifth
  --json              one JSON object for each figure, a line each
  --help              this text

With --against or --beside:
${againstUsage}

Exit code: 0 measured, 1 it did not work, 2 wrong options.`;

await runProgram({
  name: "bench",
  usage,
  parse: (args) => {
    const options = {
      only: { type: "string" },
      minutes: { type: "string" },
      json: { type: "boolean", default: false },
      ...againstOptions,
    } as const;
    const parsed = parseCommandLine("npm run bench", { args, options });
    if (parsed === "help") return "help";
    const { only, json } = parsed.values;
    const minutes = parsed.values.minutes === undefined ? undefined : wholeNumber("--minutes", parsed.values.minutes, 1);
    const against = parseAgainst(parsed.values);
    for (const [option, value] of Object.entries({ only, minutes }))
      if (against && value !== undefined) throw new UserError(`--${option}: goes without --against and --beside`);
    return { json, against, minutes, chosen: (only?.split(",") ?? usual).map((name) => oneOf("--only", name, names)) };
  },
  main: async ({ json, against, minutes, chosen }) => {
    if (!json) console.log(machine());
    const progress = progressOn(process.stderr);
    if (against) {
      const { compare, compareCheckouts } = await import("./bench/against");
      const { other, sizes, rounds } = against;
      const figures: ComparedFigure[] = [];
      const comparison: Comparison = {
        ...{ sizes, rounds },
        begun: (name, done, total) => progress.show(name, done, total),
        measured: (ofSuite) => void figures.push(...ofSuite),
      };
      try {
        await (typeof other === "string" ? compareCheckouts(other, comparison) : compare(other, comparison));
      } finally {
        progress.clear();
        if (json) for (const figure of figures) console.log(JSON.stringify(figure));
        else if (figures.length > 0) printCompared(typeof other === "string" ? other : other.url, rounds, figures);
      }
      return 0;
    }
    for (const [index, name] of chosen.entries()) {
      if (!json) console.log(`\n${name} (load before: ${loadavg()[0]?.toFixed(2) ?? "?"})`);
      progress.show(name, index, chosen.length);
      const rows = (await suites[name]?.({ minutes })) ?? [];
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
    figure(row.value),
    row.unit,
    row.target === undefined ? "" : `${row.target} ${row.ok ? "ok" : "MISSED"}`,
    row.note ?? "",
  ]);
  printCells(cells, [1]);
}

function printCompared(other: string, rounds: number, figures: readonly ComparedFigure[]): void {
  const load = loadavg()[0]?.toFixed(2) ?? "?";
  const how = `in turn, rounds: ${String(rounds)} (load after: ${load})`;
  console.log(`\n${other} and a Servicenet of this run, ${how}; ratio: how many times better Servicenet is`);
  const head = ["", "there", "Servicenet", "", "ratio"];
  const rows = figures.map(({ name, against, servicenet, unit, ratio }) => [
    name,
    figure(against),
    figure(servicenet),
    unit,
    `${ratio.toFixed(2)}x`,
  ]);
  printCells([head, ...rows], [1, 2, 4]);
}

function figure(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: value < 1_000 ? 3 : 0 });
}

/** `right`: the columns of figures. */
function printCells(cells: readonly string[][], right: readonly number[]): void {
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  for (const row of cells) {
    const line = row.map((cell, column) =>
      right.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    console.log(`  ${line.join("  ").trimEnd()}`);
  }
}
