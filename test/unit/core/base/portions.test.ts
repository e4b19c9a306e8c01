import { expect, it } from "vitest";
import { portionsOf } from "../../../../src/core/base/portions";

const BOUNDS = { countMax: 3, weightMax: 10 };

it.each<[string, number[], number[][]]>([
  ["nothing: no portion", [], []],
  ["as many as may be: one portion", [1, 1, 1], [[1, 1, 1]]],
  ["one more: a second portion", [1, 1, 1, 1], [[1, 1, 1], [1]]],
  ["as heavy as may be: one portion", [4, 6], [[4, 6]]],
  ["too heavy together: the one that does not fit begins a portion, and its weight counts there", [4, 7, 3, 1], [[4], [7, 3], [1]]],
  ["one that is too heavy: alone", [1, 11, 1], [[1], [11], [1]]],
])("%s", (_, weights, expected) => {
  expect(portionsOf(weights, (weight) => weight, BOUNDS)).toEqual(expected);
});
