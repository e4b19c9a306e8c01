/** Addresses that no endpoint can have (upstream pkg/apis/core/validation ValidateEndpointIP / ValidateNonSpecialIP). */
import { containsAddress, parsePrefix } from "./prefix";
import type { Prefix } from "./prefix";
import type { Address } from "./address";

function prefixOf(text: string): Prefix {
  const parsed = parsePrefix(text);
  if (!parsed.ok) throw new Error(`${text} is no prefix`);
  return parsed.value;
}

const SPECIAL: readonly { prefixes: readonly Prefix[]; message: string }[] = [
  { prefixes: ["127.0.0.0/8", "::1/128"].map(prefixOf), message: "may not be in the loopback range (127.0.0.0/8, ::1/128)" },
  { prefixes: ["169.254.0.0/16", "fe80::/10"].map(prefixOf), message: "may not be in the link-local range (169.254.0.0/16, fe80::/10)" },
  {
    // the text has /10, Go's IsLinkLocalMulticast tests /16
    prefixes: ["224.0.0.0/24", "ff02::/16"].map(prefixOf),
    message: "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
  },
];

/** Messages why no endpoint can have the address; `text` is the client's spelling. */
export function specialAddressMessages({ family, value }: Address, text: string): string[] {
  if (value === 0n) return [`may not be unspecified (${text})`];
  return SPECIAL.filter(({ prefixes }) => prefixes.some((prefix) => containsAddress(prefix, family, value))).map(({ message }) => message);
}
