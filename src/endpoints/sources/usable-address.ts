import { type Address, parseAddress } from "../../core/net/address";
import { specialAddressMessages } from "../../core/net/special-addresses";

/** The address of a text, if a slice may have it: upstream writes other texts too, and so loses the write of the whole slice. */
export function usableAddress(text: string): Address | undefined {
  const parsed = parseAddress(text);
  return parsed.ok && specialAddressMessages(parsed.value, text).length === 0 ? parsed.value : undefined;
}
