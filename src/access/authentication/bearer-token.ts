/**
 * This server's own bearer tokens: `sn_ID_SECRET`. The prefix lets scanners of source code find a token that leaked. The id is no secret: lists,
 * logs and audit records name the token by it.
 *
 * A secret has 256 random bits, so that nobody finds it by trying: a salted SHA-256 keeps it as safe as a slow hash would, and costs a request
 * nothing. Slow hashes are for passwords, which people choose.
 */
import { encodeBase64UrlBytes } from "../../core/encoding/base64";
import type { Digest, Random } from "../../core/base/ports";

export interface BearerToken {
  readonly id: string;
  readonly secret: string;
}

/** What is stored of a secret, in lower-case hexadecimal. */
export interface SecretHash {
  readonly salt: string;
  /** of the salt's bytes and the secret's text */
  readonly sha256: string;
}

const PREFIX = "sn_";
const ID_BITS = 80n;
const SECRET_BITS = 256n;
const SALT_BITS = 128n;
/** Each token has one spelling: unused bits of the last character are zero. */
const FORM = /^sn_([0-9a-f]{20})_([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$/;
export const TOKEN_ID = /^[0-9a-f]{20}$/;
export const SALT_FORM = /^[0-9a-f]{32}$/;
export const SHA256_FORM = /^[0-9a-f]{64}$/;

export function drawToken(random: Random): BearerToken {
  return { id: drawTokenId(random), secret: drawSecret(random) };
}

export function drawTokenId(random: Random): string {
  return drawHex(random, ID_BITS);
}

export function drawSecret(random: Random): string {
  return encodeBase64UrlBytes(bytesOfHex(drawHex(random, SECRET_BITS)));
}

export function formatToken({ id, secret }: BearerToken): string {
  return `${PREFIX}${id}_${secret}`;
}

/** undefined: not exactly such a token. */
export function parseToken(text: string): BearerToken | undefined {
  const [, id, secret] = FORM.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** Whether a credential means to be one of this server's own tokens. No JWT begins so: its header is base64 of `{`. */
export function isOwnToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** With a fresh salt. */
export function hashSecret(secret: string, random: Random, digest: Digest): Promise<SecretHash> {
  return hashWith(secret, drawHex(random, SALT_BITS), digest);
}

/** The time that it takes says nothing about how much of the hash is right. */
export async function isSecretOf(hash: SecretHash, secret: string, digest: Digest): Promise<boolean> {
  const { sha256 } = await hashWith(secret, hash.salt, digest);
  return sameBytes(bytesOfHex(sha256), bytesOfHex(hash.sha256));
}

/** Compares every byte, whatever the first ones are. Lengths are no secret. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] ?? 0) ^ (b[i] ?? 0);
  return difference === 0;
}

async function hashWith(secret: string, salt: string, digest: Digest): Promise<SecretHash> {
  const salted = bytesOfHex(salt);
  const text = new TextEncoder().encode(secret);
  const bytes = new Uint8Array(salted.length + text.length);
  bytes.set(salted);
  bytes.set(text, salted.length);
  return { salt, sha256: await digest(bytes) };
}

function drawHex(random: Random, bits: bigint): string {
  return random
    .belowBig(1n << bits)
    .toString(16)
    .padStart(Number(bits) / 4, "0");
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}
