/**
 * A set of texts in little memory: their UTF-8 bytes and some 14 more for each, where a Set of strings has about a hundred. Each text has a number while it
 * is in the set; numbers are small, and are given again. So what belongs to a text may stand in an array.
 */
import { assert } from "../base/assert";
import { grown } from "./grown";

const LENGTH_MAX = 0xfffe;
/** in a slot: a text stood here that is gone */
const GONE = 0xffffffff;
const SLOTS_MIN = 16;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

export class TextTable {
  /** the bytes of all texts, those that are gone included */
  #bytes = new Uint8Array(64);
  #bytesUsed = 0;
  #bytesGone = 0;
  /** by number: where the text begins, and its bytes + 1; 0 = there is no such text */
  #starts = new Uint32Array(SLOTS_MIN);
  #lengths = new Uint16Array(SLOTS_MIN);
  /** number + 1, by hash of the text */
  #slots = new Uint32Array(SLOTS_MIN);
  /** slots that are not free */
  #slotsUsed = 0;
  #end = 0;
  readonly #given: number[] = [];
  #scratch = new Uint8Array(256);

  get size(): number {
    return this.#end - this.#given.length;
  }

  has(text: string): boolean {
    return this.numberOf(text) !== undefined;
  }

  /** undefined = the text is not in the set */
  numberOf(text: string): number | undefined {
    const slot = this.#find(this.#encode(text));
    return slot === undefined ? undefined : (this.#slots[slot] ?? 0) - 1;
  }

  /** The text of a number that is in use. */
  textOf(number: number): string {
    const start = this.#starts[number] ?? 0;
    return decoder.decode(this.#bytes.subarray(start, start + this.#lengthOf(number)));
  }

  /** Answers the text's number; a text that is there keeps its own. */
  add(text: string): number {
    const bytes = this.#encode(text);
    const slot = this.#find(bytes);
    if (slot !== undefined) return (this.#slots[slot] ?? 0) - 1;
    assert(bytes.length <= LENGTH_MAX, "a text of a table is short");
    const number = this.#given.pop() ?? this.#end++;
    this.#starts = grown(this.#starts, number + 1);
    this.#lengths = grown(this.#lengths, number + 1);
    this.#bytes = grown(this.#bytes, this.#bytesUsed + bytes.length);
    this.#bytes.set(bytes, this.#bytesUsed);
    this.#starts[number] = this.#bytesUsed;
    this.#lengths[number] = bytes.length + 1;
    this.#bytesUsed += bytes.length;
    this.#slotsUsed++;
    if (3 * this.#slotsUsed > 2 * this.#slots.length) this.#makeSlots();
    else this.#slots[this.#freeSlot(hashOf(bytes))] = number + 1;
    return number;
  }

  /** Answers the number that the text had; undefined = it was not in the set. */
  delete(text: string): number | undefined {
    const slot = this.#find(this.#encode(text));
    if (slot === undefined) return undefined;
    const number = (this.#slots[slot] ?? 0) - 1;
    this.#slots[slot] = GONE;
    this.#bytesGone += this.#lengthOf(number);
    this.#lengths[number] = 0;
    this.#given.push(number);
    if (this.#bytesGone > 1024 && 2 * this.#bytesGone > this.#bytesUsed) this.#pack();
    return number;
  }

  clear(): void {
    this.#bytes = new Uint8Array(64);
    this.#bytesUsed = this.#bytesGone = this.#slotsUsed = this.#end = 0;
    this.#starts = new Uint32Array(SLOTS_MIN);
    this.#lengths = new Uint16Array(SLOTS_MIN);
    this.#slots = new Uint32Array(SLOTS_MIN);
    this.#given.length = 0;
  }

  /** In the order of their numbers. Texts may come and go between two steps: those that come may be passed over. */
  *texts(): IterableIterator<string> {
    for (let number = 0; number < this.#end; number++) if ((this.#lengths[number] ?? 0) > 0) yield this.textOf(number);
  }

  /** In bytes, without the text. */
  #lengthOf(number: number): number {
    return Math.max(0, (this.#lengths[number] ?? 0) - 1);
  }

  /** Valid until the next call. */
  #encode(text: string): Uint8Array {
    if (this.#scratch.length < 3 * text.length) this.#scratch = new Uint8Array(3 * text.length);
    const { written } = encoder.encodeInto(text, this.#scratch);
    return this.#scratch.subarray(0, written);
  }

  #find(bytes: Uint8Array): number | undefined {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(bytes) & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] ?? 0;
      if (found === 0) return undefined;
      if (found !== GONE && this.#isText(found - 1, bytes)) return slot;
    }
  }

  #isText(number: number, bytes: Uint8Array): boolean {
    if (this.#lengthOf(number) !== bytes.length) return false;
    const start = this.#starts[number] ?? 0;
    for (let i = 0; i < bytes.length; i++) if (this.#bytes[start + i] !== bytes[i]) return false;
    return true;
  }

  #freeSlot(hash: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  /** At most half of them are used then. */
  #makeSlots(): void {
    let length = SLOTS_MIN;
    while (length < 2 * this.size) length *= 2;
    this.#slots = new Uint32Array(length);
    this.#slotsUsed = this.size;
    for (let number = 0; number < this.#end; number++) {
      if (this.#lengths[number] === 0) continue;
      const start = this.#starts[number] ?? 0;
      this.#slots[this.#freeSlot(hashOf(this.#bytes.subarray(start, start + this.#lengthOf(number))))] = number + 1;
    }
  }

  /** Drops the bytes of texts that are gone. */
  #pack(): void {
    const bytes = new Uint8Array(Math.max(64, this.#bytesUsed - this.#bytesGone));
    let used = 0;
    for (let number = 0; number < this.#end; number++) {
      if (this.#lengths[number] === 0) continue;
      const start = this.#starts[number] ?? 0;
      const length = this.#lengthOf(number);
      bytes.set(this.#bytes.subarray(start, start + length), used);
      this.#starts[number] = used;
      used += length;
    }
    this.#bytes = bytes;
    this.#bytesUsed = used;
    this.#bytesGone = 0;
  }
}

/** 32 bits (FNV-1a). Source: draft-eastlake-fnv. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
