/** An object at its end: what is called between the loss of its tables and its last moment. */
import { env, runInDurableObject } from "cloudflare:test";
import { expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { CLUSTER_GONE } from "../../../src/tenancy/rpc";
import { PATIENCE } from "../../support/objects/patience";
import { freshCluster } from "../../support/objects/store-stubs";

const bindings = env as unknown as Env;
const END_MS = 500;
const CALLS = 20;
const CALLS_APART_MS = 10;

it("calls of an object while it is wiped: none finds it without its tables, each is told that the cluster is gone", async () => {
  const name = `${freshCluster()}/configmaps`;
  const stub = (): DurableObjectStub => bindings.RESOURCE_STORE.getByName(name);
  type Store = {
    counters(): Promise<object>;
    wipe(listed: string[]): Promise<string[]>;
    objectsAfter(after: string, limit: number): Promise<object>;
  };
  const store = (): Store => stub() as unknown as Store;
  await store().counters();
  // The last step but one takes long.
  let isWithoutTables = false;
  await runInDurableObject(stub(), (_, { storage }) => {
    const value = (): Promise<void> => {
      isWithoutTables = true;
      return scheduler.wait(END_MS);
    };
    Object.defineProperty(storage, "deleteAlarm", { value });
  });
  const wiped = store().wipe([]).then(String, String);
  // A call over another stub may be there before.
  await vi.waitFor(() => expect(isWithoutTables).toBe(true), PATIENCE);
  const calls: Promise<string>[] = [];
  for (let i = 0; i < CALLS; i++) {
    calls.push(
      store()
        .objectsAfter("", 10)
        .then(() => "answered", String),
    );
    await scheduler.wait(CALLS_APART_MS);
  }
  expect(await wiped).toContain(CLUSTER_GONE);
  for (const answer of await Promise.all(calls)) expect(answer).toContain(CLUSTER_GONE);
  await expect(store().counters()).rejects.toThrow(CLUSTER_GONE);
});
