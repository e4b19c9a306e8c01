/** Metrics as Prometheus reads them (text format 0.0.4). */
import type { HistogramValue } from "./histogram";

type Labels = Readonly<Record<string, string>>;

export type MetricFamily =
  | { name: string; type: "counter" | "gauge"; help: string; samples: { labels: Labels; value: number }[] }
  /** `bounds`: the inclusive upper bounds of the buckets, ascending */
  | { name: string; type: "histogram"; help: string; bounds: readonly number[]; samples: { labels: Labels; value: HistogramValue }[] };

function escapeLabel(value: string): string {
  return value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}

function sampleLine(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, labelValue]) => `${label}="${escapeLabel(labelValue)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}\n`;
}

/** Each printed bucket counts all observations up to its bound. */
function histogramLines(name: string, labels: Labels, bounds: readonly number[], { counts, sum }: HistogramValue): string {
  let text = "";
  let count = 0;
  for (const [index, bound] of [...bounds.map(String), "+Inf"].entries()) {
    count += counts[index] ?? 0;
    text += sampleLine(`${name}_bucket`, { ...labels, le: bound }, count);
  }
  return text + sampleLine(`${name}_sum`, labels, sum) + sampleLine(`${name}_count`, labels, count);
}

/** The whole text, one family after the other. A family without samples has its HELP and TYPE all the same. */
export function metricsText(families: readonly MetricFamily[]): string {
  let text = "";
  for (const family of families) {
    const { name, type, help } = family;
    text += `# HELP ${name} ${help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")}\n# TYPE ${name} ${type}\n`;
    if (family.type === "histogram") {
      for (const { labels, value } of family.samples) text += histogramLines(name, labels, family.bounds, value);
    } else for (const { labels, value } of family.samples) text += sampleLine(name, labels, value);
  }
  return text;
}
