/** Point-in-time recovery: what the platform is asked for, and the refusal of a runtime that has none. */
import { createExecutionContext, env } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { recoverObject } from "../../../durable-objects/platform/recovery";
import worker from "../../../src/worker/index";

const bindings = env as unknown as Env;
const TIME = "2026-01-31T12:00:00Z";

afterEach(() => void vi.useRealTimers());

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
