/** A real dnsmasq beside `npm run dns`, both as docs/dns.md starts them: what it answers over UDP, and how soon it follows. */
import { readFileSync } from "node:fs";
import { Resolver } from "node:dns/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findDnsmasq } from "../../../../scripts/dev/testing/dnsmasq";
import { Api } from "../../../support/clients/api";
import { freePort } from "../../../support/server/free-port";
import { type RunningProgram, startCommand, startProgram } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";
import { aSlice, anEndpoint, type SliceEndpoint } from "../../../support/values/endpoint-objects";
import { root } from "../../../../scripts/running/root.mjs";

const page = readFileSync(join(root, "docs", "dns.md"), "utf8");
const [, ours = ""] = /^npm run dns -- (.*)$/m.exec(page) ?? [];
const [, theirs = ""] = /^dnsmasq (--(?:.*\\\n)*.*)$/m.exec(page) ?? [];

const SERVICES = "/api/v1/namespaces/default/services";
const SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
/** "Within seconds", with room for a machine that does other things. */
const poll = { interval: 20 };
const ports = [{ name: "sql", port: 5432 }];

const folder = temporaryFolder();
const serverPort = await freePort();
const server = serverForTests(["--port", String(serverPort), "--var", "SERVICE_CLUSTER_IP_RANGE=10.96.0.0/16,fd00:96::/112"]);
const api = new Api(() => server.url);
const resolver = new Resolver({ timeout: 2_000, tries: 2 });
const running: RunningProgram[] = [];

const createService = (name: string, spec: object) =>
  api.must("POST", SERVICES, { body: { metadata: { name }, spec: { ports, ...spec } } });
const sliceOf = (service: string, endpoints: SliceEndpoint[], more = {}) => aSlice(`${service}-a`, service, endpoints, more);
const createSlice = (...of: Parameters<typeof sliceOf>) => api.must("POST", SLICES, { body: sliceOf(...of) });
const putSlice = (...of: Parameters<typeof sliceOf>) => api.must("PUT", `${SLICES}/${of[0]}-a`, { body: sliceOf(...of) });

type Type = "A" | "AAAA" | "SRV" | "TXT" | "PTR";

