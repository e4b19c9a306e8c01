import { describe, expect, it } from "vitest";
import type { Lease } from "../../../../../src/api/meta/kubernetes";
import { namespacesDefinition } from "../../../../../src/api/registry/namespaces/definition";
import type { GetResult, WriteResult } from "../../../../../src/api/rpc/store";
import { aLease, aNamespace, createRequest, StoreWorld, terminatingNamespace } from "../../../../support/worlds/store-world";

const MISSING: GetResult = {
  ok: false,
  status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 404, reason: "NotFound", message: "not found" },
};
const BROKEN: GetResult = {
  ok: false,
  status: { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 500, reason: "InternalError", message: "broken" },
};

function refusalOf(result: WriteResult): string {
  return result.ok ? `ok ${result.code}` : `${result.status.code} ${result.status.message ?? ""}`;
}

/** A question to the namespaces store that the test answers. */
function question() {
  let answer: (result: GetResult) => void = () => undefined;
  const asked = new Promise<GetResult>((resolve) => (answer = resolve));
  return { asked, answer };
}

const close = (world: StoreWorld, name: string, uid: string) =>
  world.scheduler.run(world.store.internally(() => world.guard.close(name, uid)));

describe("creating in a namespace", () => {
  it("a create in a missing namespace: 404 of the namespace; each create asks again", async () => {
    const world = new StoreWorld();
    world.namespaces.set("ns", MISSING);
    for (const result of [await world.create(aLease("a")), await world.update(aLease("a"))]) {
      expect(result).toMatchObject({
        ok: false,
        status: { code: 404, message: 'namespaces "ns" not found', details: { name: "ns", kind: "namespaces" } },
      });
    }
    world.namespaces.delete("ns");
    expect(refusalOf(await world.create(aLease("a")))).toBe("ok 201");
  });

  it("what was known is forgotten: a create asks again, also behind an answer that is on its way", async () => {
    const world = new StoreWorld();
    expect(refusalOf(await world.create(aLease("a")))).toBe("ok 201");
    world.namespaces.set("ns", terminatingNamespace("ns"));
    expect(refusalOf(await world.create(aLease("b")))).toBe("ok 201");
    world.guard.forget();
    expect(refusalOf(await world.create(aLease("c")))).toMatch(/^403 /);
  });

  it("a create in a terminating namespace: 403 with the cause", async () => {
    const world = new StoreWorld();
    world.namespaces.set("ns", terminatingNamespace("ns"));
    const message =
      'leases.coordination.k8s.io "a" is forbidden: unable to create new content in namespace ns because it is being terminated';
    const causes = [{ reason: "NamespaceTerminating", message: "namespace ns is being terminated", field: "metadata.namespace" }];
    for (const result of [
      await world.create(aLease("a")),
      await world.update(aLease("a")),
      await world.create(aLease("a"), { dryRun: true }),
    ]) {
      expect(result).toMatchObject({ ok: false, status: { code: 403, reason: "Forbidden", message, details: { causes } } });
    }
    expect(world.history()).toEqual([]);
  });

  it.each([
    [{ generateName: "a-" }, "a-"],
    [{}, "Unknown"],
  ])("a create in a terminating namespace of an object with %j: named %s", async (metadata, name) => {
    const world = new StoreWorld();
    world.namespaces.set("ns", terminatingNamespace("ns"));
    const lease = { ...aLease("a"), metadata: { namespace: "ns", ...metadata } };
    expect(await world.create(lease)).toMatchObject({ ok: false, status: { code: 403, details: { name, kind: "leases" } } });
  });

  it("a create while the namespaces store fails: its error, or 503 when it does not answer", async () => {
    const world = new StoreWorld();
    world.namespaces.set("ns", BROKEN);
    expect(refusalOf(await world.create(aLease("a")))).toBe("500 broken");
    world.namespaces.set("ns", Promise.reject(new Error("lost")));
    expect(await world.create(aLease("a"))).toMatchObject({ ok: false, status: { code: 503, details: { retryAfterSeconds: 1 } } });
  });

  it("an open namespace: is asked for once; writes of existing objects do not ask", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    await world.create(aLease("b"));
    expect(world.asked).toBe(1);
    world.restart();
    expect(refusalOf(await world.patch("a", "merge", { spec: { holderIdentity: "x" } }))).toBe("ok 200");
    expect(refusalOf(await world.update({ ...(world.stored("a") ?? {}), spec: {} } as Lease))).toBe("ok 200");
    expect(refusalOf(await world.delete("b"))).toBe("ok 200");
    expect(world.asked).toBe(1);
  });

  it("creates while a question is under way: share what it finds open", async () => {
    const world = new StoreWorld();
    const { asked, answer } = question();
    world.namespaces.set("ns", asked);
    const waiting = [world.guard.learn("ns"), world.guard.learn("ns")];
    const creates = ["a", "b"].map((name) => world.store.write(createRequest(aLease(name))));
    answer(aNamespace("ns"));
    for (const result of await world.scheduler.run(Promise.all(creates))) expect(refusalOf(result)).toBe("ok 201");
    expect([await Promise.all(waiting), world.asked]).toEqual([[true, true], 1]);
  });

  it("a namespace that is made while another's question finds none: who comes later asks again", async () => {
    const world = new StoreWorld();
    const { asked, answer } = question();
    world.namespaces.set("ns", asked);
    const early = world.guard.learn("ns");
    world.namespaces.delete("ns");
    const late = world.guard.learn("ns");
    answer(MISSING);
    expect([await early, await late, world.guard.isOpen("ns"), world.asked]).toEqual([true, true, true, 2]);
    expect(refusalOf(await world.create(aLease("a")))).toBe("ok 201");
  });

  it("a namespace that is closed while a question is under way: the answer of before opens it for nobody", async () => {
    const world = new StoreWorld();
    const { asked, answer } = question();
    world.namespaces.set("ns", asked);
    const learning = [world.guard.learn("ns"), world.guard.learn("ns")];
    await close(world, "ns", "uid of ns");
    world.namespaces.set("ns", terminatingNamespace("ns"));
    answer(aNamespace("ns"));
    await Promise.all(learning);
    expect(world.guard.isOpen("ns")).toBe(false);
    expect(refusalOf(await world.create(aLease("a")))).toMatch(/^403 /);
  });

  it("a create of a cluster-scoped kind: asks nobody", async () => {
    const world = new StoreWorld({ definition: namespacesDefinition });
    expect(refusalOf(await world.create({ metadata: { name: "a" } }))).toBe("ok 201");
    expect(world.asked).toBe(0);
  });
});

