/**
 * Stored form of a page, version 1 (numbers little-endian):
 *
 *     0      version
 *     1      kind: 0 bits, 1 full, 2 list
 *     2..3   number of taken indices, modulo 2^16
 *     4..7   checksum of the header's first four bytes and of the payload (FNV-1a over 32-bit words; a list goes in as its indices)
 *     8..    bits: 128 words; full: nothing; list: ascending indices of 2 bytes
 */
import { err, ok, type Result } from "../base/result";
import { LIST_LENGTH_MAX, Page, PAGE_BITS, PAGE_WORDS, type PageContent } from "./page";

export type CodecError = "version" | "kind" | "length" | "order" | "count" | "checksum";

const VERSION = 1;
const KINDS = ["bits", "full", "list"] as const;
const HEADER_BYTES = 8;

export function encodePage(page: Page): Uint8Array {
  const content = page.content;
  const payload = content.kind === "bits" ? PAGE_WORDS * 4 : content.kind === "list" ? content.indices.length * 2 : 0;
  const bytes = new Uint8Array(HEADER_BYTES + payload);
  const view = new DataView(bytes.buffer);
  bytes[0] = VERSION;
  bytes[1] = KINDS.indexOf(content.kind);
  view.setUint16(2, page.count, true);
  view.setUint32(4, checksum(view.getUint32(0, true), content), true);
  if (content.kind === "bits") content.words.forEach((word, i) => view.setUint32(HEADER_BYTES + i * 4, word, true));
  if (content.kind === "list") content.indices.forEach((index, i) => view.setUint16(HEADER_BYTES + i * 2, index, true));
  return bytes;
}

/** Refuses bytes that `encodePage` would not have written; the owner then rebuilds the page from its rows. */
export function decodePage(bytes: Uint8Array): Result<Page, CodecError> {
  if (bytes.length < HEADER_BYTES) return err("length");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint8(0) !== VERSION) return err("version");
  const kind = KINDS[view.getUint8(1)];
  if (kind === undefined) return err("kind");
  const content = readPayload(kind, view);
  if (!content.ok) return content;
  if (view.getUint32(4, true) !== checksum(view.getUint32(0, true), content.value)) return err("checksum");
  const page = Page.of(content.value);
  return page.count === view.getUint16(2, true) ? ok(page) : err("count");
}

function readPayload(kind: PageContent["kind"], view: DataView): Result<PageContent, CodecError> {
  const length = view.byteLength - HEADER_BYTES;
  if (kind === "full") return length === 0 ? ok({ kind }) : err("length");
  if (kind === "bits") {
    if (length !== PAGE_WORDS * 4) return err("length");
    const words = new Uint32Array(PAGE_WORDS);
    for (let i = 0; i < PAGE_WORDS; i++) words[i] = view.getUint32(HEADER_BYTES + i * 4, true);
    return ok({ kind, words });
  }
  if (length % 2 !== 0 || length > LIST_LENGTH_MAX * 2) return err("length");
  const indices: number[] = [];
  for (let i = 0; i < length / 2; i++) {
    const index = view.getUint16(HEADER_BYTES + i * 2, true);
    if (index >= PAGE_BITS || index <= (indices.at(-1) ?? -1)) return err("order");
    indices.push(index);
  }
  return ok({ kind, indices });
}

function checksum(header: number, content: PageContent): number {
  let hash = mix(0x811c9dc5, header);
  if (content.kind === "bits") for (const word of content.words) hash = mix(hash, word);
  if (content.kind === "list") for (const index of content.indices) hash = mix(hash, index);
  return hash >>> 0;
}

function mix(hash: number, word: number): number {
  return Math.imul(hash ^ word, 0x01000193);
}
