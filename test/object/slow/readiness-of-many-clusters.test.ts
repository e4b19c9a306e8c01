/** Readiness of a cluster of which cron has nothing to visit, or little: through the Worker, real objects, and a clock that the test moves. */
import { createExecutionContext, createScheduledController, env } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import { rfc3339Micros } from "../../../src/api/meta/time";
import worker from "../../../src/worker/index";
import { cronOf, isNoted } from "../../support/shards/real-shards";

const bindings = env as unknown as Env;
const MINUTE_MS = 60_000;
const CLUSTER = "z-renewed";
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
  const spec = { holderIdentity: "x", leaseDurationSeconds: 40 };
  expect((await send("POST", LEASES, { metadata: { name: "x" }, spec })).status).toBe(201);
  for (let minute = 4; minute <= 40; minute += 4) {
    vi.setSystemTime(begunMs + minute * MINUTE_MS);
    expect((await send("PATCH", `${LEASES}/x`, { spec: { renewTime: rfc3339Micros(Date.now()) } })).status).toBe(200);
    await worker.scheduled(
      createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }),
      cronOf(bindings, CLUSTER),
      createExecutionContext(),
    );
  }
  const answer = await send("GET", "/readyz/scheduled-jobs");
  expect([answer.status, await answer.text()]).toEqual([200, "ok"]);
  expect(await isNoted(bindings, CLUSTER, "minute")).toBe(false);
});
