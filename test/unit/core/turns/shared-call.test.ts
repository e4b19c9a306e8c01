import { expect, it } from "vitest";
import { type Deferred, deferred } from "../../../../src/core/base/deferred";
import { SharedCall } from "../../../../src/core/turns/shared-call";

it("who comes during a run shares the one behind it, also in the turns between the two; never two at once", async () => {
  const begun: Deferred<void>[] = [];
  let running = 0;
  let most = 0;
  const turns = new SharedCall(async () => {
    most = Math.max(most, ++running);
    const run = deferred<void>();
    begun.push(run);
    await run.promise;
    running--;
  });
  const first = turns.begin();
  const behind = [turns.begin(), turns.begin()];
  expect([begun.length, new Set(behind).size]).toEqual([1, 1]);
  begun[0]?.resolve();
  // Wherever somebody comes between the end of the one and the begin of the other.
  const between: Promise<void>[] = [];
  for (let turn = 0; turn < 6; turn++) {
    await Promise.resolve();
    between.push(turns.begin());
  }
  await first;
  expect([begun.length, most]).toEqual([2, 1]);
  begun[1]?.resolve();
  await Promise.all(behind);
  begun[2]?.resolve();
  await Promise.all(between);
  expect([begun.length, most]).toEqual([3, 1]);
  const later = turns.begin();
  expect(begun.length).toBe(4);
  begun[3]?.resolve();
  await later;
});

it("a run that rejects is heard by who waited for it, and ends nothing for who came during it", async () => {
  const runs = [deferred<void>(), deferred<void>()];
  let begun = 0;
  const turns = new SharedCall(() => runs[begun++]?.promise ?? Promise.resolve());
  const first = turns.begin();
  const behind = turns.begin();
  runs[0]?.reject(new Error("the disk fails"));
  await expect(first).rejects.toThrow("the disk fails");
  runs[1]?.resolve();
  await behind;
  expect(begun).toBe(2);
});
