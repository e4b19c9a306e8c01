/** The address at which other machines reach this one. */
import { networkInterfaces } from "node:os";
import { parseAddress } from "../../src/core/net/address";
import { specialAddressMessages } from "../../src/core/net/special-addresses";

/** The first address of this machine's interfaces that an endpoint can have, IPv4 before IPv6; undefined = it has loopback alone. */
export function ownAddress(interfaces = networkInterfaces()): string | undefined {
  const addresses = Object.values(interfaces)
    .flatMap((addressesOfOne) => addressesOfOne ?? [])
    .filter(({ internal }) => !internal)
    .flatMap(({ address }) => {
      const parsed = parseAddress(address);
      return parsed.ok && specialAddressMessages(parsed.value, address).length === 0 ? [parsed.value] : [];
    });
  return (addresses.find(({ family }) => family === "IPv4") ?? addresses[0])?.canonical;
}
