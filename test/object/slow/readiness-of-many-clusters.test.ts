/** Readiness of a cluster of which cron has nothing to visit, or little: through the Worker, real objects, and a clock that the test moves. */
import { createExecutionContext, createScheduledController, env } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { rfc3339Micros } from "../../../src/api/meta/time";
import { busyKey, directoryKey } from "../../../src/tenancy/directory-keys";
import worker from "../../../src/worker/index";

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const CLUSTER = "z-renewed";
const IDLE = Array.from({ length: 10 }, (_, i) => `a-idle-${String(i)}`);
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

afterEach(() => vi.useRealTimers());

async function send(method: string, path: string, body?: object): Promise<Response> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const init = { method, headers: { "Content-Type": type }, ...(body ? { body: JSON.stringify(body) } : {}) };
  return worker.fetch(new Request(`http://h/clusters/${CLUSTER}${path}`, init), bindings, createExecutionContext());
}

it("half an hour of Lease renewals, many clusters: ready", async () => {
  const begunMs = Date.now();
  vi.setSystemTime(begunMs);
  for (const name of IDLE) await bindings.DIRECTORY.put(directoryKey(name), "{}");
  const spec = { holderIdentity: "x", leaseDurationSeconds: 40 };
  expect((await send("POST", LEASES, { metadata: { name: "x" }, spec })).status).toBe(201);
  for (let minute = 4; minute <= 40; minute += 4) {
    vi.setSystemTime(begunMs + minute * MINUTE_MS);
    // The note of the cluster's beginning expires by a clock that the test does not move.
    if (minute > 10) await bindings.DIRECTORY.delete(busyKey("minute", CLUSTER));
    expect((await send("PATCH", `${LEASES}/x`, { spec: { renewTime: rfc3339Micros(Date.now()) } })).status).toBe(200);
    const { keys } = await bindings.DIRECTORY.list();
    // Objects of the files before may still note that their clusters are busy.
    const others = keys.filter(({ name }) => !name.includes(CLUSTER) && !name.includes("a-idle-") && !name.startsWith("cron/"));
    await Promise.all(others.map(({ name }) => bindings.DIRECTORY.delete(name)));
    await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), bindings, createExecutionContext());
  }
  const answer = await send("GET", "/readyz/scheduled-jobs");
  expect([answer.status, await answer.text()]).toEqual([200, "ok"]);
  // Other tests have other clusters.
  const { keys } = await bindings.DIRECTORY.list();
  await Promise.all(keys.map(({ name }) => bindings.DIRECTORY.delete(name)));
});
