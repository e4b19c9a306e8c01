/** base64 (RFC 4648): of UTF-8 text for tokens and annotations, of bytes in fields. */
import { err, ok, type Result } from "../base/result";

const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE = `${STANDARD.slice(0, 62)}-_`;

function encode(bytes: Uint8Array, alphabet: string, padding: string): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    out += alphabet.charAt(word >> 18) + alphabet.charAt((word >> 12) & 63);
    out += left > 1 ? alphabet.charAt((word >> 6) & 63) : padding;
    out += left > 2 ? alphabet.charAt(word & 63) : padding;
  }
  return out;
}

export function encodeBase64(text: string): string {
  return encodeBase64Bytes(new TextEncoder().encode(text));
}

export function encodeBase64Bytes(bytes: Uint8Array): string {
  return encode(bytes, STANDARD, "=");
}

/** without padding */
export function encodeBase64Url(text: string): string {
  return encodeBase64UrlBytes(new TextEncoder().encode(text));
}

/** without padding */
export function encodeBase64UrlBytes(bytes: Uint8Array): string {
  return encode(bytes, URL_SAFE, "");
}

/** Text of an unpadded base64url form; undefined when `encoded` is not one. */
export function decodeBase64Url(encoded: string): string | undefined {
  const bytes = decode(encoded, URL_SAFE);
  if (!bytes) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Bytes of a padded base64 form, as in a field of type []byte; undefined when it is none. */
export function decodeBase64(encoded: string): Uint8Array | undefined {
  return encoded.length % 4 === 0 ? decode(encoded.replace(/={1,2}$/, ""), STANDARD) : undefined;
}

/** Anything else than the alphabet. */
const FOREIGN = /[^A-Za-z0-9+/]/;
/** An end whose unused bits are zero. */
const PADDED_END = /(?:[AQgw]==|[AEIMQUYcgkosw048]=)$/;
const LINE_ENDS = /[\r\n]/g;

/** Number of bytes behind a normal base64 form. */
export function base64Length(normal: string): number {
  return (normal.length / 4) * 3 - paddingOf(normal);
}

function paddingOf(text: string): number {
  return text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
}

/**
 * The one normal form of a padded base64 text: Go's decoder (encoding/base64 StdEncoding) also takes line ends and unused bits. The error is the
 * index at which that decoder gives up.
 */
export function normalBase64(text: string): Result<string, number> {
  if (isNormal(text)) return ok(text);
  const bytes = decodeBase64(text.replace(LINE_ENDS, ""));
  return bytes ? ok(encodeBase64Bytes(bytes)) : err(corruptAt(text));
}

function isNormal(text: string): boolean {
  const padding = paddingOf(text);
  return text.length % 4 === 0 && (padding === 0 || PADDED_END.test(text)) && !FOREIGN.test(text.slice(0, text.length - padding));
}

/** Where Go's decoder refuses a text that is no base64 (encoding/base64 decodeQuantum). */
function corruptAt(text: string): number {
  let inQuantum = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === "\r" || character === "\n") continue;
    if (STANDARD.includes(character)) inQuantum = (inQuantum + 1) % 4;
    else return character === "=" && inQuantum >= 2 ? corruptPadding(text, i + 1, inQuantum === 2) : i;
  }
  return text.length - inQuantum;
}

/** `from` follows the first padding character. */
function corruptPadding(text: string, from: number, wantsSecond: boolean): number {
  const at = skipLineEnds(text, from);
  if (!wantsSecond) return at;
  if (text.charAt(at) === "=") return skipLineEnds(text, at + 1);
  return at === text.length ? at : at - 1;
}

function skipLineEnds(text: string, from: number): number {
  let at = from;
  while (text.charAt(at) === "\r" || text.charAt(at) === "\n") at++;
  return at;
}

function decode(unpadded: string, alphabet: string): Uint8Array | undefined {
  if (unpadded.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((unpadded.length * 3) / 4));
  let word = 0;
  let bits = 0;
  let length = 0;
  for (let i = 0; i < unpadded.length; i++) {
    const value = alphabet.indexOf(unpadded.charAt(i));
    if (value < 0) return undefined;
    word = ((word << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length++] = (word >> bits) & 0xff;
  }
  return bytes;
}
