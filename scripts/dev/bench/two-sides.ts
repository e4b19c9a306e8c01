/** The same creates with something and without it, in turn on one server: ratios tell what single figures of a busy machine do not. */
import { cpuMs } from "./cpu";
import { round } from "./figures";
import type { BenchRow } from "./row";

const SIDES = ["without", "with"] as const;
export type Side = (typeof SIDES)[number];

export interface TwoSides {
  /** first part of the rows' names */
  name: string;
  runtimePid: number;
  /** each of both sides; who begins changes */
  rounds: number;
  /** creates of one side in all rounds */
  count: number;
  /** at least so many times as many a second as without */
  ratioMin: number;
  /** what stands behind `N/s` of each side */
  notes: Record<Side, string>;
  /** Makes the creates of one round. Answers how long they took, in milliseconds. */
  create(side: Side, round: string): Promise<number>;
}

/** Creates both sides, each once beforehand. Answers the ratio of their rates, and that of their CPU where the machine tells. */
export async function twoSides({ name, runtimePid, rounds, count, ratioMin, notes, create }: TwoSides): Promise<BenchRow[]> {
  const sums = { without: { ms: 0, cpu: 0 }, with: { ms: 0, cpu: 0 } };
  for (const side of SIDES) await create(side, "warm");
  for (let done = 0; done < rounds; done++) {
    for (const side of done % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const cpu = cpuMs(runtimePid) ?? NaN;
      sums[side].ms += await create(side, `r${String(done)}`);
      sums[side].cpu += (cpuMs(runtimePid) ?? NaN) - cpu;
    }
  }
  const ratio = sums.without.ms / sums.with.ms;
  const rateOf = (side: Side): string => `${Math.round(count / (sums[side].ms / 1_000)).toLocaleString("en-US")}/s ${notes[side]}`;
  const cpuOf = (side: Side): string => `${((sums[side].cpu / count) * 1_000).toFixed(0)} µs`;
  return [
    {
      name: `${name}.createRateRatio`,
      value: round(ratio),
      unit: "x",
      target: `>= ${String(ratioMin)}`,
      ok: ratio >= ratioMin,
      note: `${rateOf("with")}, against ${rateOf("without")}, ${String(rounds)} rounds each in turn`,
    },
    ...(Number.isNaN(sums.with.cpu)
      ? []
      : [
          {
            name: `${name}.createCpuRatio`,
            value: round(sums.with.cpu / sums.without.cpu),
            unit: "x",
            note: `${cpuOf("with")} of the runtime for each Service against ${cpuOf("without")}`,
          },
        ]),
  ];
}
