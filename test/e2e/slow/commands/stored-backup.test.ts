/** A backup by the clock, in the bucket of Miniflare, and `npm run restore` of the file that lies there: the way of an operator after a loss. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Log, LogLevel, Miniflare, type WorkerOptions } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundle } from "../../../../scripts/serve/bundle";
import { readRuntimeConfig } from "../../../../scripts/serve/runtime";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { runProgram } from "../../../support/server/program";
import { serverForTests } from "../../../support/server/server-for-tests";
import { getJson, removeFolder, temporaryFolder } from "../../../support/server/server";

const MANY = 600;
const FROM = "lost";
const folder = temporaryFolder();
const to = serverForTests();
let runtime: Miniflare;
let url: string;

beforeAll(async () => {
  const config = readRuntimeConfig("wrangler.toml", { AUTHORIZATION_MODE: "AlwaysAllow", BACKUPS_KEPT: "1" });
  const worker = {
    ...config.worker,
    modules: [{ type: "ESModule", path: "index.js", contents: bundle(config).text }],
    r2Buckets: ["BACKUPS"],
    // Miniflare's takes points and keeps none: a point that it refuses would be in the log.
    analyticsEngineDatasets: { FLEET_METRICS: { dataset: "servicenet" } },
  } as WorkerOptions;
  runtime = new Miniflare({ cf: false, log: new Log(LogLevel.ERROR), defaultPersistRoot: join(folder, "state"), ...worker });
  url = (await runtime.ready).href.replace(/\/$/, "");
}, 60_000);

afterAll(async () => {
  await runtime.dispose();
  removeFolder(folder);
});

async function send(method: string, path: string, body: object = {}): Promise<void> {
  const response = await fetch(url + path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
}

/** Of all Services of the namespace, by name. */
async function addresses(server: string, cluster: string): Promise<unknown[]> {
  const { items } = await getJson<{ items: Service[] }>(`${server}/clusters/${cluster}/api/v1/namespaces/shop/services`);
  return items.map(({ metadata, spec }) => [metadata?.name, spec?.clusterIP]).sort();
}

it("a cluster of several pages: its file in the bucket restores it, with every address", async () => {
  await send("PUT", `/clusters/${FROM}`);
  await send("POST", `/clusters/${FROM}/api/v1/namespaces`, { metadata: { name: "shop" } });
  for (let i = 0; i < MANY; i += 50) {
    const made = Array.from({ length: 50 }, (_, j) =>
      send("POST", `/clusters/${FROM}/api/v1/namespaces/shop/services`, {
        metadata: { name: `s-${i + j}` },
        spec: { ports: [{ port: 80 }] },
      }),
    );
    await Promise.all(made);
  }
  await (await runtime.getWorker()).scheduled({ cron: "* * * * *" });
  const bucket = await runtime.getR2Bucket("BACKUPS");
  const { objects } = await bucket.list({ prefix: `${FROM}/` });
  expect(objects).toHaveLength(1);
  const file = join(folder, "cluster.jsonl");
  writeFileSync(file, (await (await bucket.get(objects[0]?.key ?? ""))?.text()) ?? "");

  const args = ["--server", to.url, "--cluster", "new", "--file", file];
  const { code, out, err } = await runProgram("restore", args);
  expect({ code, err }, out).toEqual({ code: 0, err: "" });
  const held = await addresses(to.url, "new");
  expect(held).toHaveLength(MANY);
  expect(held).toEqual(await addresses(url, FROM));

  // Cut short, as by a download that broke.
  writeFileSync(file, ((await (await bucket.get(objects[0]?.key ?? ""))?.text()) ?? "").slice(0, -100));
  expect(await runProgram("restore", ["--server", to.url, "--cluster", "other", "--file", file])).toMatchObject({ code: 2 });
}, 240_000);
