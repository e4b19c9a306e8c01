import { expect, it } from "vitest";
import { gathered } from "../../../../src/core/turns/gathered";

/** Doubles numbers; a number weighs what it is. */
function doubling(fails: (items: number[]) => boolean = () => false): { calls: number[][]; double: (item: number) => Promise<number> } {
  const calls: number[][] = [];
  const double = gathered<number, number>({
    call: (items) => {
      calls.push(items);
      return fails(items) ? Promise.reject(new Error("down")) : Promise.resolve(items.map((item) => 2 * item));
    },
    weightMax: 10,
    weigh: (item) => item,
  });
  return { calls, double };
}

it("items of one moment: one call, and each gets its own answer", async () => {
  const { calls, double } = doubling();
  expect(await Promise.all([double(1), double(2), double(3)])).toEqual([2, 4, 6]);
  expect(calls).toEqual([[1, 2, 3]]);
});

it("items that follow the answers of one call: one call again", async () => {
  const { calls, double } = doubling();
  const twice = async (item: number): Promise<number> => double(await double(item));
  expect(await Promise.all([twice(1), twice(2)])).toEqual([4, 8]);
  expect(calls).toEqual([
    [1, 2],
    [2, 4],
  ]);
});

it("items that are too much for one call: several calls, and a heavy item goes alone", async () => {
  const { calls, double } = doubling();
  expect(await Promise.all([double(6), double(5), double(1), double(20), double(2)])).toEqual([12, 10, 2, 40, 4]);
  expect(calls).toEqual([[6], [5, 1], [20], [2]]);
});

it("a call that fails: fails its own items and no other", async () => {
  const { double } = doubling((items) => items.includes(6));
  const outcomes = await Promise.allSettled([double(6), double(3), double(5)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
  expect(await double(4)).toBe(8);
});
