/** Backups by the clock: the whole Worker, its cron, real stores and the bucket of Miniflare. */
import { createExecutionContext, createScheduledController, env } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import type { Env } from "../../../durable-objects/platform/env";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import worker from "../../../src/worker/index";

const { TEST_BUCKET: bucket, ...others } = env as unknown as Env & { TEST_BUCKET: R2Bucket };
const bindings: Env = { ...others, BACKUPS: bucket };
const CLUSTER = "backed-up";

afterEach(() => void vi.restoreAllMocks());

async function send(method: string, path: string, body?: object): Promise<void> {
  const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await worker.fetch(new Request(`http://h/clusters/${CLUSTER}${path}`, init), bindings, createExecutionContext());
  const text = await response.text();
  if (!response.ok) throw new Error(text);
}

async function tick(own: Env = bindings): Promise<void> {
  await worker.scheduled(createScheduledController({ cron: "* * * * *", scheduledTime: new Date() }), own, createExecutionContext());
}

/** Lines of the one file of the cluster; [] = there is none. */
async function lines(): Promise<Record<string, unknown>[]> {
  const { objects } = await bucket.list({ prefix: `${CLUSTER}/` });
  expect(objects.length).toBeLessThan(2);
  const [object] = objects;
  if (!object) return [];
  expect(object.key).toMatch(/^backed-up\/\d{4}-\d\d-\d\dT00-00Z\.jsonl$/);
  const text = await (await bucket.get(object.key))?.text();
  return (text ?? "")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

it("a tick: each cluster is in the bucket, a file of version 2; the next tick writes nothing", async () => {
  await send("PUT", "");
  await send("POST", "/api/v1/namespaces/default/services", { metadata: { name: "web" }, spec: { ports: [{ port: 80 }] } });
  await send("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "word" }, data: { a: "b" } });
  await tick();
  const file = await lines();
  expect(file[0]).toMatchObject({ format: "servicenet-backup", version: 2, server: `/clusters/${CLUSTER}` });
  const names = (kind: string) => (file as KubeObject[]).filter((line) => line.kind === kind).map(({ metadata }) => metadata?.name);
  expect(names("Service").sort()).toEqual(["kubernetes", "web"]);
  expect(names("IPAddress")).toHaveLength(2);
  expect(names("ServiceCIDR")).toEqual(["kubernetes"]);
  expect(names("ConfigMap")).toContain("word");
  expect(names("Namespace")).toContain("kube-system");
  expect(names("Event")).toEqual([]);
  const heads = file.find((line) => "heads" in line) as { heads: Record<string, string> };
  expect(Object.keys(heads.heads)).toEqual(expect.arrayContaining(["services", "events", "leases.coordination.k8s.io"]));
  expect(file.at(-1)).toMatchObject({ end: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  const put = vi.spyOn(bucket, "put");
  await tick();
  expect(put).not.toHaveBeenCalled();
});

it("more than a part: an upload in parts, which R2 takes", async () => {
  await send("PUT", "");
  for (let i = 0; i < 8; i++)
    await send("POST", "/api/v1/namespaces/default/configmaps", {
      metadata: { name: `large-${String(i)}` },
      data: { text: "x".repeat(900_000) },
    });
  await tick();
  const maps = ((await lines()) as KubeObject[]).filter(
    ({ kind, metadata }) => kind === "ConfigMap" && metadata?.name?.startsWith("large"),
  );
  expect(maps).toHaveLength(8);
  const [object] = (await bucket.list({ prefix: `${CLUSTER}/` })).objects;
  expect(object?.etag, "of two parts").toMatch(/-2$/);
});

it("a bucket that refuses: an error in the log, other work of the tick is done, and the next tick has the file", async () => {
  await send("PUT", "");
  const printed = vi.spyOn(console, "error").mockReturnValue();
  const finished = vi.spyOn(console, "debug").mockReturnValue();
  const refusing = { get: () => Promise.reject(new Error("no such bucket")) } as unknown as R2Bucket;
  await tick({ ...bindings, LOG_LEVEL: "debug", BACKUPS: refusing });
  expect(printed.mock.calls.map(([line]) => String(line)).join()).toContain("the bucket refuses get: no such bucket");
  expect(await lines()).toEqual([]);
  printed.mockRestore();
  finished.mockRestore();
  await tick();
  expect(await lines()).not.toEqual([]);
});

it.each<[string, Partial<Env>]>([
  ["the variable says never", { BACKUP_INTERVAL_HOURS: "0" }],
  ["no bucket is bound", { BACKUPS: undefined } as unknown as Partial<Env>],
])("%s: nothing is asked", async (_, own) => {
  const asked = (["get", "head", "put", "list"] as const).map((name) => vi.spyOn(bucket, name));
  await tick({ ...bindings, ...own });
  for (const spy of asked) expect(spy).not.toHaveBeenCalled();
});
