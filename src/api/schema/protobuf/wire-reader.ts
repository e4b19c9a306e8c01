/**
 * The protobuf wire format (protobuf.dev/programming-guides/encoding): varints, tags, lengths, skipping.
 *
 * A reader never throws. The first fault is kept in `failure`; after it every loop over `more` ends and every read
 * returns something harmless, so that callers check once, at the end.
 */

import { TOO_MANY_VALUES, VALUES_MAX } from "../decode-limits";

export const VARINT = 0;
export const DELIMITED = 2;
const FIXED64 = 1;
const FIXED32 = 5;
const GROUP_START = 3;
const GROUP_END = 4;

/** No API type uses groups; groups are skipped to this depth. */
const MAX_GROUP_DEPTH = 100;
/** Up to this length a loop over ASCII is cheaper than the call of the decoder. */
const SHORT_TEXT = 48;
const TRUNCATED = "unexpected EOF";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export class WireReader {
  failure: string | undefined;
  /** tags and packed items read so far */
  private values = 0;
  /** index of the next byte */
  at: number;
  /** the high half of the last varint; `varint` returns the low one */
  private high = 0;

  constructor(
    private readonly body: Uint8Array,
    start: number,
  ) {
    this.at = start;
  }

  get length(): number {
    return this.body.length;
  }

  /** Whether there is something to read before `end`. */
  more(end: number): boolean {
    if (this.failure !== undefined || this.at >= end) return false;
    if (++this.values <= VALUES_MAX) return true;
    this.fail(TOO_MANY_VALUES);
    return false;
  }

  /** States that a message ended where its length said. */
  closed(end: number): void {
    if (this.at !== end) this.fail(TRUNCATED);
  }

  fail(cause: string): undefined {
    this.failure ??= cause;
    return undefined;
  }

  tag(): { number: number; wire: number } {
    const tag = this.varint();
    const number = tag >>> 3;
    if (this.high !== 0 || number === 0) this.fail(`proto: illegal tag ${number} (wire type ${tag & 7})`);
    return { number, wire: tag & 7 };
  }

  /** Reads a length and returns the index at which its bytes end; the index lies within the body. */
  delimited(): number {
    const length = this.varint();
    const end = this.at + length;
    if (this.high === 0 && end <= this.body.length) return end;
    this.fail(TRUNCATED);
    return this.at;
  }

  bool(): boolean {
    const low = this.varint();
    return low !== 0 || this.high !== 0;
  }

  /** The low 32 bits, as Go does. */
  int32(): number {
    return this.varint() | 0;
  }

  /** Exact: a bigint beyond 2^53. */
  int64(): number | bigint {
    const low = this.varint();
    const value = (this.high | 0) * 4294967296 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(this.high | 0) << 32n) + BigInt(low);
  }

  /** The bytes up to `end`, not copied. */
  bytes(end: number): Uint8Array {
    const start = this.at;
    this.at = end;
    return this.body.subarray(start, end);
  }

  text(end: number): string {
    if (this.failure !== undefined) return "";
    const start = this.at;
    this.at = end;
    if (end - start <= SHORT_TEXT) {
      let text = "";
      let i = start;
      for (; i < end; i++) {
        const byte = this.body[i] ?? 0;
        if (byte >= 0x80) break;
        text += String.fromCharCode(byte);
      }
      if (i === end) return text;
    }
    try {
      return UTF8.decode(this.body.subarray(start, end));
    } catch {
      this.fail("string is not valid UTF-8");
      return "";
    }
  }

  /** Passes over one field of the given wire type. */
  skip(wire: number): void {
    let groups = 0;
    for (let current = wire; this.failure === undefined; current = this.tag().wire) {
      if (current === VARINT) this.varint();
      else if (current === FIXED64) this.advance(8);
      else if (current === DELIMITED) this.at = this.delimited();
      else if (current === FIXED32) this.advance(4);
      else if (current === GROUP_START) groups++;
      else if (current === GROUP_END && groups > 0) groups--;
      else this.fail(`proto: illegal wireType ${current}`);
      if (groups === 0) return;
      if (groups > MAX_GROUP_DEPTH) this.fail("exceeded max depth");
    }
  }

  private advance(count: number): void {
    this.at += count;
    if (this.at > this.body.length) this.fail(TRUNCATED);
  }

  /** Reads up to ten bytes; returns the low 32 bits, unsigned, and leaves the rest in `high`. */
  private varint(): number {
    let low = 0;
    this.high = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.body[this.at];
      if (byte === undefined || this.failure !== undefined) {
        this.fail(TRUNCATED);
        return 0;
      }
      this.at++;
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        this.high = bits >>> 4;
      } else if (shift < 63) this.high |= bits << (shift - 32);
      else this.high |= (bits & 1) << 31;
      if (byte < 0x80) return low >>> 0;
    }
    this.fail("proto: integer overflow");
    return 0;
  }
}
