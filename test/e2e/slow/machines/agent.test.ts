/** Agents as processes: kill -9, two states, a standstill, a dead server, a deleted Node, and a stand-in for kube-proxy that serves its documented answers. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Node } from "../../../../src/api/meta/kubernetes";
import { Api } from "../../../support/clients/api";
import { freePort } from "../../../support/server/free-port";
import { serverForTests } from "../../../support/server/server-for-tests";
import { root } from "../../../../scripts/running/root.mjs";
import { LONG_PATIENCE } from "../../../support/server/patience";

const port = await freePort();
const server = serverForTests(["--port", String(port), "--var", "NODE_MONITOR_GRACE_PERIOD_SECONDS=15"]);
const api = new Api(() => server.url);

class AgentProcess {
  readonly child: ChildProcess;
  /** its exit code */
  readonly ended: Promise<number | null>;
  output = "";

  constructor(node: string, state: string, options: string[] = []) {
    const args = ["scripts/run.mjs", "scripts/commands/agent.ts", "--node", node, "--server", `http://127.0.0.1:${String(port)}`];
    const where = ["--address", "192.0.2.1", "--state", join(server.folder, state)];
    this.child = spawn(process.execPath, [...args, ...where, ...options], { cwd: root });
    this.ended = once(this.child, "close").then(([code]) => code as number | null);
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => void (this.output += text));
    }
    agents.push(this);
  }

  ready(): Promise<void> {
    return expect.poll(() => this.output, LONG_PATIENCE).toMatch(/is ready/);
  }
}

const agents: AgentProcess[] = [];
afterAll(() => {
  for (const { child } of agents) child.kill("SIGKILL");
});

async function ready(node: string): Promise<string | undefined> {
  const { body } = await api.send("GET", `/api/v1/nodes/${node}`);
  const { conditions = [] } = (body.status ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.find(({ type }) => type === "Ready")?.status;
}

const health = async (node: string, path = "healthz"): Promise<number> => (await api.send("GET", `/nodes/${node}/${path}`)).code;

it("kill -9 and a second agent: the same state goes on, another one exits 1 while the first lives", { timeout: 240_000 }, async () => {
  const first = new AgentProcess("a", "a-1");
  await first.ready();
  first.child.kill("SIGKILL");
  await first.ended;
  const again = new AgentProcess("a", "a-1");
  await again.ready();
  const other = new AgentProcess("a", "a-2");
  expect(await other.ended).toBe(1);
  expect(other.output).toContain("another agent has the node a");
  again.child.kill("SIGTERM");
  expect(await again.ended).toBe(0);
  // Nobody renews the Lease any more.
  const later = new AgentProcess("a", "a-2");
  await later.ready();
});

it(
  "an agent that stood still until its node was Unknown, and finds the server dead: the Node is Ready when it is back",
  { timeout: 300_000 },
  async () => {
    const agent = new AgentProcess("b", "b");
    await agent.ready();
    expect(await ready("b")).toBe("True");
    agent.child.kill("SIGSTOP");
    await expect.poll(() => ready("b"), LONG_PATIENCE).toBe("Unknown");
    await server.kill();
    agent.child.kill("SIGCONT");
    await expect.poll(() => agent.output, LONG_PATIENCE).toContain("the Lease of the node cannot be kept");
    await server.start();
    await expect.poll(() => ready("b"), LONG_PATIENCE).toBe("True");
    await expect.poll(() => agent.output, LONG_PATIENCE).toContain("the Lease of the node cannot be kept: this is over");
    await api.must("DELETE", "/api/v1/nodes/b");
    expect(await agent.ended).toBe(0);
    expect(agent.output).toContain("the Node b is deleted");
  },
);

it("kube-proxy's health: late, draining and mute are told to load balancers", { timeout: 240_000 }, async () => {
  let late = false;
  const proxy = createServer((_, response) => {
    const now = new Date().toISOString();
    const status = { IPv4: { lastUpdated: now, healthy: !late } };
    const body = { lastUpdated: now, currentTime: now, nodeEligible: true, healthy: !late, status };
    response.writeHead(late ? 503 : 200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}/healthz`;
  const agent = new AgentProcess("c", "c", ["--proxy-health", url, "--sync-period", "3", "--leave", "--leave-after", "5"]);
  await agent.ready();
  await expect.poll(async () => (await api.send("GET", "/nodes/c/healthz")).text, LONG_PATIENCE).toContain('"IPv4"');
  await expect.poll(() => health("c"), LONG_PATIENCE).toBe(200);
  late = true;
  await expect.poll(() => health("c"), LONG_PATIENCE).toBe(503);
  late = false;
  await expect.poll(() => health("c"), LONG_PATIENCE).toBe(200);
  proxy.close();
  proxy.closeAllConnections();
  await expect.poll(() => health("c", "livez"), LONG_PATIENCE).toBe(503);
  const { body } = await api.send("GET", "/api/v1/nodes");
  const { resourceVersion = "" } = body.metadata ?? {};
  agent.child.kill("SIGTERM");
  expect(await agent.ended).toBe(0);
  expect((await api.send("GET", "/api/v1/nodes/c")).code).toBe(404);
  // What the Node was on its way.
  const watch = await api.watch("/api/v1/nodes", { resourceVersion, fieldSelector: "metadata.name=c", timeoutSeconds: "1" });
  const events = (await watch.rest()).filter(({ type }) => type !== "BOOKMARK");
  expect(events.map(({ type }) => type).at(-1)).toBe("DELETED");
  const isTainted = ({ spec }: Node): boolean => (spec?.taints ?? []).some(({ key }) => key === "ToBeDeletedByClusterAutoscaler");
  expect(events.map(({ object }) => isTainted(object as Node))).toContain(true);
});
