import { isIPv4 } from "node:net";

/** Whether this machine alone reaches an address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}
