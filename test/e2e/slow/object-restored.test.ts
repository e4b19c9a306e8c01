/**
 * One object of a cluster comes back as it was some time ago, as Cloudflare's point-in-time recovery does it; all others stay. The test puts the
 * object's file back while the server is down. docs/operations.md says what follows.
 */
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import type { CheckOutcome } from "../../../scripts/check/run";
import type { Service } from "../../../src/api/meta/kubernetes";
import { runProgram } from "../../support/server/program";
import { getJson, removeFolder, type Server, startServer, temporaryFolder } from "../../support/server/server";

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
    const [state, before] = [join(folder, "state"), join(folder, "before")];
    server = await startServer(folder);
    await create("gone", "10.96.1.1");
    await create("first", "10.96.1.2");
    await create("kept", "10.96.1.3");
    expect(await check()).toMatchObject({ wrong: [] });
    await server.stop();
    mkdirSync(before);
    for (const path of filesOf(state, className)) copyFileSync(path, join(before, path.slice(path.lastIndexOf("/") + 1)));

    server = await startServer(folder);
    await fetch(`${server.url}${SERVICES}/gone`, { method: "DELETE" });
    await create("later", "10.96.1.4");
    await create("heir", "10.96.1.1");
    expect(await check()).toMatchObject({ wrong: [] });
    await server.stop();
    for (const path of filesOf(state, className)) rmSync(path);
    for (const name of readdirSync(before)) copyFileSync(join(before, name), join(state, "do", `servicenet-${className}`, name));

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
