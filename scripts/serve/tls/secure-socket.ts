/**
 * HTTPS on a socket of workerd. workerd serves TLS itself, but Miniflare has no option for it on a direct socket, and anything else in front of the
 * direct socket would be one more hop for each byte. So the socket becomes an HTTPS socket in the configuration that Miniflare hands to workerd: a
 * Cap'n Proto message (capnproto.org/encoding.html) of the schema src/workerd/server/workerd.capnp. Places of fields never change there.
 */

export interface KeyPair {
  /** PEM */
  key: string;
  /** PEM; the server's own first */
  certificates: string;
}

const WORD = 8;
/** kinds of pointers: their lowest two bits */
const STRUCT = 0;
const LIST = 1;
const FAR = 2;
/** sizes of the elements of lists */
const BYTES = 2;
const STRUCTS = 7;

/** pointers of Config, Socket */
const CONFIG_SOCKETS = 1;
const SOCKET_NAME = 0;
const SOCKET_TLS_OPTIONS = 3;
/** the value of Socket's union, in its first 16 bits: `https` has the options of `http` at the same place */
const SOCKET_IS_HTTPS = 1;

/** A place in a message. */
interface Place {
  segment: number;
  /** in bytes */
  at: number;
}

interface StructPlace extends Place {
  /** bytes of data before the pointers */
  data: number;
  pointers: number;
}

/** The configuration with HTTPS on the socket of that name. Throws where it has none. */
export function withSecureSocket(config: Uint8Array, socketName: string, pair: KeyPair): Buffer {
  const segments = segmentsOf(Buffer.from(config));
  const socket = socketsOf(segments).find((place) => textAt(segments, pointerOf(place, SOCKET_NAME)) === socketName);
  if (!socket) throw new Error(`the configuration of workerd has no socket ${socketName}`);
  const { segment, at } = pointerOf(socket, SOCKET_TLS_OPTIONS);
  bufferOf(segments, socket.segment).writeUInt16LE(SOCKET_IS_HTTPS, socket.at);
  // The new segment begins with the landing pad of the far pointer.
  bufferOf(segments, segment).writeUInt32LE(FAR, at);
  bufferOf(segments, segment).writeUInt32LE(segments.length, at + 4);
  return messageOf([...segments, tlsOptions(pair)]);
}

/** A segment with a pointer to TlsOptions, and all that these have: `keypair` is their first pointer, and of it `privateKey` and `certificateChain`. */
function tlsOptions({ key, certificates }: KeyPair): Buffer {
  const texts = [key, certificates].map((text) => Buffer.from(`${text}\0`));
  const structs = Buffer.alloc(4 * WORD);
  writeStruct(structs, 0, 1);
  writeStruct(structs, WORD, 2);
  let end = structs.length;
  for (const [index, { length }] of texts.entries()) {
    const at = (2 + index) * WORD;
    structs.writeInt32LE(((end - at - WORD) / WORD) * 4 + LIST, at);
    structs.writeUInt32LE(length * 8 + BYTES, at + 4);
    end += wholeWords(length);
  }
  return Buffer.concat([structs, ...texts.map((text) => Buffer.concat([text], wholeWords(text.length)))]);
}

/** A pointer to a struct right behind it that has pointers alone. */
function writeStruct(bytes: Buffer, at: number, pointers: number): void {
  bytes.writeUInt32LE(STRUCT, at);
  bytes.writeUInt16LE(pointers, at + 6);
}

function segmentsOf(message: Buffer): Buffer[] {
  const count = message.readUInt32LE(0) + 1;
  let end = wholeWords(4 * (count + 1));
  return Array.from({ length: count }, (_, index) => {
    const begin = end;
    end += message.readUInt32LE(4 * (index + 1)) * WORD;
    return message.subarray(begin, end);
  });
}

function messageOf(segments: readonly Buffer[]): Buffer {
  const table = Buffer.alloc(wholeWords(4 * (segments.length + 1)));
  table.writeUInt32LE(segments.length - 1, 0);
  for (const [index, { length }] of segments.entries()) table.writeUInt32LE(length / WORD, 4 * (index + 1));
  return Buffer.concat([table, ...segments]);
}

function socketsOf(segments: readonly Buffer[]): StructPlace[] {
  const root = contentOf(segments, { segment: 0, at: 0 });
  const config = structOf(root.high, root.content);
  const { kind, high, content } = contentOf(segments, pointerOf(config, CONFIG_SOCKETS));
  if (kind !== LIST || (high & 7) !== STRUCTS) throw new Error("the configuration of workerd has no list of sockets");
  const bytes = bufferOf(segments, content.segment);
  // A word says how many there are, and the size of each.
  const count = bytes.readUInt32LE(content.at) >>> 2;
  const size = bytes.readUInt32LE(content.at + 4);
  const first = structOf(size, { ...content, at: content.at + WORD });
  return Array.from({ length: count }, (_, index) => ({ ...first, at: first.at + index * (first.data + first.pointers * WORD) }));
}

/** `size`: the upper half of a pointer to the struct */
function structOf(size: number, place: Place): StructPlace {
  return { ...place, data: (size & 0xffff) * WORD, pointers: size >>> 16 };
}

function pointerOf({ segment, at, data, pointers }: StructPlace, index: number): Place {
  if (index >= pointers) throw new Error("the configuration of workerd is of another schema");
  return { segment, at: at + data + index * WORD };
}

function textAt(segments: readonly Buffer[], pointer: Place): string {
  const { high, content } = contentOf(segments, pointer);
  return bufferOf(segments, content.segment).toString("utf8", content.at, content.at + Math.max(0, (high >>> 3) - 1));
}

/** What a pointer points to, also by a landing pad in another segment. */
function contentOf(segments: readonly Buffer[], { segment, at }: Place): { kind: number; high: number; content: Place } {
  const bytes = bufferOf(segments, segment);
  const low = bytes.readInt32LE(at);
  const high = bytes.readUInt32LE(at + 4);
  if ((low & 3) !== FAR) return { kind: low & 3, high, content: { segment, at: at + WORD + (low >> 2) * WORD } };
  const pad: Place = { segment: high, at: (low >>> 3) * WORD };
  if ((low & 4) === 0) return contentOf(segments, pad);
  // A pad of two words: where the content is, and what it is.
  const there = bufferOf(segments, pad.segment);
  const content = { segment: there.readUInt32LE(pad.at + 4), at: (there.readUInt32LE(pad.at) >>> 3) * WORD };
  return { kind: there.readUInt32LE(pad.at + WORD) & 3, high: there.readUInt32LE(pad.at + WORD + 4), content };
}

function bufferOf(segments: readonly Buffer[], index: number): Buffer {
  const segment = segments[index];
  if (!segment) throw new Error("the configuration of workerd is cut short");
  return segment;
}

function wholeWords(bytes: number): number {
  return Math.ceil(bytes / WORD) * WORD;
}
