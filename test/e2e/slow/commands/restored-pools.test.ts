/** A restore gives each claim the address that it had, and a pool goes on where it was. */
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
const POOL = `${IPAM}/v1alpha2/namespaces/default/inclusterippools`;
const CLAIMS = `${IPAM}/v1beta2/namespaces/default/ipaddressclaims`;

async function send<T>(method: string, path: string, body?: object): Promise<T> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const response = await fetch(server.url + path, {
    method,
    headers: { "Content-Type": type },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${await response.text()}`);
  return (await response.json()) as T;
}

function claim(name: string): object {
  return { metadata: { name }, spec: { poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "p" } } };
}

async function given(cluster: string): Promise<string[]> {
  const { items } = await send<{ items: PoolAddress[] }>("GET", `/clusters/${cluster}${IPAM}/v1beta2/ipaddresses`);
  return items.map(({ metadata, spec }) => `${metadata?.name ?? ""} ${spec?.address ?? ""}`);
}

async function expectGiven(cluster: string, addresses: string[]): Promise<void> {
  await vi.waitFor(async () => expect(await given(cluster)).toEqual(addresses), { timeout: 20_000, interval: 100 });
}

async function counts(cluster: string): Promise<unknown> {
  return (await send<AddressPool>("GET", `/clusters/${cluster}${POOL}/p`)).status?.ipAddresses;
}

it("claims of a backup: have the addresses that they had, of which one is outside of its pool now", async () => {
  await send("PUT", "/clusters/blue");
  await send("POST", `/clusters/blue${POOL}`, { metadata: { name: "p" }, spec: { addresses: ["192.0.2.1-192.0.2.9"], prefix: 24 } });
  const addresses = ["a 192.0.2.1", "b 192.0.2.2", "c 192.0.2.3", "d 192.0.2.4"];
  for (const [i, name] of ["a", "b", "c", "d"].entries()) {
    await send("POST", `/clusters/blue${CLAIMS}`, claim(name));
    await expectGiven("blue", addresses.slice(0, i + 1));
  }
  await send("DELETE", `/clusters/blue${CLAIMS}/a`);
  await expectGiven("blue", addresses.slice(1));
  const shrunk = {
    metadata: { annotations: { "servicenet.dev/keep-out-of-range": "true" } },
    spec: { addresses: ["192.0.2.1-192.0.2.3"] },
  };
  await send("PATCH", `/clusters/blue${POOL}/p`, shrunk);
  const counted = { total: 3, used: 3, free: 0, outOfRange: 1 };
  await vi.waitFor(async () => expect(await counts("blue")).toEqual(counted), { timeout: 20_000, interval: 100 });

  const file = join(files, "blue.jsonl");
  const backup = await runProgram("backup", ["--server", server.url, "--cluster", "blue", "--file", file]);
  expect([backup.code, backup.err]).toEqual([0, ""]);
  const restore = await runProgram("restore", ["--server", server.url, "--cluster", "green", "--file", file]);
  expect([restore.code, restore.err]).toEqual([0, ""]);
  await expectGiven("green", addresses.slice(1));
  await vi.waitFor(async () => expect(await counts("green")).toEqual(counted), { timeout: 20_000, interval: 100 });
  await send("POST", `/clusters/green${CLAIMS}`, claim("e"));
  await expectGiven("green", [...addresses.slice(1), "e 192.0.2.1"]);
  const [address] = (await send<{ items: PoolAddress[] }>("GET", `/clusters/green${IPAM}/v1beta2/ipaddresses`)).items;
  expect(address?.metadata?.ownerReferences?.map(({ kind }) => kind)).toEqual(["IPAddressClaim", "InClusterIPPool"]);
});
