/** Tokens of a server with HTTPS by `npm run token`, and the recipes of docs/access.md as they stand there. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recipe } from "../../../support/examples/access-page";
import { type Ended, runProgram } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";
import { root } from "../../../../scripts/running/root.mjs";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
/** An answer is kept for half a minute. */
const KEPT = { timeout: 40_000, interval: 1_000 };
const server = serverForTests([], { secure: true });
const folder = temporaryFolder();
beforeAll(() => {
  for (const name of ["package.json", "node_modules", "scripts", "src"]) symlinkSync(join(root, name), join(folder, name));
  symlinkSync(server.folder, join(folder, ".servicenet"));
});
afterAll(() => removeFolder(folder));

/** A connection of its own: the runtime closes one that rests, and a command of the shell holds up the news. */
async function status(path: string, token: string, method = "GET", body?: object): Promise<number> {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const asked = request(`${server.url}${path}`, { method, headers, ca: server.ca, agent: false }).end(body ? JSON.stringify(body) : "");
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

/** A command of the page after `npm run token --`, at this server. */
function tokens(line: string): Promise<Ended> {
  return runProgram("token", [...line.split(" "), "--kubeconfig", server.kubeconfig]);
}

async function grant(user: string, role: string): Promise<void> {
  const binding = {
    metadata: { name: user },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user }],
  };
  expect(await status(`${RBAC}/clusterrolebindings`, server.token, "POST", binding)).toBe(201);
}

/** What a shell prints in a folder where the server's data is `.servicenet`. */
function shown(script: string): string {
  const { stdout, stderr } = spawnSync("sh", ["-ec", script], { cwd: folder, encoding: "utf8", timeout: 60_000 });
  return stdout + stderr;
}

const idIn = ({ err }: Ended): string => /The token (\w+) of /.exec(err)?.[1] ?? "";

describe("npm run token", () => {
  it("create, use, list, rotate, revoke: each counts", { timeout: 240_000 }, async () => {
    const created = await tokens("create jane --group developers --cluster default --expires 30d");
    const first = created.out.trim();
    const id = idIn(created);
    expect(first).toMatch(/^sn_[\w-]+$/);
    expect(await status("/version", first)).toBe(200);
    expect(await status("/clusters/blue/version", first), "another cluster").toBe(403);
    expect((await tokens("list")).out).toMatch(new RegExp(`^${id} +jane +developers +default +`, "m"));

    const rotated = await tokens(`rotate ${id} --grace 10m`);
    const second = rotated.out.trim();
    expect([await status("/version", first), await status("/version", second)]).toEqual([200, 200]);
    const third = (await tokens(`rotate ${id}`)).out.trim();
    expect(await status("/version", third)).toBe(200);
    await expect.poll(() => status("/version", first), KEPT).toBe(401);

    expect((await tokens(`revoke ${id}`)).out).toContain(`${id} of jane is revoked`);
    await expect.poll(() => status("/version", third), KEPT).toBe(401);
  });
});

describe("docs/access.md", () => {
  it("section Tokens: each line is one that the program takes", { timeout: 180_000 }, async () => {
    const lines = recipe("Tokens", "", server.url).trim().split("\n");
    expect(lines.length).toBe(4);
    let id = "";
    for (const line of lines) {
      const ended = await tokens(line.replace("npm run token -- ", "").replace("ID", id));
      expect({ line, ...ended }).toMatchObject({ code: 0 });
      if (id === "") id = idIn(ended);
    }
  });

  it("JavaScript client: lists with a token and the CA", { timeout: 120_000 }, async () => {
    await grant("js", "view");
    writeFileSync(join(folder, "jane.token"), (await tokens("create js --cluster default")).out);
    writeFileSync(join(folder, "program.mjs"), recipe("Programs", "js", server.url));
    await expect.poll(() => shown("node program.mjs"), { timeout: 20_000 }).toBe("[ 'kubernetes' ]\n");
  });

  it("load balancer: curl with a token for health alone", { timeout: 120_000 }, async () => {
    const [bind = "", create = "", curl = ""] = recipe("Load balancers", "", server.url).trim().split("\n");
    expect(bind).toBe("kubectl create clusterrolebinding balancer --clusterrole=servicenet:node-health --user=balancer");
    await grant("balancer", "servicenet:node-health");
    expect(create).toBe("npm run --silent token -- create balancer --cluster default > balancer.token");
    const token = (await tokens("create balancer --cluster default")).out;
    writeFileSync(join(folder, "balancer.token"), token);
    await expect.poll(() => shown(curl.replace("curl ", "curl -sS "))).toContain('"healthy"');
    expect(await status("/nodes/targets", token.trim())).toBe(200);
    expect(await status("/api/v1/nodes", token.trim())).toBe(403);
  });
});
