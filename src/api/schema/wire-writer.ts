/** Protobuf's wire format, written: tags, varints and length-delimited fields at the end of a list of bytes. */
import { DELIMITED } from "./wire-reader";

export function tag(number: number, wire: number): bigint {
  return BigInt(number * 8 + wire);
}

/** A length-delimited field: text, bytes, a message. */
export function delimited(out: number[], number: number, bytes: Iterable<number> & { length: number }): void {
  varint(out, tag(number, DELIMITED));
  varint(out, BigInt(bytes.length));
  for (const byte of bytes) out.push(byte);
}

/** Negative numbers are sign-extended to 64 bits: ten bytes. */
export function varint(out: number[], value: bigint): void {
  let rest = BigInt.asUintN(64, value);
  while (rest > 127n) {
    out.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  out.push(Number(rest));
}
