/** Rule 24 in an owner: its turns wait for the last commit while others wait, and a lost commit ends the object. */
import { beforeEach, expect, it } from "vitest";
import { aConfig, OwnerWorld } from "../../../support/worlds/owner-world";

/** The commits that the test settles, oldest first. */
interface Commit {
  resolve(): void;
  reject(error: Error): void;
}

let world: OwnerWorld;
let commits: Commit[];
beforeEach(async () => {
  world = new OwnerWorld();
  await world.owner.configure(aConfig(1, ["10.0.0.0/24"]));
  commits = [];
  world.durable = () => new Promise((resolve, reject) => commits.push({ resolve, reject }));
});

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));
const allocate = (calls: number): ReturnType<OwnerWorld["allocate"]>[] => Array.from({ length: calls }, () => world.allocate());

it("calls that come during a commit: share the next one, and each has its own address", async () => {
  const first = allocate(3);
  await settled();
  const waiting = [];
  for (let i = 0; i < 40; i++) {
    waiting.push(...allocate(1));
    await settled();
  }
  expect([world.owner.counters.drains, world.storage.commits, commits.length]).toEqual([1, 2, 1]);
  commits[0]?.resolve();
  const results = await Promise.all([...first, ...waiting]);
  expect(new Set(results.map((result) => (result.ok ? result.address : result.reason))).size).toBe(43);
  expect([world.owner.counters.drains, world.storage.commits]).toEqual([2, 3]);
});

it("one call after the other, or two at a time: never wait", async () => {
  await Promise.all(allocate(1));
  await Promise.all(allocate(1));
  expect([world.owner.counters.drains, commits.length]).toEqual([2, 2]);
});

it("a commit that fails: calls that wait are rejected without a row, the object ends, and its successor can be asked again", async () => {
  const begun = allocate(3);
  await settled();
  const waiting = Promise.allSettled(["10.0.0.77", "10.0.0.78"].map((address) => world.allocate(address)));
  await settled();
  commits[0]?.reject(new Error("the disk is gone"));
  expect((await waiting).map((one) => (one.status === "rejected" ? String(one.reason) : "done"))).toEqual(
    Array(2).fill("OwnerEndedError: a commit was lost"),
  );
  await settled();
  expect([world.aborted, world.logged.filter(({ level }) => level === "error")]).toEqual([
    ["a commit was lost"],
    [{ level: "error", event: "a commit was lost" }],
  ]);
  await expect(world.allocate()).rejects.toThrow("a commit was lost");
  expect(
    (await Promise.all(begun)).every(({ ok }) => ok),
    "their answers are behind the output gate",
  ).toBe(true);

  world.durable = () => Promise.resolve();
  world.restart();
  const held = await world.held();
  expect([held.length, held.includes("10.0.0.77")]).toEqual([3, false]);
  expect(await world.allocate("10.0.0.77")).toMatchObject({ ok: true });
});
