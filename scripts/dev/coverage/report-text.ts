/** A coverage run as lines for people. */
import { type Comparison, METRICS, points, type Shares, type Summary, sumOf } from "./summary";

const NUMBER_WIDTH = 12;

/** A row for each folder below `src`, one for the objects, and the sum. */
export function tableOf(summary: Summary): string {
  const files = Object.entries(summary);
  const wings = [...new Set(files.map(([path]) => wingOf(path)))];
  const rows = wings.map((wing): [string, Shares] => [
    wing,
    sumOf(files.filter(([path]) => wingOf(path) === wing).map(([, file]) => file)),
  ]);
  rows.push(["all", sumOf(Object.values(summary))]);
  const width = Math.max(...rows.map(([name]) => name.length));
  const head = `${"".padEnd(width)}${METRICS.map((metric) => metric.padStart(NUMBER_WIDTH)).join("")}`;
  const lines = rows.map(([name, shares]) => {
    const numbers = METRICS.map((metric) => points(shares[metric]).toFixed(1).padStart(NUMBER_WIDTH));
    return `${name.padEnd(width)}${numbers.join("")}`;
  });
  return [head, ...lines].join("\n");
}

function wingOf(path: string): string {
  const [top = "", wing = ""] = path.split("/");
  return top === "src" ? `${top}/${wing}` : top;
}

export function comparisonText({ losses, gone }: Comparison): string {
  const lost = losses.map(({ path, of, uncovered }) => {
    const lines = uncovered.length > 0 ? `; lines ${uncovered.join(", ")}` : "";
    return `lost: ${path}: ${of.join(", ")}${lines}`;
  });
  const sum = `${String(losses.length)} files lost more than one point, ${String(gone.length)} are no longer there`;
  return [...gone.map((path) => `gone: ${path}`), ...lost, sum].join("\n");
}
