/** The addresses at which a proxy in user space serves Services. No machine has the addresses of Services themselves, so others stand for them. */
import { formatAddress, parseAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { hostBitsOf, type Prefix } from "../../core/net/prefix";

/** Where a proxy listens. */
export interface ListenPlaces {
  /** where ClusterIPs of each family are served: the prefix, followed by the low bits of the ClusterIP */
  readonly clusterIPs: Readonly<Record<Family, Prefix>>;
  /** where node ports are served: each address the Services of its family */
  readonly nodePorts: readonly string[];
}

/** Ports below this one need rights on most systems. */
const LOW_PORTS_END = 1_024;

/** The address of `prefix` that has the low bits of `address`: 10.96.0.5 in 127.0.0.0/8 is 127.96.0.5. A text that is no address stays. */
export function addressWithin(prefix: Prefix, address: string): string {
  const parsed = parseAddress(address);
  if (!parsed.ok) return address;
  const low = parsed.value.value & ((1n << BigInt(hostBitsOf(prefix))) - 1n);
  return formatAddress(prefix.family, prefix.base + low);
}

/**
 * Where a port is served instead when the system refuses it for want of rights; undefined = nowhere.
 *
 * @param offset what is added to a low port
 */
export function insteadOfLowPort(port: number, offset: number): number | undefined {
  return port < LOW_PORTS_END && offset > 0 ? port + offset : undefined;
}
