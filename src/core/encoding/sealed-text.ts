/** Text for a place that may damage it: a digest in front shows whether it is intact. */
import type { Digest } from "../base/ports";

/** Hexadecimal digits of the digest. */
const DIGEST_CHARS = 64;

const encoder = new TextEncoder();

export async function seal(text: string, digest: Digest): Promise<Uint8Array> {
  const bytes = encoder.encode(`${" ".repeat(DIGEST_CHARS)}${text}`);
  bytes.set(encoder.encode(await digest(bytes.subarray(DIGEST_CHARS))));
  return bytes;
}

/** The text that was sealed; undefined for bytes that are not a sealed text. */
export async function unseal(bytes: Uint8Array, digest: Digest): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const content = bytes.subarray(DIGEST_CHARS);
  if (decoder.decode(bytes.subarray(0, DIGEST_CHARS)) !== (await digest(content))) return undefined;
  return decoder.decode(content);
}
