/** An HTTP/1.1 client on one connection, byte by byte, for the fate of the connection after an answer. */
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { open } from "../../../scripts/dev/bench/connection";

export interface RawRequest {
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: Body;
}

export interface Body {
  bytes: Uint8Array;
  /** how the length is announced */
  framing: "announced" | "chunked";
  /** the number of pieces, and the pause before each */
  pieces?: number;
  pauseMs?: number;
}

export interface RawAnswer {
  code: number;
  /** names in lower case */
  headers: ReadonlyMap<string, string>;
  text: string;
}

export class KeptConnection {
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => undefined;

  private constructor(private readonly socket: Socket) {
    socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    // A reset is an end, too.
    socket.on("error", () => undefined);
    for (const event of ["end", "close"] as const) {
      socket.on(event, () => {
        this.#ended = true;
        this.#wake();
      });
    }
  }

  /** `ca`: of a server with HTTPS */
  static async open(url: string, ca?: string): Promise<KeptConnection> {
    return new KeptConnection(await open({ url, options: ca === undefined ? {} : { ca } }));
  }

  /** the server has closed the connection */
  get ended(): boolean {
    return this.#ended;
  }

  /** Sends the whole request, reads meanwhile, and answers the first response. Throws where the connection ends before. */
  async send({ method, path, headers = {}, body }: RawRequest): Promise<RawAnswer> {
    const framing = !body
      ? {}
      : body.framing === "chunked"
        ? { "Transfer-Encoding": "chunked" }
        : { "Content-Length": String(body.bytes.length) };
    const lines = Object.entries({ Host: "localhost", ...headers, ...framing }).map(([name, value]) => `${name}: ${value}`);
    this.socket.write(`${[`${method} ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`);
    if (body) await this.#sendBody(body);
    return this.#answer();
  }

  close(): void {
    this.socket.destroy();
  }

  async #sendBody({ bytes, framing, pieces = 1, pauseMs = 0 }: Body): Promise<void> {
    for (let piece = 0; piece < pieces; piece++) {
      if (pauseMs > 0) await sleep(pauseMs);
      if (this.socket.destroyed) return;
      const part = bytes.subarray((piece * bytes.length) / pieces, ((piece + 1) * bytes.length) / pieces);
      if (framing === "announced") this.socket.write(part);
      else if (part.length > 0)
        this.socket.write(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]));
    }
    if (framing === "chunked") this.socket.write("0\r\n\r\n");
  }

  async #answer(): Promise<RawAnswer> {
    const head = await this.#take((received) => {
      const end = received.indexOf("\r\n\r\n");
      return end < 0 ? undefined : end + 4;
    });
    const [status = "", ...lines] = head.toString("latin1").trimEnd().split("\r\n");
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const length = headers.get("content-length");
    if (length === undefined) throw new Error(`the answer does not tell its length: ${head.toString("latin1")}`);
    const text = (await this.#take(({ length: received }) => (received >= Number(length) ? Number(length) : undefined))).toString();
    return { code: Number(status.split(" ")[1]), headers, text };
  }

  /** The first bytes received: as many as `until` wants, once they are there. */
  async #take(until: (received: Buffer) => number | undefined): Promise<Buffer> {
    for (;;) {
      const length = until(this.#received);
      if (length !== undefined) {
        const taken = this.#received.subarray(0, length);
        this.#received = this.#received.subarray(length);
        return taken;
      }
      if (this.#ended) throw new Error(`the connection ended after ${this.#received.toString("latin1") || "nothing"}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
