/** Addresses that an operator keeps for who may ask for them by name (KEP-3070). */
import { parseAddress } from "../../core/net/address";
import { staticBandOf } from "../../core/net/band";
import { prefixesOf, type RangeSource } from "./service-ranges";

/** Those of the addresses that lie in the static band of a range which gives out addresses. */
export function inStaticBands(addresses: readonly string[], sources: readonly RangeSource[]): string[] {
  const ready = prefixesOf(sources.flatMap((source) => (source.ready ? source.cidrs : [])));
  return addresses.filter((text) => {
    const address = parseAddress(text);
    if (!address.ok) return false;
    const { family, value } = address.value;
    return ready.some((prefix) => {
      const band = prefix.family === family ? staticBandOf(prefix) : undefined;
      return band !== undefined && band.first <= value && value <= band.last;
    });
  });
}
