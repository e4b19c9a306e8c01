/** An IP family, spelled as in `Service.spec.ipFamilies`. */
export type Family = "IPv4" | "IPv6";

export const FAMILIES: readonly Family[] = ["IPv4", "IPv6"];

/** The family of a text that is known to be an address or a prefix. */
export function familyOfText(text: string): Family {
  return text.includes(":") ? "IPv6" : "IPv4";
}

/** Number of bits of an address. */
export function widthOf(family: Family): 32 | 128 {
  return family === "IPv4" ? 32 : 128;
}

/** The all-ones address. */
export function lastAddressOf(family: Family): bigint {
  return family === "IPv4" ? LAST_IPV4 : LAST_IPV6;
}

const LAST_IPV4 = (1n << 32n) - 1n;
const LAST_IPV6 = (1n << 128n) - 1n;
