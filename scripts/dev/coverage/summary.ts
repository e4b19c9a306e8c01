/** What of each file ran: the form of coverage/summary.json, and two of them compared. */
import { readFileSync } from "node:fs";
import type * as Istanbul from "istanbul-lib-coverage";
import type { FileCoverageData } from "istanbul-lib-coverage";
import { requirePackage } from "../../running/root.mjs";
import { UserError } from "../../terminal/user-error";

const { createFileCoverage } = requirePackage("istanbul-lib-coverage") as typeof Istanbul;

export const METRICS = ["statements", "branches", "functions", "lines"] as const;
type Metric = (typeof METRICS)[number];

interface Share {
  covered: number;
  total: number;
}

export type Shares = Record<Metric, Share>;

export interface FileSummary extends Shares {
  /** numbers of the lines that nothing ran */
  uncovered: number[];
}

/** By path below the project's root. */
export type Summary = Record<string, FileSummary>;

/** A file may lose this many points: random tests do not take the same ways twice. */
const LOSS_MAX = 1;

export function summaryOf(files: ReadonlyMap<string, FileCoverageData>): Summary {
  return Object.fromEntries([...files].map(([path, counters]) => [path, summaryOfFile(counters)]));
}

function summaryOfFile(counters: FileCoverageData): FileSummary {
  const file = createFileCoverage(counters);
  const { statements, branches, functions, lines } = file.toSummary().toJSON();
  const share = ({ covered, total }: Share): Share => ({ covered, total });
  const shares = { statements: share(statements), branches: share(branches), functions: share(functions), lines: share(lines) };
  return { ...shares, uncovered: file.getUncoveredLines().map(Number) };
}

/** Throws UserError for a file that is none. */
export function readSummary(path: string): Summary {
  try {
    const summary = JSON.parse(readFileSync(path, "utf8")) as Summary;
    for (const file of Object.values(summary)) for (const metric of METRICS) points(file[metric]);
    return summary;
  } catch (error) {
    throw new UserError(`${path} is no summary of a coverage run: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Of a file without branches no branch is missed. */
export function points({ covered, total }: Share): number {
  return total === 0 ? 100 : (100 * covered) / total;
}

export function sumOf(files: readonly Shares[]): Shares {
  const sum = (metric: Metric): Share => ({
    covered: files.reduce((all, file) => all + file[metric].covered, 0),
    total: files.reduce((all, file) => all + file[metric].total, 0),
  });
  return { statements: sum("statements"), branches: sum("branches"), functions: sum("functions"), lines: sum("lines") };
}

export interface Loss {
  path: string;
  /** what was lost, as `branches 90.0 -> 80.0` */
  of: string[];
  /** lines that nothing runs now, as they are numbered now */
  uncovered: number[];
}

export interface Comparison {
  losses: Loss[];
  /** files that are no longer there: who deleted or renamed them looks at them */
  gone: string[];
}

export function compare(before: Summary, after: Summary): Comparison {
  const losses = Object.entries(before).flatMap(([path, old]) => {
    const now = after[path];
    return now ? lossOf(path, old, now) : [];
  });
  return { losses, gone: Object.keys(before).filter((path) => !(path in after)) };
}

function lossOf(path: string, old: FileSummary, now: FileSummary): Loss[] {
  const lost = METRICS.filter((metric) => points(old[metric]) - points(now[metric]) > LOSS_MAX);
  const of = lost.map((metric) => `${metric} ${points(old[metric]).toFixed(1)} -> ${points(now[metric]).toFixed(1)}`);
  const known = new Set(old.uncovered);
  return of.length > 0 ? [{ path, of, uncovered: now.uncovered.filter((line) => !known.has(line)) }] : [];
}
