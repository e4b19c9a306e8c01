/**
 * Workers with different gates and ranges on the same objects, as during the rollout of a deployment. Addresses stay unique and paired, and the
 * cluster names the setting that differs.
 */
import type { Readable } from "node:stream";
import { join } from "node:path";
import { Log, LogLevel, Miniflare, type WorkerOptions } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../../../scripts/serve/bundle";
import { readRuntimeConfig } from "../../../scripts/serve/runtime";
import { upstreamRow } from "../../conformance/upstream-row";
import type { Body } from "../../support/clients/api";
import { removeFolder, temporaryFolder } from "../../support/server/server";
import { PATIENCE } from "../../support/server/patience";

const WORKERS = {
  /** its objects are everybody's */
  servicenet: { SERVICE_CLUSTER_IP_RANGE: "10.96.0.0/16" },
  old: { SERVICE_CLUSTER_IP_RANGE: "10.96.0.0/16", FEATURE_GATES: "MultiCIDRServiceAllocator=false,DisableAllocatorDualWrite=false" },
  elsewhere: { SERVICE_CLUSTER_IP_RANGE: "10.97.0.0/16" },
} as const;
type Name = keyof typeof WORKERS;

const folder = temporaryFolder();
let runtime: Miniflare;
/** Each Worker is looked up once: a look-up blocks this thread until another one answers, and Miniflare can miss that answer. */
let workers: Record<Name, Awaited<ReturnType<Miniflare["getWorker"]>>>;
let output = "";

beforeAll(async () => {
  const config = readRuntimeConfig("wrangler.toml", {});
  const contents = bundle(config).text;
  const options = Object.entries(WORKERS).map(([name, vars]) => {
    const { worker } = readRuntimeConfig("wrangler.toml", { AUTHORIZATION_MODE: "AlwaysAllow", IMPLICIT_CLUSTERS: "true", ...vars });
    const own = name === config.name;
    const objects = Object.entries(worker.durableObjects ?? {}).map(([binding, object]) => {
      const className = typeof object === "string" ? object : object.className;
      return [binding, own ? object : { className, scriptName: config.name, useSQLite: true }];
    });
    return {
      ...worker,
      name,
      durableObjects: Object.fromEntries(objects) as WorkerOptions["durableObjects"],
      modules: [{ type: "ESModule", path: "index.js", contents }],
    } as WorkerOptions;
  });
  const collect = (stream: Readable) => void stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  runtime = new Miniflare({
    cf: false,
    log: new Log(LogLevel.ERROR),
    defaultPersistRoot: join(folder, "state"),
    handleRuntimeStdio: (stdout, stderr) => [stdout, stderr].forEach(collect),
    workers: options,
  });
  await runtime.ready;
  const [servicenet, old, elsewhere] = await Promise.all([
    runtime.getWorker("servicenet"),
    runtime.getWorker("old"),
    runtime.getWorker("elsewhere"),
  ]);
  workers = { servicenet, old, elsewhere };
}, 60_000);

afterAll(async () => {
  await runtime.dispose();
  removeFolder(folder);
});

async function ask(worker: Name, method: string, path: string, body?: unknown): Promise<{ code: number; body: Body; text: string }> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  const response = await workers[worker].fetch(`http://${worker}${path}`, init);
  const text = await response.text();
  return { code: response.status, text, body: (text.startsWith("{") ? JSON.parse(text) : {}) as Body };
}

function create(worker: Name, cluster: string, name: string, spec: object = {}) {
  return ask(worker, "POST", `/clusters/${cluster}/api/v1/namespaces/default/services`, {
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  });
}

async function items(path: string): Promise<Body[]> {
  return (await ask("servicenet", "GET", path)).body.items ?? [];
}

/** `address name` of each ClusterIP, and of each IPAddress. */
async function pairs(cluster: string): Promise<{ held: string[]; named: string[] }> {
  const services = await items(`/clusters/${cluster}/api/v1/services`);
  const objects = await items(`/clusters/${cluster}/apis/networking.k8s.io/v1/ipaddresses`);
  return {
    held: services.map(({ metadata, spec }) => `${String(spec?.["clusterIP"])} ${String(metadata?.name)}`).sort(),
    named: objects
      .map(({ metadata, spec }) => `${String(metadata?.name)} ${String((spec?.["parentRef"] as { name?: string } | undefined)?.name)}`)
      .sort(),
  };
}

/** `setting: count` of each event that says that a setting differs. */
async function differences(cluster: string): Promise<Record<string, number>> {
  const events = await items(`/clusters/${cluster}/apis/events.k8s.io/v1/namespaces/default/events`);
  const told = events.filter(({ reason }) => reason === "ConfigurationDiffers");
  return Object.fromEntries(
    told.map((event) => {
      const [, setting = ""] = /^A Worker runs with (\S+) /.exec(String(event["note"])) ?? [];
      return [setting, (event["series"] as { count?: number } | undefined)?.count ?? 1];
    }),
  );
}

