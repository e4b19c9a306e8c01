import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const root = join(import.meta.dirname, "..", "..", "..");
const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

it("wrangler dev: serves the configuration of wrangler.toml", async () => {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const [port = "", inspectorPort = ""] = await freePorts(2);
  const child = spawn(process.execPath, [wrangler, "dev", "--port", port, "--inspector-port", inspectorPort, "--persist-to", folder], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CI: "1", NO_COLOR: "1" },
  });
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
    const created = await fetch(`${url}/api/v1/namespaces/default/services`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ metadata: { name: "hello" }, spec: { ports: [{ port: 80 }] } }),
    });
    expect(created.status).toBe(201);
    expect(((await created.json()) as { spec: { clusterIP: string } }).spec.clusterIP).toMatch(/^10\.96\./);
    expect(output).not.toMatch(/\[ERROR\]|✘/);
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await ended;
  }
}, 120_000);

/** Different ones: none is free again before all are known. */
async function freePorts(count: number): Promise<string[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(servers.map((server) => once(server, "listening")));
  const ports = servers.map((server) => String((server.address() as AddressInfo).port));
  await Promise.all(servers.map((server) => once(server.close(), "close")));
  return ports;
}
