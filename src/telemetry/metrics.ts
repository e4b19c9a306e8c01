/** Metrics as Prometheus reads them (text format 0.0.4). */

export interface MetricFamily {
  name: string;
  type: "counter" | "gauge";
  help: string;
  samples: { labels: Readonly<Record<string, string>>; value: number }[];
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");
}

/** The whole text, one family after the other; families without samples still say that they exist. */
export function metricsText(families: readonly MetricFamily[]): string {
  let text = "";
  for (const { name, type, help, samples } of families) {
    text += `# HELP ${name} ${help.replace(/\\/g, "\\\\").replace(/\n/g, "\\n")}\n# TYPE ${name} ${type}\n`;
    for (const { labels, value } of samples) {
      const pairs = Object.entries(labels).map(([label, labelValue]) => `${label}="${escapeLabel(labelValue)}"`);
      text += `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}\n`;
    }
  }
  return text;
}
