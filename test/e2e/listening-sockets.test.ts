/** The sockets of a running server: one for its clients, none that another user or a page reaches. Requests that Miniflare's own sockets obey reach nothing. */
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { dirname, join, relative } from "node:path";
import { tmpdir } from "node:os";
import { connect as connectTls } from "node:tls";
import { afterAll, describe, expect, it } from "vitest";
import { rowOf } from "../../scripts/serve/processes";
import { type ListeningSocket, listeningSockets } from "../support/server/listening-sockets";
import { familyOf } from "../support/server/processes";
import { removeFolder, temporaryFolder } from "../support/server/server";
import { serverForTests } from "../support/server/server-for-tests";

const SILENCE_MS = 1_500;
const SERVICES = "/api/v1/namespaces/default/services";
const SECRET = "what-nobody-may-read";
const FORGED = "a line that nobody wrote";

const folder = temporaryFolder();
const [secretFile, written] = [join(folder, "secret.ts"), join(folder, "written")];
mkdirSync(folder, { recursive: true });
writeFileSync(secretFile, SECRET);
afterAll(() => removeFolder(folder));

const stack = JSON.stringify({ name: "Error", message: "x", stack: `Error: x\n    at f (${secretFile}:1:1)\n    at g (file://${secretFile}:1:1)` });
const outside = relative(join(tmpdir(), "miniflare-x", "files", "x"), written);

/** A request line, its headers, and its body. */
type Sent = readonly [string, readonly string[], string?];

