/**
 * The protobuf wire format, written from its end to its beginning, as Go's encoder writes it. When the tag of a message is due, its length is
 * known: nothing is measured before and nothing is moved. So callers write the last field first, and each value before its tag.
 */
import { type Int64, nearestInt64 } from "../../../core/encoding/exact-json";

/** The first buffer: most objects fit. */
const FIRST_BYTES = 4 * 1024;
/** A larger buffer is given up after its use. */
const KEPT_BYTES = 1024 * 1024;
/** Up to this length a loop over ASCII is cheaper than the call of the encoder. */
const SHORT_TEXT = 48;

const UTF8 = new TextEncoder();

export class WireWriter {
  private bytes = new Uint8Array(FIRST_BYTES);
  /** index of the byte that was written last */
  private at = FIRST_BYTES;

  /** How many bytes are written. */
  get length(): number {
    return this.bytes.length - this.at;
  }

  /**
   * Integers of 64 bits; a negative one is sign-extended: ten bytes. One beyond 64 bits becomes the nearest. Also tags: number * 8 + wire type.
   */
  varint(value: Int64): void {
    if (typeof value === "bigint") return this.wide(BigInt(nearestInt64(value)));
    if (value >= 0 && value < 0x80) {
      if (this.at === 0) this.grow(1);
      this.bytes[--this.at] = value;
      return;
    }
    if (value < 0) return this.wide(BigInt(value));
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
    let next = this.reserve(size);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.bytes[next++] = (rest % 0x80) | 0x80;
    this.bytes[next] = rest;
  }

  /** The content of a text field, in UTF-8. */
  text(value: string): void {
    const { length } = value;
    const start = this.reserve(length);
    if (length > SHORT_TEXT) {
      const { read, written } = UTF8.encodeInto(value, this.bytes.subarray(start, start + length));
      if (read === length && written === length) return;
    } else {
      let i = 0;
      for (; i < length; i++) {
        const code = value.charCodeAt(i);
        if (code >= 0x80) break;
        this.bytes[start + i] = code;
      }
      if (i === length) return;
    }
    this.at += length;
    this.raw(UTF8.encode(value));
  }

  raw(bytes: Uint8Array): void {
    const start = this.reserve(bytes.length);
    this.bytes.set(bytes, start);
  }

  /** Length and tag of what was written since `length` was `from`. */
  close(tag: number, from: number): void {
    this.varint(this.length - from);
    this.varint(tag);
  }

  /** A whole text field. */
  textField(tag: number, value: string): void {
    const from = this.length;
    if (value !== "") this.text(value);
    this.close(tag, from);
  }

  /** A copy of what was written since `length` was `from`. */
  since(from: number): Uint8Array<ArrayBuffer> {
    return this.bytes.slice(this.at, this.bytes.length - from);
  }

  /** What was written; the writer is empty then. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.bytes.slice(this.at);
    this.clear();
    return taken;
  }

  /** Forgets what was written, for example before an error. */
  clear(): void {
    if (this.bytes.length > KEPT_BYTES) this.bytes = new Uint8Array(FIRST_BYTES);
    this.at = this.bytes.length;
  }

  private wide(value: bigint): void {
    let rest = BigInt.asUintN(64, value);
    let size = 1;
    for (let more = rest; more > 127n; more >>= 7n) size++;
    let next = this.reserve(size);
    for (; rest > 127n; rest >>= 7n) this.bytes[next++] = Number(rest & 127n) | 0x80;
    this.bytes[next] = Number(rest);
  }

  /** Room for `size` bytes; returns the index of the first. */
  private reserve(size: number): number {
    if (size > this.at) this.grow(size);
    return (this.at -= size);
  }

  private grow(size: number): void {
    const { length } = this;
    const larger = new Uint8Array(Math.max(this.bytes.length * 2, length + size));
    larger.set(this.bytes.subarray(this.at), larger.length - length);
    this.bytes = larger;
    this.at = larger.length - length;
  }
}
