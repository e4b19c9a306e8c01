import { describe, expect, it } from "vitest";
import type { EmptyingProgress } from "../../../../src/controllers/namespaces/namespace-deletion";
import { fencingNamespaces } from "../../../../src/controllers/namespaces/namespace-fence";
import type { Namespace } from "../../../../src/api/meta/kubernetes";
import { namespacesDefinition } from "../../../../src/api/registry/namespaces/definition";
import type { WriteResult } from "../../../../src/api/rpc/store";
import { SimScheduler } from "../../../support/sim/platform/scheduler";
import { StoreWorld, WRITE } from "../../../support/worlds/store-world";

const EMPTY: EmptyingProgress = { isEmpty: true, remaining: new Map(), finalizers: new Map(), failures: [] };
const HELD: EmptyingProgress = { ...EMPTY, isEmpty: false, remaining: new Map([["pods.", 2]]) };

/** A namespaces store whose namespace controller is off, with the namespace `ns` in deletion; `fence` is what its stores say. */
async function setting(fence: () => Promise<EmptyingProgress>, metadata: Namespace["metadata"] = {}) {
  const scheduler = new SimScheduler();
  const world: StoreWorld = new StoreWorld({
    scheduler,
    definition: namespacesDefinition,
    extension: fencingNamespaces({
      clock: scheduler.clock(),
      recorder: { log: (level, event, fields) => void state.logged.push(`${level} ${event}: ${String(fields?.["error"])}`) },
      mustBeEmpty: () => state.isOff,
      fence: ({ name, uid }) => {
        state.fenced.push(`${name} ${String(uid === world.stored(name)?.metadata?.uid)}`);
        return fence();
      },
    }),
  });
  const state = { isOff: true, fenced: [] as string[], logged: [] as string[] };
  await world.create({ metadata: { name: "ns", ...metadata } });
  await world.delete("ns", {}, "");
  /** What the controller of somebody else does in the end; with a `fencedUid` the cluster's own. */
  const send = (finalizers: string[] = [], dryRun = false, fencedUid?: string): Promise<WriteResult> =>
    world.store.write({
      verb: "update",
      key: { namespace: "", name: "ns" },
      subresource: "finalize",
      object: JSON.stringify({ ...world.stored("ns"), spec: { finalizers } }),
      options: { ...WRITE, group: "", dryRun },
      ...(fencedUid === undefined ? {} : { fencedUid }),
    });
  const finalize = (...args: Parameters<typeof send>): Promise<WriteResult> => world.scheduler.run(send(...args));
  return { world, state, send, finalize };
}

interface Trouble {
  what: string;
  fence: () => Promise<EmptyingProgress>;
  why: string;
  isOff: boolean;
}

describe("the end of a namespace", () => {
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

  it.each(
    [
      ["has not closed the namespace", () => Promise.reject(new Error("leases: down")), "leases: down"],
      ["does not answer", () => new Promise<never>(() => undefined), "no answer within"],
      ["could not be emptied", () => Promise.resolve({ ...HELD, failures: ["leases: down"] }), "leases: down"],
      ["is not closed any more", () => Promise.resolve({ ...EMPTY, isEmpty: false }), "opened it again"],
    ].flatMap(([what, fence, why]) => [true, false].map((isOff) => ({ what, fence, why, isOff }) as Trouble)),
  )(
    "a store that $what, the controller off: $isOff: 503 and one line that say why, and the namespace stays",
    async ({ fence, why, isOff }) => {
      const { world, state, finalize } = await setting(fence);
      state.isOff = isOff;
      expect(await finalize()).toMatchObject({
        ok: false,
        status: { code: 503, details: { retryAfterSeconds: 1 }, message: expect.stringContaining(why) as string },
      });
      expect(world.stored("ns")).toBeDefined();
      expect(state.logged).toEqual([expect.stringContaining(why)]);
    },
  );

  it("two writes that end it at the same time: share one fence", async () => {
    let answer: (progress: EmptyingProgress) => void = () => undefined;
    const { world, state, send } = await setting(() => new Promise((resolve) => (answer = resolve)));
    const writes = [send(), send()];
    await world.scheduler.pass(0);
    expect(state.fenced).toHaveLength(1);
    answer(EMPTY);
    const results = await world.scheduler.run(Promise.all(writes));
    expect(results.filter(({ ok }) => ok)).toHaveLength(1);
    expect([state.fenced.length, world.stored("ns")]).toEqual([1, undefined]);
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

  it("its own controller is on, and somebody else ends it: every store closes it, and what is left stays behind, as upstream", async () => {
    const { world, state, finalize } = await setting(() => Promise.resolve(HELD));
    state.isOff = false;
    expect(await finalize()).toMatchObject({ ok: true, gone: true });
    expect([state.fenced.length, world.stored("ns")]).toEqual([1, undefined]);
  });

  it("the write of its own controller: names the uid that it has closed everywhere, and asks nobody; another uid is asked for", async () => {
    const { world, state, finalize } = await setting(() => Promise.resolve(HELD));
    expect(await finalize([], false, "uid of another")).toMatchObject({ ok: false, status: { code: 403 } });
    expect(state.fenced).toHaveLength(1);
    expect(await finalize([], false, world.stored("ns")?.metadata?.uid)).toMatchObject({ ok: true, gone: true });
    expect([state.fenced.length, world.stored("ns")]).toEqual([1, undefined]);
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
