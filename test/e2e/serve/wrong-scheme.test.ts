/** A program that asks a server by the wrong scheme: one line says the right address, at once. */
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Api } from "../../../scripts/cluster/api";
import { send } from "../../../scripts/cluster/send";
import { targetFetch } from "../../../scripts/cluster/target-fetch";
import { reportText } from "../../../scripts/import/report-text";
import type { ImportReport } from "../../../scripts/import/run";
import { keptCertificates } from "../../../scripts/serve/tls/kept-certificates";
import { runTask } from "../../../scripts/token/run";
import { removeFolder, temporaryFolder } from "../../support/server/server";

const folder = temporaryFolder();
const servers: Server[] = [];
const ports: Record<"tls" | "plain" | "go" | "closing", number> = { tls: 0, plain: 0, go: 0, closing: 0 };

/** that have come to any of the servers */
let connections = 0;

async function listening(server: Server): Promise<number> {
  server.on("connection", () => connections++);
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const { key, certificates } = keptCertificates(folder, []);
  ports.tls = await listening(createTlsServer({ key, cert: certificates }, (_, response) => response.end("{}")));
  ports.plain = await listening(createServer((_, response) => response.end("{}")));
  ports.go = await listening(
    createServer((_, response) => response.writeHead(400).end("Client sent an HTTP request to an HTTPS server.\n")),
  );
  ports.closing = await listening(createTcpServer((socket) => socket.destroy()));
});
afterAll(() => {
  for (const server of servers) server.close();
  removeFolder(folder);
});

const target = (url: string) => ({ url, options: {} });
const httpsAt = (port: number) => `127.0.0.1:${String(port)} speaks HTTPS; the address is https://127.0.0.1:${String(port)}`;

describe("the wrong scheme", () => {
  it.each<[program: string, ask: (url: string) => Promise<unknown>]>([
    ["check, backup, restore and import", (url) => new Api(target(url)).get("/version")],
    ["token", (url) => runTask(target(url), { kind: "list" })],
    ["proxy and dns", (url) => targetFetch(target(url))("/version", { signal: AbortSignal.timeout(5_000) })],
  ])("%s: one line names the right one, without more attempts", async (_, ask) => {
    connections = 0;
    await expect(ask(`http://127.0.0.1:${String(ports.tls)}/clusters/blue`)).rejects.toThrow(new Error(httpsAt(ports.tls)));
    await expect(ask(`https://127.0.0.1:${String(ports.plain)}`)).rejects.toThrow(
      new Error(`127.0.0.1:${String(ports.plain)} speaks no HTTPS; the address is http://127.0.0.1:${String(ports.plain)}`),
    );
    // Each is asked once, and once more at most for what it speaks.
    expect(connections).toBeLessThanOrEqual(4);
  });

  it("an API server written in Go: the same", async () => {
    await expect(send(target(`http://127.0.0.1:${String(ports.go)}`), "GET", "/")).rejects.toThrow(httpsAt(ports.go));
  });

  it("a server that closes connections, by either scheme: its own error stays", async () => {
    for (const scheme of ["http", "https"])
      await expect(send(target(`${scheme}://127.0.0.1:${String(ports.closing)}`), "GET", "/")).rejects.toThrow(
        /hang up|ECONNRESET|disconnected/,
      );
  });
});

describe("an import with objects out of range", () => {
  const report = (count: number): ImportReport => ({
    server: "s",
    dryRun: false,
    created: [],
    present: [],
    statusesRestored: [],
    notices: [],
    conflicts: [
      ...Array.from({ length: count }, (_, i) => ({
        object: `Service a/s${String(i)}`,
        reason: "OutOfRange" as const,
        message: `has the address 172.20.0.${String(i + 1)}, which no ServiceCIDR gives out`,
      })),
      { object: "Service a/b", reason: "Invalid", message: "has no name" },
    ],
  });
  const conflictsOf = (count: number) => reportText(report(count)).split("\n").slice(3);

  it("hundreds of them: one line says what to do, and the others stay", () => {
    expect(conflictsOf(300)).toEqual([
      "Conflicts: 301",
      "  OutOfRange: 300 objects have addresses (172.20.0.1, …) that no ServiceCIDR gives out; create a ServiceCIDR with their range and import again, or begin a new server with --var SERVICE_CLUSTER_IP_RANGE (docs/import.md; --json names each object)",
      "  Invalid: Service a/b has no name",
    ]);
  });

  it("few of them: each is named", () => {
    expect(conflictsOf(3)).toHaveLength(5);
  });
});
