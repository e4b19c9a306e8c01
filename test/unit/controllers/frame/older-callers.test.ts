/** What a controller does when objects of the release before versions call it. */
import { expect, it } from "vitest";
import { OlderCallers } from "../../../../src/controllers/frame/older-callers";

const MINUTE_MS = 60_000;

it("a call by an older release: no store is unused from then on, and the list hears of it, again after a minute or a failure", async () => {
  let now = 1_700_000_000_000;
  let isDown = true;
  let told = 0;
  const logged: string[] = [];
  const older = new OlderCallers({
    clock: { now: () => now },
    recorder: { log: (_, event) => void logged.push(event) },
    tell: () => (isDown ? Promise.reject(new Error("down")) : Promise.resolve(void told++)),
  });
  const known = older.known(() => Promise.resolve(["pods"]));
  const call = async (): Promise<number> => {
    older.called();
    await Promise.resolve();
    await Promise.resolve();
    return told;
  };
  expect(await known()).toEqual(["pods"]);
  expect([await call(), await known()]).toEqual([0, null]);
  expect(logged).toEqual(["the list of visits was not told of an older release"]);
  isDown = false;
  expect([await call(), await call()]).toEqual([1, 1]);
  now += MINUTE_MS;
  expect([await call(), await known()]).toEqual([2, null]);
});
