/** Point-in-time recovery: what the platform is asked for, and the refusal of a runtime that has none. */
import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { Controller } from "../../../../durable-objects/controller";
import { repairStub } from "../../../../durable-objects/peers/peers";
import { recoverObject } from "../../../../durable-objects/platform/recovery";
import type { Recoverable } from "../../../../src/tenancy/rpc";
import worker from "../../../../src/worker/index";
import { AppCluster, bindings } from "../../../support/access/app-cluster";
import { PATIENCE } from "../../../support/objects/patience";

const TIME = "2026-01-31T12:00:00Z";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function post(body: object): Promise<{ code: number; message: string }> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await worker.fetch(new Request("http://h/recoveries", init), bindings, createExecutionContext());
  return { code: response.status, message: ((await response.json()) as { message: string }).message };
}

it.each(["services", "servicecidrs.networking.k8s.io", "leases.coordination.k8s.io", "controllers/repair"])(
  "%s on a local runtime: one line that says so, and the object goes on",
  async (object) => {
    const refused = { code: 405, message: "point-in-time recovery is Cloudflare's: a local server has none" };
    expect(await post({ object, time: TIME })).toEqual(refused);
    expect(await post({ object, bookmark: "00000001-00000000-00004f1c-0123456789abcdef" })).toEqual(refused);
    const list = await worker.fetch(new Request("http://h/api/v1/services"), bindings, createExecutionContext());
    expect([list.status, (await list.text()).length > 0]).toEqual([200, true]);
  },
);

it.each<[object, RegExp]>([
  [{ object: "nothing", time: TIME }, /^object must be owners\/UID, controllers\/NAME, or one of /],
  [{ object: "events.events.k8s.io", time: TIME }, /^object must be/],
  [{ object: "owners/x", time: TIME }, /^object must be/],
  [{ object: "controllers/nobody", time: TIME }, /^object must be/],
  [{ object: "services/..", time: TIME }, /^object must be/],
  [{ object: "services" }, /^there must be a time or a bookmark$/],
  [{ object: "services", time: TIME, bookmark: "b" }, /^there must be a time or a bookmark$/],
  [{ object: "services", time: "noon" }, /^time must be one as/],
  [{ object: "services", bookmark: 1 }, /^time must be one as/],
  [{ object: "services", time: TIME, force: true }, /^strict decoding error: unknown field "force"/],
])("%j: 400", async (body, message) => {
  expect(await post(body)).toEqual({ code: 400, message: expect.stringMatching(message) });
});

it("owners: those that have ranges alone, so that no recovery makes an object that nobody finds", async () => {
  const uid = crypto.randomUUID();
  const missing = { code: 404, message: `servicecidrs.networking.k8s.io "${uid}" not found` };
  expect(await post({ object: `owners/${uid}`, time: TIME })).toEqual(missing);
  const path = "http://h/apis/networking.k8s.io/v1/servicecidrs";
  const list = await worker.fetch(new Request(path), bindings, createExecutionContext());
  const { items } = (await list.json()) as { items: { metadata: { uid: string } }[] };
  expect(await post({ object: `owners/${String(items[0]?.metadata.uid)}`, time: TIME })).toMatchObject({ code: 405 });
});

it("the way back: in the log of the object, too, before it starts anew", async () => {
  vi.useFakeTimers();
  const written = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const { calls, ctx } = objectOn({});
  await recoverObject(ctx, { atMs: 7 });
  expect(written.mock.calls.flat().join("")).toMatch(/"undo":"now"/);
  expect(calls.flat()).not.toContain("abort");
  written.mockRestore();
});

