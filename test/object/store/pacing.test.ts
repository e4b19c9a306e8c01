/** Rule 24 on the platform: a real store whose commits are durable when the test says so. */
import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { ResourceStore } from "../../../durable-objects/resource-store";
import { COMMIT_LOST } from "../../../src/core/turns/batch";
import type { WriteResult } from "../../../src/api/rpc/store";
import { statementsOf } from "../../support/objects/counted-rows";
import { intercept } from "../../support/objects/intercept";
import { PATIENCE } from "../../support/objects/patience";
import { createIn, freshCluster, storedIn, type StoreStub, storeStubOf } from "../../support/objects/store-stubs";
import { aLease as lease, createRequest } from "../../support/worlds/store-world";

const stubOf = (cluster: string): StoreStub => storeStubOf(cluster, "leases.coordination.k8s.io");
const aLease = (name: string): ReturnType<typeof lease> => lease(name, {}, { namespace: "default" });
const names = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

afterEach(() => {
  vi.restoreAllMocks();
});

/** From now on what the store writes is durable only when the function is called; with an error it is lost. */
async function holdCommits(stub: StoreStub): Promise<(error?: Error) => void> {
  let settle: (error?: Error) => void = () => undefined;
  const held = new Promise<void>((resolve, reject) => (settle = (error) => (error ? reject(error) : resolve())));
  const storage = await runInDurableObject(stub, (_, state) => state.storage);
  intercept(Object.getPrototypeOf(storage) as object, "sync", (sync, object) => (object === storage ? held.then(sync) : sync()));
  return settle;
}

/** Creates that come one after the other, each in a turn of its own. */
function createApart(stub: StoreStub, leases: readonly string[]): Promise<{ drains: number; results: Promise<WriteResult[]> }> {
  return runInDurableObject(stub, async (store: ResourceStore) => {
    const writes: Promise<WriteResult>[] = [];
    for (const name of leases) {
      writes.push(store.write(createRequest(aLease(name))));
      for (let turns = 0; turns < 3; turns++) await scheduler.wait(0);
    }
    return { drains: (await store.counters()).drains, results: Promise.all(writes) };
  });
}

const createTogether = (stub: StoreStub, leases: readonly string[]): Promise<WriteResult[]> =>
  runInDurableObject(stub, (store: ResourceStore) => Promise.all(leases.map((name) => store.write(createRequest(aLease(name))))));

it("creates that come during a commit, each in a turn of its own: one transaction, and the rows of as many at once", async () => {
  const atOnce = stubOf(freshCluster());
  await createIn(atOnce, aLease("first"));
  const rowsOf = async (stub: StoreStub, work: () => Promise<unknown>): Promise<number> =>
    (await statementsOf(stub, work)).reduce((sum, { written }) => sum + written, 0);
  const wanted = await rowsOf(atOnce, () => createTogether(atOnce, names(40, "a")));

  const stub = stubOf(freshCluster());
  await createIn(stub, aLease("first"));
  await createTogether(stub, names(3, "known"));
  const settle = await holdCommits(stub);
  await createTogether(stub, names(3, "begun"));
  const before = await stub.counters();
  const rows = await rowsOf(stub, async () => {
    const { drains, results } = await createApart(stub, names(40, "a"));
    expect(drains, "none has begun").toBe(before.drains);
    settle();
    expect((await results).map(({ ok }) => ok)).toEqual(Array(40).fill(true));
  });
  expect((await stub.counters()).drains - before.drains).toBe(1);
  expect(rows).toBe(wanted);
});

it("creates of a client that is alone: a turn each, at once", async () => {
  const stub = stubOf(freshCluster());
  await createIn(stub, aLease("first"));
  const before = await stub.counters();
  for (const name of names(5, "a")) await createIn(stub, aLease(name));
  expect((await stub.counters()).drains - before.drains).toBe(5);
});

it("a commit that is lost: what waits is refused or ends with the object, which starts again with what is stored", async () => {
  const cluster = freshCluster();
  await createIn(stubOf(cluster), aLease("first"));
  const settle = await holdCommits(stubOf(cluster));
  await createTogether(stubOf(cluster), names(3, "begun"));
  const stub = stubOf(cluster);
  const waiting = Promise.allSettled(names(2, "waiting").map((name) => createIn(stub, aLease(name))));
  // Calls on one stub arrive in their order.
  await stub.counters();
  settle(new Error("the commit failed"));
  for (const outcome of await waiting) {
    // The Worker makes a 503 of either (src/worker/routing/call.ts).
    if (outcome.status === "fulfilled") expect(outcome.value).toMatchObject({ ok: false, status: { code: 503 } });
    else expect(outcome.reason).toMatchObject({ message: COMMIT_LOST, durableObjectReset: true });
  }
  vi.restoreAllMocks();
  await vi.waitFor(async () => expect((await createIn(stubOf(cluster), aLease("waiting-0"))).ok).toBe(true), PATIENCE);
  expect(await storedIn(stubOf(cluster), "default", "waiting-1")).toBeUndefined();
  expect((await createIn(stubOf(cluster), aLease("waiting-1"))).ok).toBe(true);
});