/** What dnsmasq answers, in one order; of a refusal its code. A PTR is asked for by its address. */
async function answer(type: Type, name: string): Promise<unknown> {
  const whole = type === "PTR" || name.endsWith(".local") ? name : `${name}.default.svc.cluster.local`;
  try {
    const found: unknown[] = type === "PTR" ? await resolver.reverse(whole) : ((await resolver.resolve(whole, type)) as unknown[]);
    return found.map(String).sort().join(" ");
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}
const becomes = (type: Type, name: string, expected: string) => expect.poll(() => answer(type, name), poll).toBe(expected);

beforeAll(async () => {
  const dnsmasq = findDnsmasq();
  if (dnsmasq === undefined) throw new Error("there is no dnsmasq; .ci/run installs one");
  await createService("web", { ipFamilyPolicy: "RequireDualStack", clusterIP: "10.96.0.80", clusterIPs: ["10.96.0.80", "fd00:96::80"] });
  await createService("db", { clusterIP: "None" });
  await createService("early", { clusterIP: "None", publishNotReadyAddresses: true });
  await createService("out", { type: "ExternalName", externalName: "www.example.com", ports: undefined });
  await createSlice("web", [anEndpoint("192.0.2.11", "ready", { hostname: "web-0" })]);
  await createSlice("db", [
    anEndpoint("192.0.2.20", "ready", { hostname: "db-0" }),
    anEndpoint("192.0.2.21"),
    anEndpoint("192.0.2.22", "notReady", { hostname: "db-2" }),
  ]);
  await createSlice("early", [anEndpoint("192.0.2.30", "published", { hostname: "early-0" })]);
  const args = ["--server", server.url, ...ours.replace("hosts/", `${folder}/hosts/`).split(" ")];
  running.push(await startProgram("dns", args, /names of the Services are in/));
  const port = await freePort();
  // Nothing is forwarded to the servers that the machine knows.
  const command = `exec ${dnsmasq} ${theirs.replace("1053", String(port))} --no-resolv`;
  running.push(await startCommand("sh", ["-c", command], /^dnsmasq: read .*hosts\/cluster\.local/m, folder));
  resolver.setServers([`127.0.0.1:${String(port)}`]);
});
afterAll(async () => {
  for (const program of running) await program.stop();
  removeFolder(folder);
});

describe("dnsmasq with the file of npm run dns", () => {
  it.each<[Type, string, string]>([
    ["A", "web", "10.96.0.80"],
    ["A", "WEB.Default.svc.cluster.local", "10.96.0.80"],
    ["AAAA", "web", "fd00:96::80"],
    ["A", "kubernetes", "10.96.0.1"],
    ["PTR", "10.96.0.80", "web.default.svc.cluster.local"],
    ["PTR", "fd00:96::80", "web.default.svc.cluster.local"],
    ["A", "db", "192.0.2.20 192.0.2.21"],
    ["A", "db-0.db", "192.0.2.20"],
    ["A", "192-0-2-21.db", "192.0.2.21"],
    ["PTR", "192.0.2.20", "db-0.db.default.svc.cluster.local"],
    ["PTR", "192.0.2.21", "192-0-2-21.db.default.svc.cluster.local"],
    ["A", "early", "192.0.2.30"],
    ["A", "early-0.early", "192.0.2.30"],
    ["TXT", "dns-version.cluster.local", "1.1.0"],
  ])("%s %s: %s", async (type, name, expected) => {
    expect(await answer(type, name)).toBe(expected);
  });

  it.each<[Type, string]>([
    ["A", "absent"],
    ["A", "db-2.db"],
    ["PTR", "192.0.2.22"],
    ["PTR", "10.96.0.99"],
    ["A", "web-0.web"],
    ["PTR", "192.0.2.11"],
    ["SRV", "_sql._tcp.web"],
    ["SRV", "_sql._tcp.db"],
    ["A", "out"],
    ["A", "192-0-2-11.default.pod.cluster.local"],
  ])("%s %s: NXDOMAIN", async (type, name) => {
    expect(await answer(type, name)).toBe("ENOTFOUND");
  });

  it("endpoints that come and go: in the answers within seconds", async () => {
    await putSlice("db", [anEndpoint("192.0.2.21", "ending"), anEndpoint("192.0.2.22", "ready", { hostname: "db-2" })]);
    await becomes("A", "db", "192.0.2.22");
    expect(await answer("A", "db-2.db")).toBe("192.0.2.22");
    expect(await answer("PTR", "192.0.2.22")).toBe("db-2.db.default.svc.cluster.local");
    expect(await answer("PTR", "192.0.2.20")).toBe("ENOTFOUND");
    await putSlice("db", []);
    await becomes("A", "db", "ENOTFOUND");
  });

  it("Services that come and go: in the answers within seconds", async () => {
    await createService("shop", { clusterIP: "10.96.0.90" });
    await becomes("A", "shop", "10.96.0.90");
    await api.must("DELETE", `${SERVICES}/shop`);
    await becomes("A", "shop", "ENOTFOUND");
    expect(await answer("PTR", "10.96.0.90")).toBe("ENOTFOUND");
  });

  it("server away and back: names stay, each trouble is told once, and what happened meanwhile is in the answers", async () => {
    const [program] = running;
    await server.kill();
    await expect.poll(() => program?.output(), poll).toMatch(/^dns: .* stays as it is$/m);
    expect(await answer("A", "web")).toBe("10.96.0.80");
    await server.start();
    await api.must("DELETE", `${SERVICES}/web`);
    // The follower's rest after errors comes on top.
    await expect.poll(() => answer("A", "web"), { ...poll, timeout: 45_000 }).toBe("ENOTFOUND");
    // Two collections were tried again and again; the connections broke, then they were refused.
    expect(program?.output().match(/^dns: /gm)?.length).toBeLessThanOrEqual(4);
  });
});
