/** The name of an identity Lease (upstream: apiserver pkg/server/config.go; facts in KEP-1965). */
import type { Digest } from "../../core/base/ports";

const SERVER = "kube-apiserver";
const HASHED_BYTES = 16;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** `apiserver-` and 26 characters: the first half of the SHA-256 of host name and server, each behind its length. */
export async function identityLeaseName(hostname: string, digest: Digest): Promise<string> {
  const hex = await digest(Uint8Array.from([...counted(hostname), ...counted(SERVER)]));
  const bytes = Array.from({ length: HASHED_BYTES }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
  return `apiserver-${base32(bytes)}`;
}

/** The text's bytes behind their number, as a big-endian uint16. */
function counted(text: string): number[] {
  const bytes = [...new TextEncoder().encode(text)];
  return [(bytes.length >> 8) & 0xff, bytes.length & 0xff, ...bytes];
}

/** RFC 4648 in lower case, without padding. */
function base32(bytes: readonly number[]): string {
  let [text, bits, value] = ["", 0, 0];
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32.charAt((value >> (bits - 5)) & 31);
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32.charAt((value << (5 - bits)) & 31);
}
