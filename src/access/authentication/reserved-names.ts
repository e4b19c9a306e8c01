/** Names of users and groups that only this server gives: an issuer elsewhere must not make masters, nodes or agents. */
const RESERVED_PREFIXES = ["system:", "servicenet:"];

export function isReservedName(name: string): boolean {
  return RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
}
