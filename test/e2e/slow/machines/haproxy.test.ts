/** A real HAProxy in front of two nodes, with the files and the script of docs/load-balancer-haproxy.md: which node gets connections, and which go on. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findHaproxy, findJq } from "../../../../scripts/dev/testing/haproxy";
import { Api, MERGE_PATCH } from "../../../support/clients/api";
import { type Backend, tcpBackend } from "../../../support/clients/echo-backends";
import { freePort } from "../../../support/server/free-port";
import { type RunningProgram, startCommand } from "../../../support/server/program";
import { removeFolder, temporaryFolder } from "../../../support/server/server";
import { serverForTests } from "../../../support/server/server-for-tests";
import { root } from "../../../../scripts/running/root.mjs";

const page = readFileSync(join(root, "docs", "load-balancer-haproxy.md"), "utf8");
const [, config = ""] = /^```haproxy\n([^]*?)^```$/m.exec(page) ?? [];
const [, script = ""] = /^```sh\n(#!\/bin\/sh\n[^]*?)^```$/m.exec(page) ?? [];

const NODES = "/api/v1/nodes";
const NAMES = ["node-1", "node-2"];
const ADDRESSES = ["127.0.0.11", "127.0.0.12"];
const MERGE = { "Content-Type": MERGE_PATCH };
const poll = { timeout: 60_000, interval: 200 };

const folder = temporaryFolder();
const serverPort = await freePort();
const [webPort, nodePort] = [await freePort(), await freePort()];
const server = serverForTests(["--port", String(serverPort)]);
const api = new Api(() => server.url);
const backends: Backend[] = [];
const open: Socket[] = [];
let haproxy: RunningProgram | undefined;

/** In place of systemctl. */
const reload = `touch ${folder}/reloads
[ ! -e ${folder}/reload-fails ] || exit 1
[ ! -e ${folder}/haproxy.pid ] || kill -USR2 "$(cat ${folder}/haproxy.pid)"
`;

/** The page's text with this test's ports and folder. */
function here(text: string, command: string): string {
  return text
    .replaceAll("/etc/haproxy", folder)
    .replaceAll("/run/haproxy", folder)
    .replaceAll("8787", String(serverPort))
    .replaceAll("30080", String(nodePort))
    .replace("bind :80", `bind 127.0.0.1:${String(webPort)}`)
    .replace(/^haproxy /m, `${command} `)
    .replace("systemctl reload haproxy", `sh ${folder}/reload`);
}

/** A connection to the balancer: each word is answered with the name of the node that has it. */
async function connection(): Promise<{ nodeOf(word: string): Promise<string> }> {
  const socket = connect(webPort, "127.0.0.1");
  open.push(socket);
  await once(socket, "connect");
  return {
    async nodeOf(word) {
      socket.write(word);
      const [piece] = (await once(socket, "data")) as [Buffer];
      const [node = "", back] = piece.toString().split(":");
      expect(back).toBe(word);
      return node;
    },
  };
}

/** The nodes that several new connections come to. */
async function reached(): Promise<string> {
  const nodes = new Set<string>();
  for (let i = 0; i < 6; i++) {
    const socket = connect(webPort, "127.0.0.1");
    socket.write("hello");
    const [piece] = await Promise.race([
      once(socket, "data") as Promise<[Buffer]>,
      once(socket, "close").then(() => [Buffer.from("nobody:")]),
    ]);
    nodes.add(piece?.toString().split(":")[0] ?? "");
    socket.destroy();
  }
  return [...nodes].sort().join(" ");
}

const taint = (name: string, keys: string[]) =>
  api.must("PATCH", `${NODES}/${name}`, { headers: MERGE, body: { spec: { taints: keys.map((key) => ({ key, effect: "NoSchedule" })) } } });

