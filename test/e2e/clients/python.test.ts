/** The official Python client against the started server: the programs of test/clients/python. */
import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { ClientProgram } from "../../support/clients/client-program";
import { recipe } from "../../support/examples/access-page";
import { getJson, removeFolder, type Server, startServer, temporaryFolder } from "../../support/server/server";

const PROGRAM = join(import.meta.dirname, "..", "..", "clients", "python", "main.py");
const SERVICES = "/api/v1/namespaces/default/services";

const data = temporaryFolder();
const files = temporaryFolder();
let server: Server;
const running: ClientProgram[] = [];

beforeAll(async () => {
  server = await startServer(data);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.kill()));
});
afterAll(async () => {
  await server.stop();
  for (const folder of [data, files]) removeFolder(folder);
});

function start(program: string, args: readonly string[] = []): ClientProgram {
  const started = new ClientProgram(process.env["CLIENTS_PYTHON"] ?? "", [PROGRAM, "--kubeconfig", server.kubeconfig, ...args, program]);
  running.push(started);
  return started;
}

async function run(program: string, args: readonly string[] = []): Promise<Record<string, unknown>> {
  const started = start(program, args);
  const code = await started.ended;
  expect({ code, problems: started.problems }).toEqual({ code: 0, problems: "" });
  return started.lines[0] ?? {};
}

async function send(method: string, path: string, body?: object): Promise<void> {
  const init = { method, headers: { "Content-Type": "application/json" }, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await fetch(server.url + path, init);
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${await response.text()}`);
}

/** kill -9 of everything, and a start on the same port and data. */
async function restart(): Promise<void> {
  const { port } = new URL(server.url);
  await server.kill();
  server = await startServer(data, ["--port", port]);
}

it("dynamic client: finds the type by discovery, creates, patches, applies, lists and deletes", async () => {
  expect(await run("dynamic")).toEqual({ address: expect.stringMatching(/^10\.96\./) as string });
});

it("create_from_yaml: makes every object of a file; a second time each is refused as AlreadyExists", async () => {
  const file = join(files, "objects.yaml");
  writeFileSync(
    file,
    [
      "{ apiVersion: v1, kind: Namespace, metadata: { name: yaml } }",
      "{ apiVersion: v1, kind: Service, metadata: { name: a, namespace: yaml }, spec: { ports: [{ port: 80 }] } }",
      "{ apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: { name: l, namespace: yaml }, spec: { holderIdentity: me } }",
    ].join("\n---\n"),
  );
  const refused = "AlreadyExists";
  expect(await run("create", ["--file", file])).toEqual({ made: ["Namespace", "Service", "Lease"], refused: [refused, refused, refused] });
});

it.each([
  { name: "a list-and-watch loop", program: "watch" },
  { name: "the package's SharedInformer", program: "informer" },
])(
  "$name: holds what the server has, after changes and a kill -9 of the server",
  async ({ program }) => {
    const loop = start(program);
    const held = async (): Promise<Record<string, string>> => {
      const { items } = await getJson<{ items: KubeObject[] }>(`${server.url}/api/v1/services`);
      return Object.fromEntries(
        items.map(({ metadata }) => [`${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`, metadata?.resourceVersion ?? ""]),
      );
    };
    const agrees = async (): Promise<void> => {
      const both = async (): Promise<boolean> => isDeepStrictEqual(await loop.ask("held"), await held());
      await expect.poll(both, { timeout: 60_000, interval: 200 }).toBe(true);
    };
    await agrees();
    for (let i = 0; i < 5; i++)
      await send("POST", SERVICES, { metadata: { name: `${program}-${String(i)}` }, spec: { ports: [{ port: 80 }] } });
    await send("DELETE", `${SERVICES}/${program}-0`);
    await agrees();
    await restart();
    await send("DELETE", `${SERVICES}/${program}-1`);
    await agrees();
  },
  120_000,
);

describe("leader election by a ConfigMap", () => {
  it("the leader is killed: another one leads after it, never beside it", async () => {
    const electors = new Map(["a", "b", "c"].map((identity) => [identity, start("elect", ["--identity", identity])]));
    const leaders = () => [...electors].filter(([, { lines }]) => lines.length > 0).map(([identity]) => identity);
    await expect.poll(leaders, { timeout: 30_000 }).toHaveLength(1);
    const [first = ""] = leaders();
    await electors.get(first)?.kill();
    await expect.poll(leaders, { timeout: 60_000 }).toHaveLength(2);
    const second = leaders().find((identity) => identity !== first) ?? "";
    const last = electors.get(first)?.lines.at(-1)?.["at"] as number;
    expect(electors.get(second)?.lines[0]?.["at"]).toBeGreaterThan(last);
  }, 120_000);
});

it("program of docs/access.md: lists with a token and the CA", { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  const secure = await startServer(folder, [], { secure: true });
  try {
    symlinkSync(folder, join(files, ".servicenet"));
    writeFileSync(join(files, "jane.token"), `${secure.token}\n`);
    const text = recipe("Programs", "python", secure.url);
    const { stdout, stderr } = spawnSync(process.env["CLIENTS_PYTHON"] ?? "", ["-c", text], { cwd: files, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: "['kubernetes']\n", stderr: "" });
  } finally {
    await secure.stop();
    removeFolder(folder);
  }
});
