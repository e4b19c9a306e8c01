/** Warnings of addresses and CIDRs in a form that newer fields refuse. Source: apimachinery pkg/util/validation/ip.go. */
import { parseAddress } from "../../core/net/address";
import { formatPrefix, parsePrefix, prefixAround } from "../../core/net/prefix";

/** No warning for a text that is no address: validation has refused it, or the field takes any text. */
export function warnOfAddress(field: string, text: string, warnings: string[]): void {
  const parsed = parseAddress(text);
  if (parsed.ok) {
    const { canonical } = parsed.value;
    if (canonical !== text)
      warnings.push(`${field}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${quote(canonical)})`);
    return;
  }
  const meant = parsed.error === "leadingZeros" ? withoutLeadingZeros(text) : parsed.error === "ipv4Mapped" ? mappedIPv4(text) : undefined;
  if (meant !== undefined) warnings.push(`${field}: non-standard IP address ${quote(text)} is invalid: use ${quote(meant)}`);
}

function withoutLeadingZeros(text: string): string | undefined {
  const parsed = parseAddress(text.replace(/(^|[.:])0+(?=[0-9a-fA-F])/g, "$1"));
  return parsed.ok ? parsed.value.canonical : undefined;
}

/** `::ffff:10.0.0.1`, `::ffff:a00:1` -> `10.0.0.1`. The marker is replaced so that the rest of the text can be parsed. */
function mappedIPv4(text: string): string | undefined {
  const parsed = parseAddress(text.replace(/ffff/i, "fffe"));
  if (!parsed.ok) return undefined;
  const value = Number(parsed.value.value & 0xffff_ffffn);
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
}

/** The same for a CIDR. */
export function warnOfCIDR(field: string, text: string, warnings: string[]): void {
  const parsed = parsePrefix(text);
  if (parsed.ok) return;
  if (parsed.error.reason === "notCanonical") {
    warnings.push(`${field}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${quote(parsed.error.canonical)})`);
  }
  if (parsed.error.reason !== "hostBits") return;
  const slash = text.indexOf("/");
  const address = parseAddress(text.slice(0, slash));
  if (!address.ok) return;
  const { family, value, canonical } = address.value;
  const network = formatPrefix(prefixAround(family, value, Number(text.slice(slash + 1))));
  const single = `${canonical}/${family === "IPv4" ? 32 : 128}`;
  warnings.push(`${field}: CIDR value ${quote(text)} is ambiguous in this context (should be ${quote(network)} or ${quote(single)}?)`);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
