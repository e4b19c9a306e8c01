/** Events go when their hour is over: through the whole Worker, its cron and the real store, on a clock that the test moves. */
import { createExecutionContext, createScheduledController, env } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { EVENT_LIFETIME_MS } from "../../../src/controllers/event-expiry";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import worker from "../../../src/worker/index";
import { PATIENCE } from "../../support/objects/patience";
import { cronOf, isNoted } from "../../support/shards/real-shards";

const bindings = env as unknown as Env;
const CLUSTER = "event-expiry";
/** Alarms are set by the clock of the test, and ring by the real one: so not long before or after it. */
const BEGUN = Math.ceil(Date.now() / 1000) * 1000;
const MINUTE_MS = 60_000;
const FORMS = ["/api/v1", "/apis/events.k8s.io/v1"] as const;

afterEach(() => {
  vi.useRealTimers();
});

async function send<T = KubeObject>(method: string, path: string, body?: object): Promise<T> {
  const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await worker.fetch(new Request(`http://h/clusters/${CLUSTER}${path}`, init), bindings, createExecutionContext());
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer as T;
}

/** The clock moves on to this moment, and the hourly cron fires. */
async function cronAt(nowMs: number): Promise<void> {
  vi.setSystemTime(nowMs);
  await worker.scheduled(
    createScheduledController({ cron: "0 * * * *", scheduledTime: new Date(nowMs) }),
    cronOf(bindings, CLUSTER),
    createExecutionContext(),
  );
}

async function names(form: (typeof FORMS)[number]): Promise<string[]> {
  const { items } = await send<{ items: KubeObject[] }>("GET", `${form}/namespaces/default/events`);
  return items.map(({ metadata }) => metadata?.name ?? "").sort();
}

const microTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, -1)}000Z`;

it("an event: deleted from both APIs by the first cron an hour after it was last seen, and watches hear of it", async () => {
  vi.setSystemTime(BEGUN);
  const regarding = { kind: "Service", namespace: "default", name: "web" };
  const told = { reportingController: "example.com/test", reportingInstance: "test-1", action: "Test", reason: "Tested", type: "Normal" };
  const aged = { metadata: { name: "once" }, regarding, ...told, eventTime: microTime(BEGUN) };
  await send("POST", "/apis/events.k8s.io/v1/namespaces/default/events", aged);
  const series = { ...aged, metadata: { name: "again" }, series: { count: 2, lastObservedTime: microTime(BEGUN + 40 * MINUTE_MS) } };
  await send("POST", "/apis/events.k8s.io/v1/namespaces/default/events", series);
  await send("POST", "/api/v1/namespaces/default/events", { metadata: { name: "old-form" }, involvedObject: regarding, reason: "Tested" });
  await vi.waitUntil(() => isNoted(bindings, CLUSTER, "hour"), PATIENCE);

  const watching = await worker.fetch(
    new Request(`http://h/clusters/${CLUSTER}/api/v1/events?watch=true&resourceVersion=4&timeoutSeconds=86400`),
    bindings,
    createExecutionContext(),
  );
  const reader = (watching.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();

  await cronAt(BEGUN + 50 * MINUTE_MS);
  for (const form of FORMS) expect(await names(form)).toEqual(["again", "old-form", "once"]);
  await cronAt(BEGUN + EVENT_LIFETIME_MS - 1);
  for (const form of FORMS) expect(await names(form)).toEqual(["again", "old-form", "once"]);
  await cronAt(BEGUN + EVENT_LIFETIME_MS);
  for (const form of FORMS) expect(await names(form)).toEqual(["again"]);

  let text = "";
  while (text.split("\n").length < 3) text += (await reader.read()).value ?? "";
  const frames = text.trimEnd().split("\n");
  const deleted = frames.map((frame) => JSON.parse(frame) as { type: string; object: KubeObject });
  expect(deleted.map(({ type, object }) => `${type} ${object.metadata?.name ?? ""}`).sort()).toEqual(["DELETED old-form", "DELETED once"]);
  await reader.cancel();

  await cronAt(BEGUN + 40 * MINUTE_MS + EVENT_LIFETIME_MS);
  for (const form of FORMS) expect(await names(form)).toEqual([]);
});
