/** Figures of two servers whose loads ran in turn, and what they say together. */
import { median } from "./figures";

export interface Figure {
  name: string;
  value: number;
  unit: string;
  better: "more" | "less";
}

/** Medians over the rounds. */
export interface ComparedFigure {
  name: string;
  unit: string;
  against: number;
  servicenet: number;
  /** how many times better Servicenet is, each round by itself; below 1 = worse */
  ratio: number;
}

/** `theirs` and `ours`: the figures of each round, in the order of the rounds; those of one suite have the same names in the same places. */
export function compared(theirs: readonly Figure[][], ours: readonly Figure[][]): ComparedFigure[] {
  return (theirs[0] ?? []).map(({ name, unit, better }, place) => {
    const values = (rounds: readonly Figure[][]): number[] => rounds.map((figures) => figures[place]?.value ?? NaN);
    const [against, servicenet] = [values(theirs), values(ours)];
    const ratios = against.map((value, round) =>
      better === "more" ? (servicenet[round] ?? NaN) / value : value / (servicenet[round] ?? NaN),
    );
    return { name, unit, against: median(against), servicenet: median(servicenet), ratio: median(ratios) };
  });
}
