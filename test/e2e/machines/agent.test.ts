/** `npm run agent` as a process: a node that comes and goes. Wrong options are in command-lines.test.ts. Longer histories are in slow/agent.test.ts. */
import { EventEmitter, once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { NetworkInterfaceInfo } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { addressesFound } from "../../../scripts/agent/addresses-found";
import { stopSignals } from "../../../scripts/agent/stop-signals";
import { targetSend } from "../../../scripts/agent/target-send";
import { Api } from "../../support/clients/api";
import { startCommand, startProgram } from "../../support/server/program";
import { clusterForTests } from "../../support/server/cluster-for-tests";

const cluster = clusterForTests();
const api = new Api(() => cluster.url);
const ADDRESSES = ["--address", "192.0.2.1", "--address", "2001:db8:0::1"];

it("a node that joins and leaves: Ready with its labels, then gone with its Lease", async () => {
  const args = [
    "--node",
    "n1",
    "--server",
    cluster.url,
    ...ADDRESSES,
    "--zone",
    "z",
    "--label",
    "team=a",
    "--state",
    join(cluster.folder, "agent"),
  ];
  const agent = await startProgram(
    "agent",
    [...args, "--leave", "--leave-after", "0"],
    /The agent of n1 is ready \(addresses 192.0.2.1, 2001:db8::1,/,
  );
  const { body } = await api.send("GET", "/api/v1/nodes/n1");
  const managers = body.metadata?.managedFields?.map(({ manager }) => manager);
  expect(new Set(managers)).toEqual(new Set(["servicenet-agent"]));
  expect(body.metadata?.labels).toMatchObject({ "kubernetes.io/hostname": "n1", "topology.kubernetes.io/zone": "z", team: "a" });
  await expect
    .poll(async () => (await api.send("GET", "/api/v1/nodes/n1")).text, { timeout: 30_000 })
    .toMatch(/"type":"Ready","status":"True"/);
  expect(await agent.stop()).toBe(0);
  expect((await api.send("GET", "/api/v1/nodes/n1")).code).toBe(404);
  expect((await api.send("GET", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1")).code).toBe(404);
});

it("a token file that changes or vanishes: the next request after a refusal has the new token, and the old one while there is none", async () => {
  const api = createServer(({ headers }, response) => {
    response.writeHead(headers.authorization === "Bearer new" ? 200 : 401).end("{}");
  }).listen(0, "127.0.0.1");
  await once(api, "listening");
  const file = join(cluster.folder, "token");
  const send = targetSend({ url: `http://127.0.0.1:${String((api.address() as AddressInfo).port)}`, options: {} }, file);
  const status = async (): Promise<number> => (await send("/api/v1/nodes", { signal: new AbortController().signal })).status;
  await expect(status()).rejects.toThrow("ENOENT");
  writeFileSync(file, "old\n");
  expect(await status()).toBe(401);
  writeFileSync(file, "\n");
  expect(await status()).toBe(401);
  rmSync(file);
  expect(await status()).toBe(401);
  writeFileSync(file, "new\n");
  expect(await status()).toBe(200);
  // Without a refusal it is read again after 5 s.
  writeFileSync(file, "newer\n");
  expect(await status()).toBe(200);
  const now = performance.now();
  const later = vi.spyOn(performance, "now").mockReturnValue(now + 6_000);
  expect(await status()).toBe(401);
  later.mockRestore();
  api.close();
  api.closeAllConnections();
});

it("a signal to npm alone, as from a script that knows no other process: reaches the agent, and npm ends with it", async () => {
  const args = ["--node", "n2", "--server", "http://127.0.0.1:1", ...ADDRESSES, "--state", join(cluster.folder, "agent-2")];
  const agent = await startCommand(
    "npm",
    ["run", "--silent", "agent", "--", ...args],
    /agent: .*ECONNREFUSED|agent: .*fetch failed/,
    process.cwd(),
  );
  expect([await agent.stop(), agent.output()]).toEqual([0, expect.stringMatching(/agent: stopped\n$/)]);
});

it.each<[what: string, laterMs: number[], asked: string[]]>([
  ["one", [], ["stop"]],
  ["one and what npm passes on", [50], ["stop"]],
  ["one, and another one later", [50, 5_000], ["stop", "hurry"]],
])("signals, %s", (_, laterMs, asked) => {
  const told: string[] = [];
  const process = new EventEmitter();
  let now = 0;
  stopSignals(
    process,
    () => now,
    () => told.push("stop"),
    () => told.push("hurry"),
  );
  for (now of [0, ...laterMs]) process.emit(now === 0 ? "SIGINT" : "SIGTERM");
  expect(told).toEqual(asked);
});

it("addresses of a machine: the first of each family that others reach; none is told", () => {
  const of = (address: string, internal = false): NetworkInterfaceInfo => ({
    ...{ address, internal, netmask: "", mac: "", cidr: null },
    ...(address.includes(":") ? { family: "IPv6", scopeid: 0 } : { family: "IPv4" }),
  });
  const lo = [of("127.0.0.1", true), of("::1", true)];
  const eth0 = [of("169.254.7.7"), of("192.0.2.1"), of("192.0.2.2"), of("fe80::1"), of("2001:DB8:0::1")];
  expect(addressesFound({ lo, eth0, eth1: [of("198.51.100.1")], down: undefined })).toEqual(["192.0.2.1", "2001:db8::1"]);
  expect(addressesFound({ lo, eth0: [of("2001:db8::2")] })).toEqual(["2001:db8::2"]);
  expect(() => addressesFound({ lo, eth0: [of("fe80::1")] })).toThrow("this machine has no address that others can reach");
});
