/** A WebSocket client byte by byte, which may break the protocol. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";

const HANDSHAKE: Readonly<Record<string, string>> = {
  Host: "localhost",
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
};

export interface FrameOptions {
  masked?: boolean;
  final?: boolean;
  reserved?: number;
}

/** One frame of RFC 6455. */
export function frame(opcode: number, payload: Uint8Array, { masked = true, final = true, reserved = 0 }: FrameOptions = {}): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = (final ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (masked ? 0x80 : 0) | (length < 126 ? length : length < 65_536 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  if (!masked) return Buffer.concat([head, payload]);
  const mask = [0x12, 0x34, 0x56, 0x78];
  return Buffer.concat([head, Buffer.from(mask), payload.map((byte, at) => byte ^ (mask[at & 3] ?? 0))]);
}

/** The connection after its request; answers are read as they come. */
export class RawSocket {
  #received = Buffer.alloc(0);
  #over = false;

  private constructor(private readonly socket: Socket) {
    socket.on("data", (chunk) => (this.#received = Buffer.concat([this.#received, chunk])));
    // A reset ends the connection, too.
    socket.on("error", () => undefined);
    for (const event of ["end", "close"] as const) socket.on(event, () => (this.#over = true));
  }

  /** Connects and sends the handshake; `headers` replace those of a valid one, undefined leaves one out. */
  static async open(
    url: string,
    path: string,
    headers: Readonly<Record<string, string | undefined>> = {},
    method = "GET",
  ): Promise<RawSocket> {
    const { hostname, port, pathname } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    const lines = Object.entries({ ...HANDSHAKE, ...headers }).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${value}`],
    );
    socket.write(`${[`${method} ${pathname.replace(/\/$/, "")}${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`);
    return new RawSocket(socket);
  }

  /** the connection has ended */
  get over(): boolean {
    return this.#over;
  }

  /** code of the answer; 0 = none yet */
  get status(): number {
    return Number(/^HTTP\/1\.1 (\d+)/.exec(this.#received.toString("latin1"))?.[1] ?? 0);
  }

  /** headers of the answer as they stand */
  get head(): string {
    return this.#received.toString("latin1").split("\r\n\r\n", 1)[0] ?? "";
  }

  /** the bytes behind the headers */
  get body(): Buffer {
    const end = this.#received.indexOf("\r\n\r\n");
    return end < 0 ? Buffer.alloc(0) : this.#received.subarray(end + 4);
  }

  /** the server's whole frames so far */
  get frames(): { opcode: number; payload: Buffer }[] {
    const frames = [];
    for (let rest = this.body; rest.length >= 2;) {
      const short = (rest[1] ?? 0) & 0x7f;
      const at = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (rest.length < at) break;
      const length = short === 126 ? rest.readUInt16BE(2) : short === 127 ? Number(rest.readBigUInt64BE(2)) : short;
      if (rest.length < at + length) break;
      frames.push({ opcode: (rest[0] ?? 0) & 0x0f, payload: rest.subarray(at, at + length) });
      rest = rest.subarray(at + length);
    }
    return frames;
  }

  /** code of the server's close frame: undefined = none came, 0 = one without a code */
  get closeCode(): number | undefined {
    const close = this.frames.find(({ opcode }) => opcode === 8);
    return close && (close.payload.length >= 2 ? close.payload.readUInt16BE(0) : 0);
  }

  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Ends the connection without a close frame. */
  destroy(): void {
    this.socket.destroy();
  }
}
