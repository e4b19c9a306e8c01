import { describe, expect, it } from "vitest";
import { compared, type Figure } from "../../../scripts/dev/bench/compared-figures";

const round = (rate: number, ms: number): Figure[] => [
  { name: "creates", value: rate, unit: "services/s", better: "more" },
  { name: "p99", value: ms, unit: "ms", better: "less" },
];

describe("compared: figures of rounds in turn", () => {
  it.each<[string, Figure[][], Figure[][], [number, number, number][]]>([
    [
      "one round: its figures",
      [round(100, 10)],
      [round(200, 20)],
      [
        [100, 200, 2],
        [10, 20, 0.5],
      ],
    ],
    [
      "a machine that is slow in one round: the ratio is that of the others",
      [round(100, 10), round(20, 50), round(100, 10)],
      [round(110, 20), round(20, 100), round(110, 20)],
      [
        [100, 110, 1.1],
        [10, 20, 0.5],
      ],
    ],
    ["no round: nothing", [], [], []],
  ])("%s", (_, theirs, ours, expected) => {
    expect(compared(theirs, ours).map(({ against, servicenet, ratio }) => [against, servicenet, ratio])).toEqual(expected);
  });
});