describe("closing a namespace", () => {
  it("a closed namespace: refuses creates, takes updates and deletes", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    await close(world, "ns", "uid of ns");
    // The namespaces store may be asked before the mark is seen there: the row here decides.
    expect(refusalOf(await world.create(aLease("b")))).toMatch(/^403 /);
    expect(refusalOf(await world.update(aLease("b")))).toMatch(/^403 /);
    expect(refusalOf(await world.patch("a", "merge", { spec: { holderIdentity: "x" } }))).toBe("ok 200");
    expect(refusalOf(await world.create(aLease("b", {}, { namespace: "other" })))).toBe("ok 201");
    expect(refusalOf(await world.delete("a"))).toBe("ok 200");
  });

  it("a closed namespace: stays closed over a restart", async () => {
    const world = new StoreWorld();
    await close(world, "ns", "uid of ns");
    world.restart();
    expect(refusalOf(await world.create(aLease("a")))).toMatch(/^403 /);
    expect([world.guard.isClosed("ns", "uid of ns"), world.guard.isClosed("ns", "another")]).toEqual([true, false]);
  });

  it("a late close, when another namespace has the name: closes nothing, and the objects of that one stay", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    await close(world, "ns", "uid of ns");
    world.namespaces.set("ns", aNamespace("ns", "its successor"));
    expect(refusalOf(await world.create(aLease("b")))).toBe("ok 201");
    await close(world, "ns", "uid of ns");
    expect(world.guard.isClosed("ns", "uid of ns")).toBe(false);
    expect(refusalOf(await world.create(aLease("c")))).toBe("ok 201");
    await close(world, "ns", "its successor");
    expect(world.guard.isClosed("ns", "its successor")).toBe(true);
  });

  it("a close while a create waits for its supply: the create is refused", async () => {
    let supplied: () => void = () => undefined;
    const given: string[] = [];
    const world = new StoreWorld<string>({
      extension: {
        admit: (_, operation) =>
          operation.supply
            ? { kind: "go" }
            : {
                kind: "wait",
                supply: () =>
                  new Promise((resolve) => {
                    supplied = () => {
                      operation.supply = "an address";
                      resolve(undefined);
                    };
                  }),
              },
        abandon: ({ supply }) => void given.push(supply ?? ""),
      },
    });
    const created = world.store.write(createRequest(aLease("a")));
    await world.scheduler.pass(0);
    world.namespaces.set("ns", terminatingNamespace("ns"));
    await world.scheduler.run(world.store.internally(() => world.guard.close("ns", "uid of ns")));
    supplied();
    expect(refusalOf(await world.scheduler.run(created))).toMatch(/^403 /);
    expect([given, world.history()]).toEqual([["an address"], []]);
  });

  it("a close in the turn of a create: the order in the turn decides", async () => {
    const world = new StoreWorld();
    await world.create(aLease("warm"));
    world.namespaces.set("ns", terminatingNamespace("ns"));
    const before = world.store.write(createRequest(aLease("a")));
    const closed = world.store.internally(() => world.guard.close("ns", "uid of ns"));
    const after = world.store.write(createRequest(aLease("b")));
    const [first, , second] = await world.scheduler.run(Promise.all([before, closed, after]));
    expect([refusalOf(first), refusalOf(second).slice(0, 4)]).toEqual(["ok 201", "403 "]);
  });

  it("a close while a question is on its way: the old answer does not count", async () => {
    const world = new StoreWorld();
    const old = question();
    world.namespaces.set("ns", old.asked);
    const created = world.store.write(createRequest(aLease("a")));
    await world.scheduler.pass(0);
    // Deleted, made again, deleted again: the answer that is on its way speaks of the first of the three.
    await world.scheduler.run(world.store.internally(() => world.guard.close("ns", "second")));
    world.namespaces.set("ns", terminatingNamespace("ns", "second"));
    old.answer(aNamespace("ns", "first"));
    expect(refusalOf(await world.scheduler.run(created))).toMatch(/^403 /);
    expect([world.asked, world.history()]).toEqual([2, []]);
  });

  it("a namespace made again: its new uid opens the name", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    await close(world, "ns", "uid of ns");
    world.namespaces.set("ns", aNamespace("ns", "the next one"));
    expect(refusalOf(await world.create(aLease("b")))).toBe("ok 201");
    expect(world.guard.isClosed("ns", "uid of ns")).toBe(false);
    world.restart();
    expect(refusalOf(await world.create(aLease("c")))).toBe("ok 201");
  });

  it("a late close: the namespace made again takes creates", async () => {
    const world = new StoreWorld();
    world.namespaces.set("ns", aNamespace("ns", "the next one"));
    await world.create(aLease("a"));
    const created = world.store.write(createRequest(aLease("b")));
    const late = world.store.internally(() => world.guard.close("ns", "uid of ns"));
    const after = world.store.write(createRequest(aLease("c")));
    const [first, , second] = await world.scheduler.run(Promise.all([created, late, after]));
    expect([refusalOf(first), refusalOf(second)]).toEqual(["ok 201", "ok 201"]);
  });

  it("the end of a namespace that this store has missed: a close of its successor asks again, and closes that one", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    world.namespaces.set("ns", terminatingNamespace("ns", "its successor"));
    expect(await world.guard.learn("ns", "its successor")).toBe(true);
    await close(world, "ns", "its successor");
    expect(world.guard.isClosed("ns", "its successor")).toBe(true);
    expect(refusalOf(await world.create(aLease("b")))).toMatch(/^403 /);
  });

  it("a close of another uid than the open one: asks nobody twice; without an answer, or for an older one, the name stays open", async () => {
    const world = new StoreWorld();
    await world.create(aLease("a"));
    expect([await world.guard.learn("ns", "uid of ns"), world.asked]).toEqual([true, 1]);
    expect([await world.guard.learn("ns", "an older one"), world.asked, world.guard.isOpen("ns")]).toEqual([true, 2, true]);
    world.namespaces.set("ns", BROKEN);
    expect([await world.guard.learn("ns", "a newer one"), world.guard.isOpen("ns")]).toEqual([false, true]);
  });

  it("a close in a lost turn: rejects and closes nothing", async () => {
    const world = new StoreWorld();
    world.storage.crashNext = "beforeCommit";
    await expect(close(world, "ns", "uid of ns")).rejects.toThrow();
    expect(world.guard.isClosed("ns", "uid of ns")).toBe(false);
  });
});
