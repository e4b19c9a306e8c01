import { describe, expect, it } from "vitest";
import { CLOSE_WAIT_MS, closingNamespaces } from "../../../../src/controllers/namespaces/namespace-closing";
import { namespacesDefinition } from "../../../../src/api/registry/namespaces/definition";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { DELETE, StoreWorld } from "../../../support/worlds/store-world";

/** A namespaces store whose closing the test carries out. */
async function setting(close: () => Promise<unknown>) {
  const closed: string[] = [];
  const scheduler = new SimScheduler();
  const world: StoreWorld = new StoreWorld({
    scheduler,
    definition: namespacesDefinition,
    extension: closingNamespaces({
      clock: scheduler.clock(),
      close: ({ name, uid }) => {
        closed.push(`${name} ${uid === world.stored(name)?.metadata?.uid}`);
        return close();
      },
    }),
  });
  await world.create({ metadata: { name: "ns" } });
  return { world, closed };
}

describe("the answer to the DELETE of a namespace", () => {
  it("order: the namespace is closed everywhere, then the answer comes; later writes close nothing", async () => {
    let done: () => void = () => undefined;
    const { world, closed } = await setting(() => new Promise<void>((resolve) => (done = resolve)));
    let answered = false;
    const deleted = world.store.write({ verb: "delete", key: { namespace: "", name: "ns" }, options: DELETE });
    void deleted.then(() => (answered = true));
    await world.scheduler.pass(100);
    expect([closed, answered]).toEqual([["ns true"], false]);
    done();
    expect(await world.scheduler.run(deleted)).toMatchObject({ ok: true, gone: false });
    await world.delete("ns", {}, "");
    await world.patch("ns", "merge", { metadata: { labels: { a: "b" } } }, { group: "" }, "");
    expect(closed).toEqual(["ns true"]);
  });

  it.each([
    ["fail", () => Promise.reject(new Error("down"))],
    ["are slow", () => new Promise(() => undefined)],
  ])("stores that %s: the answer comes within the bound", async (_, close) => {
    const { world } = await setting(close);
    const start = world.scheduler.now;
    expect(await world.delete("ns", {}, "")).toMatchObject({ ok: true });
    expect(world.scheduler.now - start).toBeLessThanOrEqual(CLOSE_WAIT_MS);
  });

  it("a dry run and a refusal: nothing is closed", async () => {
    const { world, closed } = await setting(() => Promise.resolve());
    await world.delete("ns", { dryRun: true }, "");
    await world.delete("default", {}, "");
    await world.delete("ns", { preconditions: { uid: "other" } }, "");
    expect(closed).toEqual([]);
  });
});
