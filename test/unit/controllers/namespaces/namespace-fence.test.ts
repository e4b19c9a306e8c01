import { describe, expect, it } from "vitest";
import type { EmptyingProgress } from "../../../../src/controllers/namespaces/namespace-deletion";
import { fencingNamespaces } from "../../../../src/controllers/namespaces/namespace-fence";
import type { Namespace } from "../../../../src/api/meta/kubernetes";
import { namespacesDefinition } from "../../../../src/api/registry/namespaces/definition";
import type { WriteResult } from "../../../../src/api/rpc/store";
import { SimScheduler } from "../../../support/sim/scheduler";
import { StoreWorld, WRITE } from "../../../support/worlds/store-world";

const EMPTY: EmptyingProgress = { isEmpty: true, remaining: new Map(), finalizers: new Map(), failures: [] };
const HELD: EmptyingProgress = { ...EMPTY, isEmpty: false, remaining: new Map([["pods.", 2]]) };

/** A namespaces store whose namespace controller is off, with the namespace `ns` in deletion; `fence` is what its stores say. */
async function setting(fence: () => Promise<EmptyingProgress>, metadata: Namespace["metadata"] = {}) {
  const scheduler = new SimScheduler();
  const world: StoreWorld = new StoreWorld({
    scheduler,
    definition: namespacesDefinition,
    extension: fencingNamespaces(
      {
        clock: scheduler.clock(),
        isNeeded: () => state.isOff,
        fence: ({ name, uid }) => {
          state.fenced.push(`${name} ${String(uid === world.stored(name)?.metadata?.uid)}`);
          return fence();
        },
      },
      {},
    ),
  });
  const state = { isOff: true, fenced: [] as string[] };
  await world.create({ metadata: { name: "ns", ...metadata } });
  await world.delete("ns", {}, "");
  /** What the controller of somebody else does in the end. */
  const finalize = (finalizers: string[] = [], dryRun = false): Promise<WriteResult> =>
    world.scheduler.run(
      world.store.write({
        verb: "update",
        key: { namespace: "", name: "ns" },
        subresource: "finalize",
        object: JSON.stringify({ ...world.stored("ns"), spec: { finalizers } }),
        options: { ...WRITE, group: "", dryRun },
      }),
    );
  return { world, state, finalize };
}

describe("the end of a namespace while its own controller is off", () => {
  it("every store is closed and empty: the namespace goes", async () => {
    const { world, state, finalize } = await setting(() => Promise.resolve(EMPTY));
    expect(await finalize()).toMatchObject({ ok: true, gone: true });
    expect([state.fenced, world.stored("ns")]).toEqual([["ns true"], undefined]);
  });

  it("something is left: 403 that names it, no conflict, and the namespace stays", async () => {
    const { world, finalize } = await setting(() => Promise.resolve(HELD));
    expect(await finalize()).toMatchObject({
      ok: false,
      status: {
        code: 403,
        message: 'namespaces "ns" is forbidden: it is not empty: Some resources are remaining: pods. has 2 resource instances',
      },
    });
    expect((world.stored("ns") as Namespace).spec?.finalizers).toEqual(["kubernetes"]);
  });

  it.each([
    ["has not closed the namespace", () => Promise.reject(new Error("down"))],
    ["does not answer", () => new Promise<never>(() => undefined)],
    ["could not be emptied", () => Promise.resolve({ ...HELD, failures: ["leases: down"] })],
    ["is not closed any more", () => Promise.resolve({ ...EMPTY, isEmpty: false })],
  ])("a store that %s: 503 with Retry-After, and the namespace stays", async (_, fence) => {
    const { world, finalize } = await setting(fence);
    expect(await finalize()).toMatchObject({ ok: false, status: { code: 503, details: { retryAfterSeconds: 1 } } });
    expect(world.stored("ns")).toBeDefined();
  });

  it("finalizers of others: the stores are fenced when `kubernetes` goes, and again when the namespace goes", async () => {
    const { world, state, finalize } = await setting(() => Promise.resolve(EMPTY), { finalizers: ["example.com/x"] });
    expect(await finalize(["kubernetes", "example.com/y"])).toMatchObject({ ok: true });
    expect(state.fenced).toEqual([]);
    expect(await finalize(["example.com/y"])).toMatchObject({ ok: true, gone: false });
    expect(state.fenced).toHaveLength(1);
    expect(await finalize()).toMatchObject({ ok: true, gone: false });
    expect(state.fenced).toHaveLength(1);
    await world.patch("ns", "merge", { metadata: { finalizers: null } }, { group: "" }, "");
    expect([state.fenced.length, world.stored("ns")]).toEqual([2, undefined]);
  });

  it("a dry run: fences nothing", async () => {
    const { world, state, finalize } = await setting(() => Promise.resolve(HELD));
    expect(await finalize([], true)).toMatchObject({ ok: true });
    expect([state.fenced.length, world.stored("ns") !== undefined]).toEqual([0, true]);
  });

  it("its own controller is on: that one has closed the stores, and the write asks nobody", async () => {
    const { world, state, finalize } = await setting(() => Promise.resolve(HELD));
    state.isOff = false;
    expect(await finalize()).toMatchObject({ ok: true, gone: true });
    expect([state.fenced.length, world.stored("ns")]).toEqual([0, undefined]);
  });

  it("a namespace without finalizers that is not in deletion: the first DELETE marks it, the second one fences and ends it", async () => {
    const { world, state, finalize } = await setting(() => Promise.resolve(EMPTY));
    await finalize();
    await world.create({ metadata: { name: "ns" } });
    expect(await finalize()).toMatchObject({ ok: true, gone: false });
    expect(state.fenced).toHaveLength(1);
    expect(await world.delete("ns", {}, "")).toMatchObject({ ok: true, gone: false });
    expect((world.stored("ns") as Namespace).status?.phase).toBe("Terminating");
    expect(await world.delete("ns", {}, "")).toMatchObject({ ok: true, gone: true });
    expect([state.fenced.length, world.stored("ns")]).toEqual([2, undefined]);
  });
});