/** What HAProxy is to read then; `edit` changes the script. */
async function makeFiles(edit = (text: string): string => text): Promise<string> {
  const name = join(folder, "haproxy-nodes");
  writeFileSync(name, edit(here(script, findHaproxy() ?? "")));
  const failed = await new Promise<string>((resolve) =>
    execFile("sh", [name], (error, _, stderr) => resolve(error ? `failed: ${stderr}` : "")),
  );
  return failed || readFileSync(join(folder, "nodes.cfg"), "utf8");
}

/** Whether a run of the script has asked for a reload. HAProxy has read its files then: a signal that comes while it begins anew is lost. */
async function reloads(edit?: (text: string) => string): Promise<boolean> {
  rmSync(join(folder, "reloads"), { force: true });
  const before = loads();
  await makeFiles(edit);
  const isAsked = existsSync(join(folder, "reloads"));
  if (isAsked) await expect.poll(loads, poll).toBeGreaterThan(before);
  return isAsked;
}

/** How often HAProxy has read its files. */
const loads = (): number => haproxy?.output().match(/New worker \(\d+\) forked/g)?.length ?? 0;

beforeAll(async () => {
  const command = findHaproxy();
  if (command === undefined || findJq() === undefined) throw new Error("there is no HAProxy or no jq; .ci/run installs them");
  for (const [i, name] of NAMES.entries()) {
    const address = ADDRESSES[i] ?? "";
    backends.push(await tcpBackend(name, address, nodePort));
    await api.must("POST", NODES, { body: { metadata: { name }, status: { addresses: [{ type: "InternalIP", address }] } } });
    await api.must("PATCH", `${NODES}/${name}/status`, {
      headers: MERGE,
      body: { status: { addresses: [{ type: "InternalIP", address }] } },
    });
  }
  writeFileSync(join(folder, "haproxy.cfg"), here(config, command));
  writeFileSync(join(folder, "reload"), reload);
  await vi.waitFor(
    async () => expect(await makeFiles()).toMatch(/server node-2 127\.0\.0\.12:\d+ weight 1\n\nbackend nodes-unchecked/),
    poll,
  );
  const args = ["-W", "-p", join(folder, "haproxy.pid"), "-f", join(folder, "haproxy.cfg"), "-f", join(folder, "nodes.cfg")];
  haproxy = await startCommand(command, args, /Loading success/, folder);
}, 120_000);
afterAll(async () => {
  for (const socket of open) socket.destroy();
  await haproxy?.stop();
  for (const backend of backends) backend.destroy();
  removeFolder(folder);
});