it("the list of used stores: is in doubt behind its restart, so that no store that entered since is taken for unused", async () => {
  const cluster = new AppCluster();
  expect((await cluster.send("PUT", "")).code).toBe(201);
  const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  expect((await cluster.send("POST", leases, { metadata: { name: "a" }, spec: {} })).code).toBe(201);
  const repair = bindings.CONTROLLER.getByName(`${cluster.name}/controllers/repair`);
  const entered = () => repairStub(bindings, cluster.name).entered();
  expect(await entered()).toContain("leases.coordination.k8s.io");
  // What the platform does at the restart happens here when it is asked to.
  const restore = await runInDurableObject(repair, (_, { storage }) => {
    const platform = Object.getPrototypeOf(storage) as DurableObjectStorage;
    vi.spyOn(platform, "getBookmarkForTime").mockResolvedValue("then");
    return vi.spyOn(platform, "onNextSessionRestoreBookmark").mockImplementation(function (this: DurableObjectStorage) {
      this.sql.exec("DELETE FROM followed_rows WHERE kind IN ('entered', 'visits') AND key LIKE 'leases%'");
      return Promise.resolve("now");
    });
  });
  const answer = await cluster.send("POST", "/recoveries", { object: "controllers/repair", time: TIME });
  expect(answer).toEqual({ code: 200, body: { object: "controllers/repair", undo: "now" } });
  expect(restore).toHaveBeenCalledTimes(1);
  expect(await entered()).toBeNull();
  await vi.waitFor(async () => {
    await cluster.tick();
    expect(await entered()).toContain("leases.coordination.k8s.io");
  }, PATIENCE);
}, 60_000);

it("the list of used stores cannot be told: the answer says so beside the way back", async () => {
  const cluster = new AppCluster();
  expect((await cluster.send("PUT", "")).code).toBe(201);
  const repair = bindings.CONTROLLER.getByName(`${cluster.name}/controllers/repair`);
  await runInDurableObject(repair, (object) => {
    const shell = Object.getPrototypeOf(object) as Controller;
    vi.spyOn(shell as unknown as Recoverable, "recover").mockResolvedValue({ ok: true, undo: "now" });
    vi.spyOn(shell, "doubt").mockRejectedValue(new Error("down"));
  });
  const answer = await cluster.send("POST", "/recoveries", { object: "controllers/repair", time: TIME });
  expect(answer).toEqual({ code: 200, body: { object: "controllers/repair", undo: "now", doubted: false } });
}, 60_000);

/** The platform. */
function objectOn(answers: Partial<Record<"getBookmarkForTime" | "onNextSessionRestoreBookmark", (asked: unknown) => Promise<string>>>) {
  const calls: unknown[] = [];
  const asked = (name: keyof typeof answers, value: string) => (argument: unknown) => {
    calls.push([name, argument]);
    return answers[name]?.(argument) ?? Promise.resolve(value);
  };
  const storage = {
    getBookmarkForTime: asked("getBookmarkForTime", "then"),
    onNextSessionRestoreBookmark: asked("onNextSessionRestoreBookmark", "now"),
  } as unknown as DurableObjectStorage;
  return {
    calls,
    ctx: { id: { name: "c1/services" } as DurableObjectId, storage, abort: (why?: string) => void calls.push(["abort", why]) },
  };
}

it("a runtime that has it: the bookmark of the time, then a new start behind the answer; the way back needs no time", async () => {
  vi.useFakeTimers();
  const { calls, ctx } = objectOn({});
  expect(await recoverObject(ctx, { atMs: 7 })).toEqual({ ok: true, undo: "now" });
  const restored = [
    ["getBookmarkForTime", 7],
    ["onNextSessionRestoreBookmark", "then"],
  ];
  expect(calls).toEqual(restored);
  vi.runAllTimers();
  expect(calls).toEqual([...restored, ["abort", "brought back to an earlier time"]]);
  const back = objectOn({});
  await recoverObject(back.ctx, { bookmark: "now" });
  expect(back.calls).toEqual([["onNextSessionRestoreBookmark", "now"]]);
});

it.each(["getBookmarkForTime", "onNextSessionRestoreBookmark"] as const)(
  "%s that refuses: its reason, and no new start",
  async (method) => {
    vi.useFakeTimers();
    const { calls, ctx } = objectOn({ [method]: () => Promise.reject(new Error("older than 30 days")) });
    expect(await recoverObject(ctx, { atMs: 7 })).toEqual({ ok: false, isHere: true, why: "older than 30 days" });
    vi.runAllTimers();
    expect(calls).not.toContainEqual(expect.arrayContaining(["abort"]));
  },
);
