/** The addresses at which others reach this machine. */
import { networkInterfaces } from "node:os";
import { parseAddress } from "../../src/core/net/address";
import { FAMILIES, familyOfText } from "../../src/core/net/family";
import { specialAddressMessages } from "../../src/core/net/special-addresses";
import { UserError } from "../terminal/user-error";

/** The first address of each family that an endpoint can have. Throws UserError when there is none. */
export function addressesFound(interfaces = networkInterfaces()): string[] {
  const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
  const usable = all.flatMap(({ address, internal }) => {
    const parsed = internal ? undefined : parseAddress(address);
    return parsed?.ok && specialAddressMessages(parsed.value, address).length === 0 ? [parsed.value.canonical] : [];
  });
  const found = FAMILIES.flatMap((family) => usable.find((address) => familyOfText(address) === family) ?? []);
  if (found.length === 0) throw new UserError("this machine has no address that others can reach; --address ADDRESS gives one");
  return found;
}
