/** A strict reader of the Prometheus text format 0.0.4: whatever a scraper could stumble over is an error here. */

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Family {
  type: string;
  help: string;
  samples: Sample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const VALUE = /^(?:[+-]?Inf|NaN|[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)$/;
const TYPES = new Set(["counter", "gauge", "histogram", "summary", "untyped"]);

/** The families of a text, by name. Throws with the line that is wrong. */
export function parsePrometheus(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  let open: { name: string; family: Family } | undefined;
  const seen = new Set<string>();
  for (const line of text.slice(0, -1).split("\n")) {
    const fail = (why: string): never => {
      throw new Error(`${why}: ${line}`);
    };
    const comment = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line);
    if (comment) {
      const [, kind, name = "", rest = ""] = comment;
      if (!NAME.test(name)) fail("no metric name");
      if (kind === "HELP") {
        if (families.has(name)) fail("a second HELP");
        if (/\\(?![\\n])/.test(rest)) fail("an unknown escape");
        open = { name, family: { type: "", help: rest, samples: [] } };
        families.set(name, open.family);
      } else {
        if (open?.name !== name || open.family.type !== "" || open.family.samples.length > 0) fail("TYPE does not follow its HELP");
        if (!TYPES.has(rest)) fail("no type");
        if (open) open.family.type = rest;
      }
      continue;
    }
    const sample = parseSample(line) ?? fail("no sample");
    if (!open || open.family.type === "") return fail("a sample without TYPE");
    if (!namesOf(open.name, open.family.type).includes(sample.name)) fail("a sample of another family");
    const key = sample.name + JSON.stringify(Object.entries(sample.labels).sort());
    if (seen.has(key)) fail("a sample twice");
    seen.add(key);
    if (open.family.type === "counter" && !(sample.value >= 0)) fail("a counter below zero");
    open.family.samples.push(sample);
  }
  for (const [name, family] of families) {
    if (family.type === "") throw new Error(`no TYPE: ${name}`);
    if (family.type === "histogram") checkHistogram(name, family);
  }
  return families;
}

function namesOf(name: string, type: string): string[] {
  return type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

function parseSample(line: string): Sample | undefined {
  const match = /^([^\s{]+)(?:\{(.*)\})? (\S+)$/.exec(line);
  const [, name = "", labelText, valueText = ""] = match ?? [];
  if (!NAME.test(name) || !VALUE.test(valueText)) return undefined;
  const labels: Record<string, string> = {};
  let rest = labelText ?? "";
  while (rest !== "") {
    const pair = /^([^=]+)="((?:[^"\\]|\\[\\"n])*)"(?:,(?=.)|$)/.exec(rest);
    const [whole = "", label = "", value = ""] = pair ?? [];
    if (!LABEL.test(label) || label in labels) return undefined;
    labels[label] = value.replace(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: valueText === "+Inf" ? Infinity : Number(valueText) };
}

/** Buckets grow up to +Inf, which equals the count, and there is one sum. */
function checkHistogram(name: string, { samples }: Family): void {
  const series = new Map<string, Sample[]>();
  for (const sample of samples) {
    const key = JSON.stringify(Object.entries(sample.labels).filter(([label]) => label !== "le"));
    series.set(key, [...(series.get(key) ?? []), sample]);
  }
  for (const [key, all] of series) {
    const buckets = all.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => (labels.le === "+Inf" ? Infinity : Number(labels.le)));
    const grows = (values: readonly number[], strictly: boolean): boolean =>
      values.every((value, i) => i === 0 || (strictly ? value > (values[i - 1] ?? 0) : value >= (values[i - 1] ?? 0)));
    const counts = all.filter((sample) => sample.name === `${name}_count`);
    const sums = all.filter((sample) => sample.name === `${name}_sum`);
    const isWhole =
      bounds.at(-1) === Infinity &&
      grows(bounds, true) &&
      grows(
        buckets.map(({ value }) => value),
        false,
      ) &&
      counts.length === 1 &&
      sums.length === 1 &&
      buckets.at(-1)?.value === counts[0]?.value;
    if (!isWhole) throw new Error(`a histogram that is none: ${name} ${key}`);
  }
}