const ATTACKS: Readonly<Record<string, Sent>> = {
  "a made-up stack, by path": ["POST /core/error HTTP/1.1", [], stack],
  "a made-up stack, by an absolute target": ["POST http://localhost/core/error HTTP/1.1", [], stack],
  "a made-up stack, by HTTP/1.0": ["POST /core/error HTTP/1.0", [], stack],
  "a made-up stack, by the header of the original target": ["POST /nowhere HTTP/1.1", ["MF-Original-URL: http://localhost/core/error"], stack],
  "a made-up stack, as the answer of a Worker": ["GET /nowhere HTTP/1.1", ["MF-Experimental-Error-Stack: true"], stack],
  "a file outside": [`POST /core/store-temp-file?extension=x/${outside} HTTP/1.1`, ["Content-Type: text/plain"], "x"],
  "a file outside, by its folder": [`POST /core/store-temp-file?prefix=${dirname(outside)} HTTP/1.1`, ["Content-Type: text/plain"], "x"],
  "a line of the log": ["POST /core/log HTTP/1.1", ["MF-Log-Level: 1"], FORGED],
  "a target that is no URL": ["GET //[ HTTP/1.1", []],
  "properties that are no JSON": ["GET /nowhere HTTP/1.1", ["MF-CF-Blob: {"]],
  "an original target that is no URL": ["GET /nowhere HTTP/1.1", ["MF-Original-URL: http://["]],
  "a function of the host": ["GET /nowhere HTTP/1.1", ["MF-Custom-Node-Service: 0#x"]],
  "a fetch of the host": ["GET /nowhere HTTP/1.1", ["MF-Custom-Fetch-Service: 0#x"]],
  "an upgrade to a function of the host": [
    "GET /core/error HTTP/1.1",
    ["Connection: Upgrade", "Upgrade: websocket", "MF-Custom-Node-Service: 0#x", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="],
  ],
  "an upgrade that says when the code changes": [
    "GET /cdn-cgi/mf/reload HTTP/1.1",
    ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="],
  ],
  "a browser": ["POST /browser/launch HTTP/1.1", []],
  "the files of the objects": ["GET /core/do-storage/servicenet-Coordinator HTTP/1.1", []],
  "a scheduled event": ["GET /cdn-cgi/handler/scheduled?cron=stop HTTP/1.1", []],
  "an event of the scheduler without a name": ["POST /scheduled HTTP/1.1", []],
  "the objects, by Miniflare's proxy": ["GET /nowhere HTTP/1.1", ["MF-Op: GET", "MF-Op-Target: 0", "MF-Op-Key: caches", "MF-Op-Secret: 00"]],
  "the Worker, by Cap'n Proto": ["CONNECT miniflare-unsafe-internal-capnp-connect HTTP/1.1", []],
  "another host": [`GET ${SERVICES} HTTP/1.1`, ["Host: attacker.example"]],
  "another host and an original target": [`GET ${SERVICES} HTTP/1.1`, ["Host: attacker.example", `MF-Original-URL: http://localhost${SERVICES}`]],
  "another host and an original host": [`GET ${SERVICES} HTTP/1.1`, ["Host: attacker.example", "MF-Original-Host: localhost", "X-Forwarded-Host: localhost"]],
  "another host and another route": [`GET ${SERVICES} HTTP/1.1`, ["Host: attacker.example", "MF-Route-Override: servicenet"]],
  "another host by an absolute target": [`GET http://attacker.example${SERVICES} HTTP/1.1`, ["Host: localhost"]],
};

function textOf([start, headers, body = ""]: Sent): string {
  const hasHost = headers.some((header) => header.startsWith("Host:"));
  const close = headers.some((header) => header.startsWith("Connection:")) ? [] : ["Connection: close"];
  const length = body === "" && !start.startsWith("POST") ? [] : [`Content-Length: ${String(Buffer.byteLength(body))}`];
  return [start, ...(hasHost ? [] : ["Host: localhost"]), ...headers, ...close, ...length, "", body].join("\r\n");
}

/** Everything that comes back until the end or a silence. */
async function exchange(socket: Socket, text: string): Promise<string> {
  let answer = "";
  socket.setEncoding("latin1").setTimeout(SILENCE_MS, () => socket.destroy());
  socket.on("data", (chunk: string) => (answer += chunk));
  // One that is cut is an answer, too.
  socket.on("error", () => socket.destroy());
  socket.write(text);
  await new Promise((resolve) => socket.once("close", resolve));
  return answer;
}

const placeOf = ({ kind, address }: ListeningSocket): NetConnectOpts => {
  if (kind === "unix") return { path: address };
  const { hostname, port } = new URL(`http://${address}`);
  return { host: hostname.replace(/[[\]]/g, ""), port: Number(port) };
};

describe.each([
  ["npm start", true],
  ["npm start -- --insecure-http", false],
])("%s", (_, secure) => {
  const server = serverForTests([], { secure });
  const processes = () => familyOf(rowOf(server.runtimePid)?.parent ?? 0).map(({ pid }) => pid);

  it("listens on the advertised port, and besides on Unix sockets in folders of its user alone", () => {
    const sockets = listeningSockets(processes());
    expect(processes().length).toBeGreaterThan(1);
    expect(sockets.filter(({ kind }) => kind !== "unix")).toEqual([{ kind: "tcp", address: new URL(server.url).host }]);
    for (const { address } of sockets.filter(({ kind }) => kind === "unix")) {
      const { mode, uid } = statSync(dirname(address));
      expect([address, (mode & 0o777).toString(8), uid]).toEqual([expect.stringMatching(/^\//), "700", process.getuid?.()]);
    }
  });

  it("requests that Miniflare's sockets obey: nothing is read, written, ended or forged, on any of its sockets", async () => {
    const before = processes();
    const places = listeningSockets(before).flatMap((socket) => {
      const plain = [`${socket.kind} ${socket.address}`, () => connect(placeOf(socket))] as const;
      const { host, port } = placeOf(socket) as { host: string; port: number };
      return secure && socket.kind === "tcp" ? [plain, ["TLS", () => connectTls({ host, port, ca: server.ca })] as const] : [plain];
    });
    const tried = places.flatMap(([place, open]) => Object.entries(ATTACKS).map(([name, sent]) => ({ place, name, open, text: textOf(sent) })));
    const answers = await Promise.all(tried.map(async ({ place, name, open, text }) => [place, name, await exchange(open(), text)] as const));
    const obeyed = answers.filter(([, , answer]) => /^HTTP\/1\.[01] [12]/.test(answer) || answer.includes(SECRET));
    expect(obeyed).toEqual([]);
    expect(existsSync(written)).toBe(false);
    expect(server.output()).not.toContain(FORGED);
    expect(processes()).toEqual(before);
    expect(listeningSockets(before)).toHaveLength(places.length - (secure ? 1 : 0));
  });
});
