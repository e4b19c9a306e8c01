/** A real HAProxy in front of two nodes, with the files and the script of docs/load-balancer-haproxy.md: which node gets connections, and which go on. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findHaproxy, findJq } from "../../../scripts/haproxy";
import { Api, MERGE_PATCH } from "../../support/clients/api";
import { type Backend, freePort, tcpBackend } from "../../support/clients/echo-backends";
import { type RunningProgram, startCommand } from "../../support/server/program";
import { removeFolder, temporaryFolder } from "../../support/server/server";
import { serverForTests } from "../../support/server/server-for-tests";

const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "load-balancer-haproxy.md"), "utf8");
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

/** The page's text with this test's ports and folder. */
function here(text: string, command: string): string {
  return text
    .replaceAll("/etc/haproxy", folder)
    .replaceAll("/run/haproxy", folder)
    .replaceAll("8787", String(serverPort))
    .replaceAll("30080", String(nodePort))
    .replace("bind :80", `bind 127.0.0.1:${String(webPort)}`)
    .replace(/^haproxy /m, `${command} `)
    .replace("systemctl reload haproxy", `touch ${folder}/reloads`);
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

function makeFiles(): string {
  const { status, stderr } = spawnSync("sh", [join(folder, "haproxy-nodes")], { encoding: "utf8" });
  return status === 0 ? readFileSync(join(folder, "nodes.cfg"), "utf8") : `${String(status)} ${stderr}`;
}

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
  writeFileSync(join(folder, "haproxy-nodes"), here(script, command));
  chmodSync(join(folder, "haproxy-nodes"), 0o755);
  await vi.waitFor(() => expect(makeFiles()).toMatch(/server node-2 127\.0\.0\.12:\d+\n\nbackend nodes-unchecked/), poll);
  const args = ["-db", "-V", "-f", join(folder, "haproxy.cfg"), "-f", join(folder, "nodes.cfg")];
  haproxy = await startCommand(command, args, /./, folder);
}, 120_000);
afterAll(async () => {
  for (const socket of open) socket.destroy();
  await haproxy?.stop();
  for (const backend of backends) backend.destroy();
  removeFolder(folder);
});

describe("HAProxy fed by /nodes/targets", () => {
  it("an unchanged list: no reload", () => {
    const before = existsSync(join(folder, "reloads"));
    expect(before).toBe(true);
    spawnSync("rm", [join(folder, "reloads")]);
    makeFiles();
    expect(existsSync(join(folder, "reloads"))).toBe(false);
  });

  it("a taint: new connections go to the other node, one that is open lives on; without the taint the node comes back", async () => {
    await expect.poll(reached, poll).toBe("node-1 node-2");
    const connections = [await connection(), await connection(), await connection(), await connection()];
    const held = await Promise.all(connections.map((one) => one.nodeOf("before")));
    expect(new Set(held)).toEqual(new Set(NAMES));
    await taint("node-1", ["ToBeDeletedByClusterAutoscaler"]);
    await expect.poll(reached, poll).toBe("node-2");
    expect(await Promise.all(connections.map((one) => one.nodeOf("during")))).toEqual(held);
    expect(makeFiles()).toContain("server node-1 127.0.0.11");
    await taint("node-1", []);
    await expect.poll(reached, poll).toBe("node-1 node-2");
    expect(await Promise.all(connections.map((one) => one.nodeOf("after")))).toEqual(held);
  }, 240_000);

  it("an excluded Node: leaves the file", async () => {
    const labels = { "node.kubernetes.io/exclude-from-external-load-balancers": "" };
    await api.must("PATCH", `${NODES}/node-2`, { headers: MERGE, body: { metadata: { labels } } });
    await expect.poll(makeFiles, poll).not.toContain("node-2");
    expect(makeFiles()).toContain("node-1");
  }, 120_000);

  it("the server away: every node gets connections, open ones live on", async () => {
    await expect.poll(reached, poll).toBe("node-1 node-2");
    const held = await connection();
    const node = await held.nodeOf("before");
    await server.kill();
    // Two checks fail: none of the nodes is up any more.
    await expect.poll(() => haproxy?.output() ?? "", poll).toMatch(/backend (?:'nodes'|nodes) has no server available/);
    expect(await reached()).toBe("node-1 node-2");
    expect(await held.nodeOf("during")).toBe(node);
    await server.start();
  }, 240_000);
});