describe("Workers with different gates", () => {
  it("5 + 5 Services made by both at once: unique addresses, each with its IPAddress", async () => {
    const names: Name[] = ["servicenet", "old"];
    const answers = await Promise.all(
      names.flatMap((worker) => [0, 1, 2, 3, 4].map((i) => create(worker, "skewed", `${worker}-${String(i)}`))),
    );
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 201));
    await expect
      .poll(async () => {
        const { held, named } = await pairs("skewed");
        return [held.length, new Set(held.map((pair) => pair.split(" ")[0])).size, JSON.stringify(held) === JSON.stringify(named)];
      }, PATIENCE)
      .toEqual([11, 11, true]);
    expect((await ask("old", "GET", "/clusters/skewed/apis/networking.k8s.io/v1/ipaddresses")).code).toBe(404);
  });

  upstreamRow("TestSkewAllocatorsRollout", () => {
    it(
      "100 addresses raced by both: exactly 100 of 200 creates fail, none is given twice, 101 IPAddresses",
      { timeout: 60_000 },
      async () => {
        const wanted = Array.from({ length: 100 }, (_, i) => `10.96.0.${String(i + 20)}`);
        const answers = await Promise.all(
          wanted.flatMap((clusterIP, i) => [
            create("old", "raced", `old-${String(i)}`, { clusterIP }),
            create("servicenet", "raced", `new-${String(i)}`, { clusterIP }),
          ]),
        );
        expect(answers.filter(({ code }) => code === 422)).toHaveLength(100);
        const given = answers.filter(({ code }) => code === 201).map(({ body }) => body.spec?.["clusterIP"]);
        expect([given.length, new Set(given)]).toEqual([100, new Set(wanted)]);
        await expect.poll(async () => (await pairs("raced")).named.length, PATIENCE).toBe(101);
        const { held, named } = await pairs("raced");
        expect(named).toEqual(held);
      },
    );
  });

  it("a gate that differs: named in events, metrics and the log", async () => {
    // Each of the first requests tells of it: how often that is one event more depends on the passes between them.
    const gates = ["DisableAllocatorDualWrite", "MultiCIDRServiceAllocator"];
    await expect.poll(async () => Object.keys(await differences("skewed")).sort(), PATIENCE).toEqual(gates);
    const { text } = await ask("servicenet", "GET", "/clusters/skewed/metrics");
    expect(text).toContain('servicenet_configuration_differs{setting="MultiCIDRServiceAllocator",cluster="skewed"} 1');
    expect(text).not.toContain('setting="SERVICE_CLUSTER_IP_RANGE"');
    expect(output).toMatch(/"configurations differ".*"setting":"MultiCIDRServiceAllocator","cluster":"true","worker":"false"/);
    const [event] = await items("/clusters/skewed/api/v1/namespaces/default/events?fieldSelector=reason%3DConfigurationDiffers");
    expect(event).toMatchObject({ type: "Warning", action: "ConfigurationCheck", involvedObject: { kind: "Service", name: "kubernetes" } });
  });
});

describe("Workers with different ranges", () => {
  it("ranges that differ: the cluster's own are used, and each cron reports the difference", async () => {
    // One first request of each Worker: it alone tells of the difference.
    const first = [await create("elsewhere", "ranges", "there-0"), await create("servicenet", "ranges", "here-0")];
    const others = await Promise.all([
      ...[1, 2, 3, 4].map((i) => create("servicenet", "ranges", `here-${String(i)}`)),
      ...[1, 2, 3, 4].map((i) => create("elsewhere", "ranges", `there-${String(i)}`)),
    ]);
    const answers = [...first, ...others];
    for (const { body } of answers) expect(body.spec?.["clusterIP"]).toMatch(/^10\.96\./);
    expect((await create("elsewhere", "ranges", "refused", { clusterIP: "10.97.0.9" })).code).toBe(422);
    await expect
      .poll(async () => {
        const { held, named } = await pairs("ranges");
        return [held.length, JSON.stringify(held) === JSON.stringify(named)];
      }, PATIENCE)
      .toEqual([11, true]);
    await expect.poll(() => differences("ranges"), PATIENCE).toEqual({ SERVICE_CLUSTER_IP_RANGE: 1 });
    await workers.elsewhere.scheduled({ cron: "* * * * *" });
    await expect.poll(() => differences("ranges"), PATIENCE).toEqual({ SERVICE_CLUSTER_IP_RANGE: 2 });
    const ranges = await items("/clusters/ranges/apis/networking.k8s.io/v1/servicecidrs");
    expect(ranges.map(({ metadata, spec }) => [metadata?.name, spec?.["cidrs"]])).toEqual([["kubernetes", ["10.96.0.0/16"]]]);
  });
});
