/** `npm run dns`: the file of hosts, as docs/dns.md shows it. test/e2e/slow/machines/dnsmasq.test.ts asks a real dnsmasq for its names. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Api } from "../../support/clients/api";
import { type RunningProgram, runProgram, startProgram } from "../../support/server/program";
import { removeFolder, temporaryFolder } from "../../support/server/server";
import { clusterForTests } from "../../support/server/cluster-for-tests";
import { aSlice, anEndpoint } from "../../support/values/endpoint-objects";
import { root } from "../../../scripts/running/root.mjs";

const page = readFileSync(join(root, "docs", "dns.md"), "utf8");
const [, documented = ""] = /```text\n(# The names of Services[\s\S]*?)```/.exec(page) ?? [];
const [, command = ""] = /^npm run dns -- (.*)$/m.exec(page) ?? [];

const SERVICES = "/api/v1/namespaces/default/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const READY = /names of the Services are in/;
const poll = { timeout: 30_000, interval: 20 };
const ports = [{ name: "sql", port: 5432 }];

const folder = temporaryFolder();
const file = join(folder, "hosts", "cluster.local");
const cluster = clusterForTests();
const api = new Api(() => cluster.url);
let program: RunningProgram;

const textOf = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
const text = (): string => textOf(file);

beforeAll(async () => {
  await api.must("POST", SERVICES, { body: { metadata: { name: "web" }, spec: { clusterIP: "10.96.0.80", ports } } });
  const args = ["--server", cluster.url, ...command.replace("hosts/cluster.local", file).split(" ")];
  program = await startProgram("dns", args, READY);
});
afterAll(async () => {
  expect(await program.stop()).toBe(0);
  removeFolder(folder);
});

it("file: has the lines of the page, and nothing else stands in its folder", async () => {
  expect(text()).toContain("\n10.96.0.80 web.default.svc.cluster.local\n");
  await api.must("POST", SERVICES, { body: { metadata: { name: "db" }, spec: { clusterIP: "None", ports } } });
  const endpoints = [
    anEndpoint("192.0.2.20", "ready", { hostname: "db-0" }),
    anEndpoint("192.0.2.21"),
    anEndpoint("192.0.2.22", "notReady"),
  ];
  await api.must("POST", SLICES, { body: aSlice("db-a", "db", endpoints) });
  await expect.poll(text, poll).toBe(documented);
  expect(readdirSync(dirname(file))).toEqual(["cluster.local"]);
});

it("proxy's prefixes and another domain: names stand for the addresses that the proxy serves", async () => {
  const args = ["--listen-prefix", "127.0.0.0/8", "--dial-prefix", "127.10.0.0/16", "--domain", "blue.example"];
  const other = join(folder, "other", "hosts");
  const second = await startProgram("dns", ["--server", cluster.url, "--file", other, ...args], READY);
  expect(textOf(other)).toContain("\n127.96.0.80 web.default.svc.blue.example\n");
  expect(textOf(other)).toContain("\n127.10.2.20 db-0.db.default.svc.blue.example db.default.svc.blue.example\n");
  expect(await second.stop()).toBe(0);
  expect(textOf(other)).toContain("\n127.96.0.80 ");
});

it("Service that goes: its line, too", async () => {
  const before = text();
  await api.must("DELETE", `${SERVICES}/web`);
  await expect.poll(text, poll).toBe(before.replace(/^.* web\..*\n/m, ""));
});

it("a file below a file: one line, exit code 1", async () => {
  const { code, err } = await runProgram("dns", ["--server", cluster.url, "--file", "README.md/hosts"]);
  expect([code, err]).toEqual([1, expect.stringMatching(/^dns: (EEXIST|ENOTDIR): .*\n$/)]);
});
