/**
 * One object of a cluster comes back as it was some time ago, as Cloudflare's point-in-time recovery does it; all others stay. The test puts the
 * object's file back while the server is down. docs/backup.md says what follows.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { CheckOutcome } from "../../../../scripts/check/run";
import type { Service } from "../../../../src/api/meta/kubernetes";
import { runProgram } from "../../../support/server/program";
import { getJson, removeFolder, type Server, startServer, temporaryFolder } from "../../../support/server/server";

const SERVICES = "/api/v1/namespaces/default/services";
let folder = "";
let server: Server;

afterEach(async () => {
  await server.stop();
  removeFolder(folder);
});

async function create(name: string, clusterIP?: string): Promise<void> {
  const body = JSON.stringify({ metadata: { name }, spec: { ports: [{ port: 80 }], ...(clusterIP === undefined ? {} : { clusterIP }) } });
  const response = await fetch(server.url + SERVICES, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  if (response.status !== 201) throw new Error(await response.text());
}

/** The files of all objects of a class, without the runtime's own. */
function filesOf(state: string, className: string): string[] {
  const path = join(state, "do", `servicenet-${className}`);
  return readdirSync(path)
    .filter((name) => !name.startsWith("metadata"))
    .map((name) => join(path, name));
}

/** Keeps the files of a stopped server's objects; the function puts them back. */
function kept(className: string): () => void {
  const [state, before] = [join(folder, "state"), join(folder, "before")];
  mkdirSync(before);
  for (const path of filesOf(state, className)) copyFileSync(path, join(before, path.slice(path.lastIndexOf("/") + 1)));
  return () => {
    for (const path of filesOf(state, className)) rmSync(path);
    for (const name of readdirSync(before)) copyFileSync(join(before, name), join(state, "do", `servicenet-${className}`, name));
  };
}

async function check(): Promise<CheckOutcome> {
  const { out, err } = await runProgram("check", ["--server", server.url, "--output", "json", "--repair", "--wait", "150"]);
  if (err) throw new Error(err);
  return JSON.parse(out) as CheckOutcome;
}

it.each([
  // Newer Services are gone and deleted ones are back, each with its address.
  ["ServicesStore", { gone: "10.96.1.1", first: "10.96.1.2", kept: "10.96.1.3" }],
  ["IPAddressesStore", { first: "10.96.1.2", kept: "10.96.1.3", later: "10.96.1.4", heir: "10.96.1.1" }],
  ["ServiceCIDR", { first: "10.96.1.2", kept: "10.96.1.3", later: "10.96.1.4", heir: "10.96.1.1" }],
  ["Coordinator", { first: "10.96.1.2", kept: "10.96.1.3", later: "10.96.1.4", heir: "10.96.1.1" }],
  ["Controller", { first: "10.96.1.2", kept: "10.96.1.3", later: "10.96.1.4", heir: "10.96.1.1" }],
])(
  "%s restored from an older copy: repair makes the cluster healthy",
  async (className, expected) => {
    folder = temporaryFolder();
    server = await startServer(folder);
    await create("gone", "10.96.1.1");
    await create("first", "10.96.1.2");
    await create("kept", "10.96.1.3");
    expect(await check()).toMatchObject({ wrong: [] });
    await server.stop();
    const putBack = kept(className);

    server = await startServer(folder);
    await fetch(`${server.url}${SERVICES}/gone`, { method: "DELETE" });
    await create("later", "10.96.1.4");
    await create("heir", "10.96.1.1");
    expect(await check()).toMatchObject({ wrong: [] });
    await server.stop();
    putBack();

    server = await startServer(folder);
    expect(await check()).toMatchObject({ wrong: [], unchecked: [] });
    const { items } = await getJson<{ items: Service[] }>(server.url + SERVICES);
    const held = Object.fromEntries(
      items.flatMap(({ metadata, spec }) => (metadata?.name === "kubernetes" ? [] : [[metadata?.name, spec?.clusterIP]])),
    );
    expect(held).toEqual(expected);
    // The cluster goes on: the next addresses have one holder each.
    for (let i = 0; i < 20; i++) await create(`next-${i}`);
    expect(await check()).toMatchObject({ wrong: [] });
  },
  400_000,
);

async function taint(node: string, taints: readonly object[]): Promise<void> {
  const headers = { "Content-Type": "application/merge-patch+json" };
  const response = await fetch(`${server.url}/api/v1/nodes/${node}`, {
    method: "PATCH",
    headers,
    body: JSON.stringify({ spec: { taints } }),
  });
  if (response.status !== 200) throw new Error(await response.text());
}

async function healthOf(...nodes: string[]): Promise<number[]> {
  const answers = await Promise.all(nodes.map((node) => fetch(`${server.url}/nodes/${node}/healthz`)));
  return Promise.all(answers.map(async (answer) => (await answer.text(), answer.status)));
}

// The restored object knows nothing of what was told meanwhile, and the others do.
it.each(["Controller", "NodeProxy"])(
  "%s restored from an older copy: checks of nodes answer what is now",
  async (className) => {
    const TAINT = { key: "ToBeDeletedByClusterAutoscaler", effect: "NoSchedule" };
    const patience = { timeout: 60_000, interval: 500 };
    folder = temporaryFolder();
    server = await startServer(folder);
    for (const name of ["n1", "n2"]) {
      const headers = { "Content-Type": "application/json" };
      await fetch(`${server.url}/api/v1/nodes`, { method: "POST", headers, body: JSON.stringify({ metadata: { name } }) });
    }
    await taint("n2", [TAINT]);
    await expect.poll(() => healthOf("n1", "n2"), patience).toEqual([200, 503]);
    await server.stop();
    const putBack = kept(className);

    server = await startServer(folder);
    await taint("n1", [TAINT]);
    await taint("n2", []);
    await expect.poll(() => healthOf("n1", "n2"), patience).toEqual([503, 200]);
    await server.stop();
    putBack();

    server = await startServer(folder);
    await taint("n1", []);
    await expect.poll(() => healthOf("n1", "n2"), patience).toEqual([200, 200]);
    await taint("n1", [TAINT]);
    await expect.poll(() => healthOf("n1", "n2"), patience).toEqual([503, 200]);
  },
  400_000,
);
