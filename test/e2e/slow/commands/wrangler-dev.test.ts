import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { send } from "../../../../scripts/cluster/send";
import { targetOf } from "../../../../scripts/cluster/target";
import { makeDevVars } from "../../../../scripts/token/dev-vars";
import { newAdmin } from "../../../../scripts/token/new-admin";
import { freePort } from "../../../support/server/free-port";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { root } from "../../../../scripts/running/root.mjs";

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

/** What the Worker logged as an error or did not catch. What wrangler and workerd say of themselves, as of a client that went, is theirs. */
const errorsOfWorker = (output: string): string[] =>
  output.split("\n").filter((line) => /"level":"error"|Uncaught|uncaught exception|Build failed/.test(line));

it("an error of the Worker is told from the lines of wrangler and workerd", () => {
  const ours = '✘ [ERROR] {"time":"2026-01-01T00:00:00Z","level":"error","event":"request failed"}';
  const theirs = "✘ [ERROR] exception = kj/async-io-unix.c++:1: disconnected: read(): Connection reset by peer";
  expect(errorsOfWorker(`${theirs}\n${ours}\n✘ [ERROR] Uncaught (in promise) Error: x`)).toEqual([
    ours,
    "✘ [ERROR] Uncaught (in promise) Error: x",
  ]);
});

/** Runs `wrangler dev` with these arguments until `work` is done, which gets all of its output. */
async function withWrangler(args: readonly string[], work: (output: () => string) => Promise<void>): Promise<void> {
  const wrangler = join(root, "node_modules", "wrangler", "bin", "wrangler.js");
  const child = spawn(process.execPath, [wrangler, "dev", "--inspector-port", String(await freePort()), ...args], {
    cwd: root,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, CI: "1", NO_COLOR: "1" },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  const ended = once(child, "close");
  try {
    await work(() => output);
    expect(errorsOfWorker(output), output).toEqual([]);
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
    await ended;
  }
}

it("wrangler dev: serves the configuration of wrangler.toml, to who has a credential", async () => {
  const port = String(await freePort());
  // As after `wrangler secret put ADMIN_TOKEN_HASHES`: the Worker knows the hash alone.
  const admin = await newAdmin();
  const args = ["--port", port, "--persist-to", join(folder, "plain"), "--var", `ADMIN_TOKEN_HASHES:${admin.hash}`];
  await withWrangler(args, async (output) => {
    const url = `http://127.0.0.1:${port}`;
    const ready = () =>
      fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000) }).then(
        (response) => response.text(),
        (error: unknown) => `${String(error)}\n${output()}`,
      );
    await expect.poll(ready, { timeout: 75_000, interval: 200 }).toBe("ok");
    const create = (headers: Record<string, string>) =>
      fetch(`${url}/api/v1/namespaces/default/services`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify({ metadata: { name: "hello" }, spec: { ports: [{ port: 80 }] } }),
      });
    expect((await create({})).status).toBe(401);
    const authorized = { Authorization: `Bearer ${admin.token}` };
    expect((await create(authorized)).status, "no write makes a cluster").toBe(404);
    expect((await fetch(`${url}/clusters/default`, { method: "PUT", headers: authorized })).status).toBe(201);
    const created = await create(authorized);
    expect(created.status).toBe(201);
    expect(((await created.json()) as { spec: { clusterIP: string } }).spec.clusterIP).toMatch(/^10\.96\./);
  });
}, 120_000);

it("wrangler dev as docs/deploy.md shows it: HTTPS, with what `npm run token -- dev-vars` makes for kubectl and curl", async () => {
  const page = readFileSync(join(root, "docs", "deploy.md"), "utf8");
  const [, shown = ""] = /^ *npx wrangler dev (--.*)$/m.exec(page) ?? [];
  const [, curl = ""] = /^ *curl (--cacert .*)$/m.exec(page) ?? [];
  const project = join(folder, "project");
  mkdirSync(project);
  // wrangler reads .dev.vars beside its configuration: that of the project stays as it is.
  const config = readFileSync(join(root, "wrangler.toml"), "utf8").replace('main = "', `main = "${root}/`);
  writeFileSync(join(project, "wrangler.toml"), config);
  expect(await makeDevVars(project)).toContain(`npx wrangler dev ${shown}`);
  const port = String(await freePort());
  const own = ["--port", port, "--persist-to", join(folder, "secure"), "--config", join(project, "wrangler.toml")];
  const of = (text: string) => text.replaceAll(".servicenet-dev", join(project, ".servicenet-dev"));
  await withWrangler([...of(shown).split(" "), ...own], async () => {
    // As kubectl: with the kubeconfig alone, but for the port.
    const kubeconfig = join(project, ".servicenet-dev", "kubeconfig");
    const target = await targetOf({ kubeconfig, server: `https://127.0.0.1:${port}` });
    const ready = () => send(target, "GET", "/readyz").then(({ text }) => text, String);
    await expect.poll(ready, { timeout: 75_000, interval: 200 }).toBe("ok");
    const services = "/api/v1/namespaces/default/services";
    const hello = { metadata: { name: "hello" }, spec: { ports: [{ port: 80 }] } };
    expect((await send(target, "POST", services, hello, "application/json")).status).toBe(201);
    const listed = execFileSync("sh", ["-c", of(`curl -sS ${curl}`).replace(":8787", `:${port}`)], { encoding: "utf8" });
    expect((JSON.parse(listed) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)).toContain(
      "hello",
    );
  });
}, 120_000);
