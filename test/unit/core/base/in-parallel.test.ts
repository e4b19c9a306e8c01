import { expect, it } from "vitest";
import { atMost } from "../../../../src/core/base/in-parallel";

it("more work than places: the others wait in their order, and a failed one leaves its place", async () => {
  const limited = atMost(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (i: number): Promise<number> =>
    limited(async () => {
      begun.push(i);
      await new Promise<void>((resolve) => ends.push(resolve));
      if (i === 0) throw new Error("failed");
      return i;
    });
  const all = [0, 1, 2, 3].map(work);
  const failed = expect(all[0]).rejects.toThrow("failed");
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  ends[0]?.();
  await failed;
  expect(begun).toEqual([0, 1, 2]);
  ends[1]?.();
  await all[1];
  await Promise.resolve();
  expect(begun).toEqual([0, 1, 2, 3]);
  ends[2]?.();
  ends[3]?.();
  expect(await Promise.all(all.slice(1))).toEqual([1, 2, 3]);
});
