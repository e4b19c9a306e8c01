/** Clusters on one pool of the root, while the server is killed, and a cluster restored: no address is given twice. */
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import type { AddressPool, PoolAddress } from "../../../../src/api/registry/ipam/ipam";
import { runProgram } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";

const server = serverForTests();
const files = temporaryFolder();
afterAll(() => removeFolder(files));

const IPAM = "/apis/ipam.cluster.x-k8s.io";
const POOL = `${IPAM}/v1alpha2/globalinclusterippools`;
const CLAIMS = `${IPAM}/v1beta2/namespaces/default/ipaddressclaims`;
const CLUSTERS = ["blue", "red"];
const PATIENCE = { timeout: 30_000, interval: 100 };
/** A poke dies with the server: cron's visit each minute makes up for it. */
const BEHIND_CRON = { timeout: 130_000, interval: 200 };

async function send<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(server.url + path, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${await response.text()}`);
  return (await response.json()) as T;
}

async function claim(cluster: string, name: string): Promise<void> {
  const poolRef = { apiGroup: "ipam.cluster.x-k8s.io", kind: "GlobalInClusterIPPool", name: "fleet" };
  await send("POST", `/clusters/${cluster}${CLAIMS}`, { metadata: { name }, spec: { poolRef } });
}

/** `name address` of each claim. */
async function given(cluster: string): Promise<string[]> {
  const { items } = await send<{ items: PoolAddress[] }>("GET", `/clusters/${cluster}${IPAM}/v1beta2/ipaddresses`);
  return items.map(({ metadata, spec }) => `${metadata?.name ?? ""} ${spec?.address ?? ""}`);
}

async function addresses(): Promise<string[]> {
  return (await Promise.all(CLUSTERS.map(given))).flat().map((text) => text.split(" ")[1] ?? "");
}

async function expectUsed(used: number): Promise<void> {
  await vi.waitFor(async () => expect((await send<AddressPool>("GET", `${POOL}/fleet`)).status?.ipAddresses?.used).toBe(used), PATIENCE);
}

it("the server is killed while claims of both are served: all get an address, and no two the same", async () => {
  for (const cluster of CLUSTERS) await send("PUT", `/clusters/${cluster}`);
  await send("POST", POOL, { metadata: { name: "fleet" }, spec: { addresses: ["192.0.2.1-192.0.2.99"], prefix: 24 } });
  for (let round = 0; round < 3; round++) {
    const names = Array.from({ length: 10 }, (_, i) => `c-${String(round)}-${String(i)}`);
    await Promise.all(CLUSTERS.flatMap((cluster) => names.map((name) => claim(cluster, name))));
    await server.kill();
    await server.start();
  }
  await vi.waitFor(async () => expect(await addresses()).toHaveLength(60), BEHIND_CRON);
  expect(new Set(await addresses()).size).toBe(60);
  await expectUsed(60);
}, 240_000);

it("a cluster that is restored from a backup of another one: its claims get addresses of their own", async () => {
  const before = await given("blue");
  const file = join(files, "blue.jsonl");
  const run = (command: string, cluster: string) => runProgram(command, ["--server", server.url, "--cluster", cluster, "--file", file]);
  const backup = await run("backup", "blue");
  expect([backup.code, backup.err]).toEqual([0, ""]);
  const restore = await run("restore", "green");
  expect([restore.code, restore.err]).toEqual([0, ""]);
  await vi.waitFor(async () => expect(await given("green")).toHaveLength(30), PATIENCE);
  expect(await given("blue")).toEqual(before);
  const all = [...(await addresses()), ...(await given("green")).map((text) => text.split(" ")[1] ?? "")];
  expect(new Set(all).size).toBe(90);
  await expectUsed(90);
});

it("a cluster that is deleted gives its addresses back", async () => {
  for (const cluster of ["blue", "green"]) await send("DELETE", `/clusters/${cluster}`);
  await expectUsed(30);
});
