/** The HTTP servers of the proxy: its own health, its metrics, and one for each healthCheckNodePort. */
import { createServer, type RequestListener, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { hostAndPort } from "../../src/core/net/host-and-port";
import type { BindAddress } from "./options";

/** An HTTP server whose address is wanted until it is closed. */
export interface WantedServer {
  /** `http://127.0.0.1:10256`; undefined until it listens */
  readonly url: string | undefined;
  close(): void;
}

/** kube-proxy's pause before it tries again. */
const RETRY_MS = 5_000;

/** Serves `answer`; tries again while the address is not free. Resolves after the first try. */
export async function serveHttp(
  what: string,
  { address, port }: BindAddress,
  answer: RequestListener,
  log: (line: string) => void,
): Promise<WantedServer> {
  let server: Server | undefined;
  let url: string | undefined;
  let isClosed = false;
  let hasFailed = false;
  let retry: NodeJS.Timeout | undefined;
  const attempt = async (): Promise<void> => {
    const next = createServer(answer);
    next.listen({ host: address, port, exclusive: true });
    try {
      await once(next, "listening");
    } catch (error) {
      if (!hasFailed) log(`${what} cannot be served: ${error instanceof Error ? error.message : String(error)}`);
      hasFailed = true;
      if (!isClosed) retry = setTimeout(() => void attempt(), RETRY_MS).unref();
      return;
    }
    if (hasFailed) log(`${what} is served now`);
    if (isClosed) next.close();
    server = next;
    url = `http://${hostAndPort(address, (next.address() as AddressInfo).port)}`;
  };
  await attempt();
  return {
    get url() {
      return url;
    },
    close: () => {
      isClosed = true;
      clearTimeout(retry);
      server?.close();
      server?.closeAllConnections();
    },
  };
}
