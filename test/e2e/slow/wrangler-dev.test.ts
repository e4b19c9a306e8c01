import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { newAdmin } from "../../../scripts/token/new-admin";
import { freePort } from "../../support/server/free-port";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

it("wrangler dev: serves the configuration of wrangler.toml, to who has a credential", async () => {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const [port, inspectorPort] = [String(await freePort()), String(await freePort())];
  // As after `wrangler secret put ADMIN_TOKEN_HASHES`: the Worker knows the hash alone.
  const admin = await newAdmin();
  const child = spawn(
    process.execPath,
    [
      wrangler,
      "dev",
      "--port",
      port,
      "--inspector-port",
      inspectorPort,
      "--persist-to",
      folder,
      "--var",
      `ADMIN_TOKEN_HASHES:${admin.hash}`,
    ],
    {
      cwd: root,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, CI: "1", NO_COLOR: "1" },
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const ended = once(child, "close");
  try {
    const url = `http://127.0.0.1:${port}`;
    const ready = () =>
      fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000) }).then(
        (response) => response.text(),
        (error: unknown) => `${String(error)}\n${output}`,
      );
    await expect.poll(ready, { timeout: 75_000, interval: 200 }).toBe("ok");
    const create = (headers: Record<string, string>) =>
      fetch(`${url}/api/v1/namespaces/default/services`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify({ metadata: { name: "hello" }, spec: { ports: [{ port: 80 }] } }),
      });
    expect((await create({})).status).toBe(401);
    const created = await create({ Authorization: `Bearer ${admin.token}` });
    expect(created.status).toBe(201);
    expect(((await created.json()) as { spec: { clusterIP: string } }).spec.clusterIP).toMatch(/^10\.96\./);
    expect(output).not.toMatch(/\[ERROR\]|✘/);
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await ended;
  }
}, 120_000);
