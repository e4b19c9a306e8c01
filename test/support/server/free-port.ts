/** Ports for servers under test: free, and nobody else's for as long as this process lives, also while the server is away. */
import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that systems give to clients and to listeners that ask for any. Node ports are above. */
const PORTS = { first: 21_000, count: 9_000 };
/** A process has a port when it listens on the one so far below. The system ends that with the process, whatever its end. */
const CLAIM_BELOW = 10_000;

/** A port that is free on every IPv4 address. No other process gets it from here. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * PORTS.count);
    const claim = await listening(port - CLAIM_BELOW, "127.0.0.1");
    if (!claim) continue;
    claim.unref();
    const server = await listening(port, "0.0.0.0");
    if (!server) {
      claim.close();
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

async function listening(port: number, host: string): Promise<ReturnType<typeof createServer> | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, "listening");
    return server;
  } catch {
    return undefined;
  }
}
