/** Raw connections to an API server, plain or TLS, and the heads of HTTP/1.1 requests on them. */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";
import type { Target } from "../../cluster/target";

/**
 * For so long a generator's connection rests at most, in milliseconds; then its next request goes over a new one. The runtime closes a connection 5 s after
 * its last answer, and would meet requests that come just then. Clients close theirs before the server does.
 */
export const RESTING_MS_MAX = 3_000;

/** A connection that is ready for requests. Rejects with what the network or the certificate's check says. */
export function open({ url, options }: Target): Promise<Socket> {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  const where = { host, port: Number(port || (isSecure ? 443 : 80)) };
  return new Promise((resolve, reject) => {
    const { ca, cert, key, rejectUnauthorized } = options;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const socket = isSecure
      ? connectSecurely({ ...where, ...servername, ca, cert, key, rejectUnauthorized: rejectUnauthorized ?? true })
      : connect(where);
    socket.setNoDelay(true);
    socket.once(isSecure ? "secureConnect" : "connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** Makes the heads of requests: request line and headers, without the empty line that ends them. `type`: the Content-Type of a body. */
export function requestHeads({ url, options }: Target): (method: string, path: string, type?: string) => string {
  const { host, pathname } = new URL(url);
  const base = pathname === "/" ? "" : pathname;
  const headers = Object.entries({ Host: host, Accept: "application/json", ...options.headers });
  const lines = headers.map(([name, value]) => `${name}: ${String(value)}\r\n`).join("");
  return (method, path, type) => `${method} ${base}${path} HTTP/1.1\r\n${lines}${type ? `Content-Type: ${type}\r\n` : ""}`;
}
