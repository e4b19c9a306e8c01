/** By which names clients reach a server. */
import { hostname, networkInterfaces } from "node:os";

const EVERY_ADDRESS = new Set(["0.0.0.0", "::"]);

/** Whether a server that listens there is reached at every address of the machine. */
export function isEveryAddress(host: string): boolean {
  return EVERY_ADDRESS.has(host);
}

/** The names and addresses of a server that listens on `host`. On every address of the machine: all of these, and its name. */
export function ownNames(host: string, allowedHosts: readonly string[]): string[] {
  if (!isEveryAddress(host)) return [host, ...allowedHosts];
  const addresses = Object.values(networkInterfaces())
    .flatMap((addressesOfOne) => addressesOfOne ?? [])
    .filter(({ address, scopeid }) => !scopeid && !address.includes("%"))
    .map(({ address }) => address);
  return [...addresses, hostname().toLowerCase(), ...allowedHosts];
}
