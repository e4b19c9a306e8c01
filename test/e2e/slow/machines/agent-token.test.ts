/** An agent with a token of its own against a server with HTTPS: the commands of docs/access.md. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { recipe } from "../../../support/examples/access-page";
import { runProgram } from "../../../support/server/program";
import { endWithUs } from "../../../support/server/children";
import { serverForTests } from "../../../support/server/server-for-tests";
import { root } from "../../../../scripts/running/root.mjs";
import { LONG_PATIENCE } from "../../../support/server/patience";

const server = serverForTests([], { secure: true });
const agents: ReturnType<typeof spawn>[] = [];
afterAll(() => agents.forEach((child) => child.kill("SIGKILL")));

async function get(path: string, token: string): Promise<{ code: number; text: string }> {
  const asked = request(`${server.url}${path}`, { headers: { Authorization: `Bearer ${token}` }, ca: server.ca, agent: false }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  let text = "";
  for await (const part of response.setEncoding("utf8")) text += part as string;
  return { code: response.statusCode ?? 0, text };
}

/** The condition Ready of a Node or Pod. */
async function readyAt(path: string): Promise<string | undefined> {
  const { code, text } = await get(path, server.token);
  if (code !== 200) return undefined;
  const { status } = JSON.parse(text) as { status?: { conditions?: { type: string; status: string }[] } };
  return status?.conditions?.find(({ type }) => type === "Ready")?.status;
}

const ready = (): Promise<string | undefined> => readyAt("/api/v1/nodes/node-1");

it(
  "an agent with its own token: its Node is Ready, its endpoint served; a new token in the same file goes on",
  { timeout: 300_000 },
  async () => {
    const [create = "", run = ""] = recipe("Agents and nodes", "", server.url).trim().split("\n");
    const [, made = "", file = ""] = /^npm run --silent token -- (.*) > (\S+)$/.exec(create) ?? [];
    const tokens = (line: string) => runProgram("token", [...line.split(" "), "--kubeconfig", server.kubeconfig]);
    const created = await tokens(made);
    const tokenFile = join(server.folder, file);
    writeFileSync(tokenFile, created.out);
    const given = run.replace("npm run agent -- ", "").replace(file, tokenFile).split(" ");
    const further = ["--ca-file", join(server.folder, "ca.crt"), "--state", join(server.folder, "agent"), "--address", "192.0.2.1"];
    const args = ["scripts/run.mjs", "scripts/commands/agent.ts", ...given, ...further, "--endpoint", "web=8080,labels=app=web"];
    const child = spawn(process.execPath, args, { cwd: root, stdio: "ignore" });
    agents.push(child);
    endWithUs(child, () => child.kill("SIGKILL"));
    await expect.poll(ready, LONG_PATIENCE).toBe("True");
    await expect.poll(() => readyAt("/api/v1/namespaces/default/pods/web.node-1"), LONG_PATIENCE).toBe("True");
    expect((await get("/nodes/node-1/healthz", server.token)).code).toBe(200);

    const old = created.out.trim();
    expect((await get("/api/v1/nodes/node-1", old)).code).toBe(200);
    expect((await get("/api/v1/nodes", old)).code, "other nodes are not the agent's").toBe(403);
    expect((await get("/api/v1/namespaces/default/services", old)).code, "nor are Services").toBe(403);

    const id = /The token (\w+) of /.exec(created.err)?.[1] ?? "";
    const rotated = await tokens(`rotate ${id}`);
    writeFileSync(`${tokenFile}.new`, rotated.out);
    renameSync(`${tokenFile}.new`, tokenFile);
    await expect.poll(async () => (await get("/version", old)).code, LONG_PATIENCE).toBe(401);
    const renewedAt = async (): Promise<string> => {
      const { text } = await get("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1", server.token);
      return (JSON.parse(text) as { spec?: { renewTime?: string } }).spec?.renewTime ?? "";
    };
    const before = await renewedAt();
    await expect.poll(renewedAt, LONG_PATIENCE).not.toBe(before);
    expect(await ready()).toBe("True");
  },
);
