/**
 * What Miniflare's own sockets obey, and what goes past the guards of the one socket that is meant for clients: requests as anybody on the machine, or a
 * page in a browser, may send them.
 */
import { type NetConnectOpts, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import type { ListeningSocket } from "./listening-sockets";

const SILENCE_MS = 1_500;
const SERVICES = "/api/v1/namespaces/default/services";
/** A line that one of them would write to the log. */
export const FORGED = "a line that nobody wrote";

/** A request line, its headers, and its body. */
type Sent = readonly [string, readonly string[], string?];

/** `secretFile`: one that nobody may read; `written`: one that nobody may write. */
export function attacks(secretFile: string, written: string): Readonly<Record<string, string>> {
  const stack = JSON.stringify({
    name: "Error",
    message: "x",
    stack: `Error: x\n    at f (${secretFile}:1:1)\n    at g (file://${secretFile}:1:1)`,
  });
  const outside = relative(join(tmpdir(), "miniflare-x", "files", "x"), written);
  const sent: Record<string, Sent> = {
    "a made-up stack, by path": ["POST /core/error HTTP/1.1", [], stack],
    "a made-up stack, by an absolute target": ["POST http://localhost/core/error HTTP/1.1", [], stack],
    "a made-up stack, by HTTP/1.0": ["POST /core/error HTTP/1.0", [], stack],
    "a made-up stack, by the header of the original target": [
      "POST /nowhere HTTP/1.1",
      ["MF-Original-URL: http://localhost/core/error"],
      stack,
    ],
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
    "the objects, by Miniflare's proxy": [
      "GET /nowhere HTTP/1.1",
      ["MF-Op: GET", "MF-Op-Target: 0", "MF-Op-Key: caches", "MF-Op-Secret: 00"],
    ],
    "the Worker, by Cap'n Proto": ["CONNECT miniflare-unsafe-internal-capnp-connect HTTP/1.1", []],
    "another host": [`GET ${SERVICES} HTTP/1.1`, ["Host: attacker.example"]],
    "another host and an original target": [
      `GET ${SERVICES} HTTP/1.1`,
      ["Host: attacker.example", `MF-Original-URL: http://localhost${SERVICES}`],
    ],
    "another host and an original host": [
      `GET ${SERVICES} HTTP/1.1`,
      ["Host: attacker.example", "MF-Original-Host: localhost", "X-Forwarded-Host: localhost"],
    ],
    "another host and another route": [`GET ${SERVICES} HTTP/1.1`, ["Host: attacker.example", "MF-Route-Override: servicenet"]],
    "another host by an absolute target": [`GET http://attacker.example${SERVICES} HTTP/1.1`, ["Host: localhost"]],
  };
  return Object.fromEntries(Object.entries(sent).map(([name, parts]) => [name, textOf(parts)]));
}

function textOf([start, headers, body = ""]: Sent): string {
  const hasHost = headers.some((header) => header.startsWith("Host:"));
  const close = headers.some((header) => header.startsWith("Connection:")) ? [] : ["Connection: close"];
  const length = body === "" && !start.startsWith("POST") ? [] : [`Content-Length: ${String(Buffer.byteLength(body))}`];
  return [start, ...(hasHost ? [] : ["Host: localhost"]), "Accept: text/html, */*", ...headers, ...close, ...length, "", body].join("\r\n");
}

/** Everything that comes back until the end or a silence. */
export async function exchange(socket: Socket, text: string): Promise<string> {
  let answer = "";
  socket.setEncoding("latin1").setTimeout(SILENCE_MS, () => socket.destroy());
  socket.on("data", (chunk: string) => (answer += chunk));
  // One that is cut is an answer, too.
  socket.on("error", () => socket.destroy());
  socket.write(text);
  await new Promise((resolve) => socket.once("close", resolve));
  return answer;
}

/** Where to connect to a socket. */
export function placeOf({ kind, address }: ListeningSocket): NetConnectOpts {
  if (kind === "unix") return { path: address };
  const { hostname, port } = new URL(`http://${address}`);
  return { host: hostname.replace(/[[\]]/g, ""), port: Number(port) };
}
