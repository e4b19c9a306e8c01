/** TCP through the proxy: each connection is two, and what comes on one goes out on the other. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { Direction, Opened } from "./opened";

/** An endpoint that has not answered by then counts as refusing. */
const DIAL_MS_MAX = 5_000;
/** Finds peers that have vanished without a word. */
const KEEP_ALIVE_MS = 60_000;
/** Clients that the system holds until they are accepted. */
const BACKLOG = 4_096;

export async function openTcp(at: { address: string; port: number }, direction: Direction): Promise<Opened> {
  const clients = new Set<Socket>();
  // A client is read from when its endpoint is there. Its end of sending does not end the answer.
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true, keepAlive: true }, (client) => {
    clients.add(client);
    client.once("close", () => clients.delete(client));
    void serveClient(client, direction);
  });
  server.listen({ host: at.address, port: at.port, backlog: BACKLOG, exclusive: true });
  await once(server, "listening");
  // A single accept may fail, such as for want of descriptors. The next one may not.
  server.on("error", () => undefined);
  return {
    get hasEnded() {
      return !server.listening && clients.size === 0;
    },
    close: () => void server.close(),
    resume: () => false,
    review: () => undefined,
    destroy: () => {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}

/** Connects a client with an endpoint. One that refuses, or does not answer, is followed by another one, until each has been tried. */
async function serveClient(client: Socket, direction: Direction): Promise<void> {
  const refused = new Set<string>();
  client.on("error", () => undefined);
  for (;;) {
    const endpoint = direction.choose(client.remoteAddress ?? "", refused);
    if (client.destroyed) return;
    if (!endpoint) break;
    const backend = await dial(direction.dialAddress(endpoint), endpoint.port);
    if (backend) {
      join(client, backend);
      return;
    }
    refused.add(endpoint.key);
  }
  client.resetAndDestroy();
}

/** undefined = refused, or no answer in time */
function dial(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const backend = connect({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS });
    const late = setTimeout(() => backend.destroy(), DIAL_MS_MAX);
    backend.once("connect", () => {
      clearTimeout(late);
      resolve(backend);
    });
    backend.on("error", () => undefined);
    backend.once("close", () => {
      clearTimeout(late);
      resolve(undefined);
    });
  });
}

/**
 * Joins two connections. `pipe` reads no faster than the other side takes, and hands the end of one direction on while the other goes on. A
 * connection that breaks breaks the other one, so that no side takes half an answer for a whole one.
 */
function join(client: Socket, backend: Socket): void {
  for (const [one, other] of [
    [client, backend],
    [backend, client],
  ] as const) {
    one.once("error", () => other.resetAndDestroy());
    one.once("close", (hadError) => {
      const isWhole = !hadError && one.readableEnded && one.writableFinished;
      if (!isWhole) other.destroy();
    });
    one.pipe(other);
  }
  if (client.destroyed) backend.destroy();
}