describe("HAProxy fed by /nodes/targets", () => {
  it("an unchanged list: no reload", async () => {
    expect(existsSync(join(folder, "reloads"))).toBe(true);
    expect(await reloads()).toBe(false);
  });

  it("a file that HAProxy refuses: the one before stays; a reload that fails: is made up for", async () => {
    const before = await makeFiles();
    expect(await makeFiles((text) => text.replaceAll(String(nodePort), "99999"))).toMatch(/^failed: /);
    expect(await makeFiles()).toBe(before);
    writeFileSync(join(folder, "reload-fails"), "");
    expect(await makeFiles((text) => text.replace("rise 1", "rise 2"))).toMatch(/^failed: /);
    expect(await makeFiles((text) => text.replace("rise 1", "rise 2"))).toMatch(/^failed: /);
    rmSync(join(folder, "reload-fails"));
    expect([await makeFiles(), await reloads()]).toEqual([before, false]);
  });

  it("a list with names and addresses that are none: makes no line of them", async () => {
    const hostile = "10.0.0.1:80\n  server evil 192.0.2.1";
    const at = (node: string, ...addresses: string[]) => ({ node, weight: 1, addresses: addresses.map((address) => ({ address })) });
    const targets = [at(hostile, "10.0.0.1"), at("a", hostile), at("b", "$(reboot)", "::1"), at("c", "127.0.0.3")];
    const other = createServer((_, response) => response.end(JSON.stringify({ targets }))).listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    expect(await reloads((own) => own.replace(`${String(serverPort)}/nodes/targets`, `${String(port)}/nodes/targets`))).toBe(true);
    other.close();
    const text = readFileSync(join(folder, "nodes.cfg"), "utf8");
    const lines = text.split("\n").filter((line) => line.startsWith("  server"));
    const servers = [`  server b [::1]:${String(nodePort)}`, `  server c 127.0.0.3:${String(nodePort)}`];
    expect(lines).toEqual([...servers.map((line) => `${line} weight 1`), ...servers]);
    expect(await reloads()).toBe(true);
  });

  it("a taint, and a reload: new connections go to the other node, one that is open lives on; without the taint the node comes back", async () => {
    await expect.poll(reached, poll).toBe("node-1 node-2");
    const connections = [await connection(), await connection(), await connection(), await connection()];
    const held = await Promise.all(connections.map((one) => one.nodeOf("before")));
    expect(new Set(held)).toEqual(new Set(NAMES));
    await taint("node-2", ["ToBeDeletedByClusterAutoscaler"]);
    await expect.poll(reached, poll).toBe("node-1");
    expect(await Promise.all(connections.map((one) => one.nodeOf("during")))).toEqual(held);
    const before = loads();
    // HAProxy takes a node for healthy until its first check. That of the second of two nodes comes after half the interval.
    const slowly = () => makeFiles((text) => text.replace("inter 2s", "inter 20s"));
    await expect.poll(slowly, poll).toMatch(/server node-2 127\.0\.0\.12:\d+ weight 0/);
    await expect.poll(loads, poll).toBeGreaterThan(before);
    for (const end = Date.now() + 3_000; Date.now() < end;) expect(await reached()).toBe("node-1");
    expect(await Promise.all(connections.map((one) => one.nodeOf("reloaded")))).toEqual(held);
    await taint("node-2", []);
    await expect.poll(makeFiles, poll).not.toContain("weight 0");
    await expect.poll(reached, poll).toBe("node-1 node-2");
    expect(await Promise.all(connections.map((one) => one.nodeOf("after")))).toEqual(held);
  }, 240_000);

  it("all nodes drain: all of them get new connections", async () => {
    for (const name of NAMES) await taint(name, ["ToBeDeletedByClusterAutoscaler"]);
    await expect.poll(makeFiles, poll).toMatch(/node-1 \S+ weight 0\n.*node-2 \S+ weight 0/);
    await expect.poll(reached, poll).toBe("node-1 node-2");
    for (const name of NAMES) await taint(name, []);
    await expect.poll(makeFiles, poll).not.toContain("weight 0");
  }, 120_000);

  it("an excluded Node: leaves the file", async () => {
    const excluded = "node.kubernetes.io/exclude-from-external-load-balancers";
    await api.must("PATCH", `${NODES}/node-2`, { headers: MERGE, body: { metadata: { labels: { [excluded]: "" } } } });
    await expect.poll(makeFiles, poll).not.toContain("node-2");
    expect(await makeFiles()).toContain("node-1");
    await api.must("PATCH", `${NODES}/node-2`, { headers: MERGE, body: { metadata: { labels: { [excluded]: null } } } });
    await expect.poll(makeFiles, poll).toContain("node-2");
  }, 120_000);

  it("the server away: every node gets connections, open ones live on", async () => {
    await expect.poll(reached, poll).toBe("node-1 node-2");
    const held = await connection();
    const node = await held.nodeOf("before");
    // All nodes were drained once before.
    const mark = haproxy?.output().length ?? 0;
    await server.kill();
    // Two checks fail: none of the nodes is up any more.
    await expect.poll(() => haproxy?.output().slice(mark) ?? "", poll).toMatch(/backend (?:'nodes'|nodes) has no server available/);
    expect(await reached()).toBe("node-1 node-2");
    expect(await held.nodeOf("during")).toBe(node);
    await server.start();
  }, 240_000);
});
