/** The part of DER (ITU-T X.690) that a certificate needs. Each function answers the whole encoding of one value. */

/** one value, with its tag and its length */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export const sequence = (...content: readonly Uint8Array[]): Buffer => der(0x30, ...content);
export const setOf = (value: Uint8Array): Buffer => der(0x31, value);
export const isTrue = (): Buffer => der(0x01, Buffer.from([0xff]));
export const octets = (bytes: Uint8Array): Buffer => der(0x04, bytes);
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text));
/** whole bytes, of which the last has `unused` zero bits at its end */
export const bits = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes);
/** a value in place of its tag: `[number]` IMPLICIT of a primitive */
export const tagged = (number: number, bytes: Uint8Array): Buffer => der(0x80 | number, bytes);
/** `[number]` around values */
export const explicit = (number: number, ...content: readonly Uint8Array[]): Buffer => der(0xa0 | number, ...content);

/** A number of these bytes, which is not negative. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.from([0]) : bytes.subarray(first);
  return (digits[0] ?? 0) >= 0x80 ? der(0x02, Buffer.from([0]), digits) : der(0x02, digits);
}

/** An object identifier in dots. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(number: number): number[] {
  const bytes = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(0x80 | (rest % 128));
  return bytes;
}

/** A moment, in whole seconds. RFC 5280 4.1.2.5: two digits of the year before 2050, four from then on. */
export function time(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  return Number(text.slice(0, 4)) < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}
