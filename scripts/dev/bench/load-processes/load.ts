/**
 * A lean HTTP/1.1 load generator: raw sockets, keep-alive, one request in flight per connection, answers split by Content-Length or chunks. It
 * shares the machine with the measured server, so it does little more than needed. Run it as a process of its own (*-load-process.ts).
 */
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import type { Target } from "../../../cluster/target";
import { open, RESTING_MS_MAX } from "../connection";

/** The load of this process, which its parent writes to stdin: arguments are for everybody to read, and it may hold a token. */
export function givenLoad<T>(): T {
  return JSON.parse(readFileSync(0, "utf8")) as T;
}

export interface Load {
  target: Target;
  connections: number;
  count: number;
  /** requests per second at most; absent = each connection sends as soon as it has its answer */
  perSecond?: number | undefined;
  /** the i-th request, whole */
  requestOf(i: number): string;
  /** checks the i-th answer; throws when it is wrong */
  onAnswer(i: number, status: number, body: string): void;
}

export interface LoadResult {
  /** from the first byte sent to the last answer, in milliseconds */
  elapsedMs: number;
  /** of each request, in the order of completion, in milliseconds: since it was sent, or with a rate since it was due */
  latenciesMs: Float64Array;
}

/**
 * Sends `count` requests over `connections` connections, all open before the clock starts. One that rested for too long is opened anew when its next
 * request is due. Rejects at the first wrong answer, and when a connection ends before its answer.
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const sockets = new Set(await Promise.all(Array.from({ length: load.connections }, () => open(load.target))));
  const latenciesMs = new Float64Array(load.count);
  let next = 0;
  let done = 0;
  const startedAt = performance.now();
  await new Promise<void>((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    for (const opened of [...sockets]) {
      let socket = opened;
      let current = -1;
      let since = 0;
      let restsSince = startedAt;
      let isAnswerDue = false;
      const reader = new AnswerReader();
      const send = () => {
        isAnswerDue = true;
        socket.write(load.requestOf(current), "latin1");
      };
      const sendNext = () => {
        if (socket.writable && performance.now() - restsSince <= RESTING_MS_MAX) {
          send();
          return;
        }
        sockets.delete(socket.destroy());
        open(load.target).then((reopened) => {
          sockets.add(reopened);
          listenTo(reopened);
          send();
        }, fail);
      };
      const advance = () => {
        if (next >= load.count) return;
        current = next++;
        const now = performance.now();
        since = load.perSecond === undefined ? now : startedAt + (current * 1_000) / load.perSecond;
        if (since > now) setTimeout(sendNext, since - now);
        else sendNext();
      };
      const listenTo = (to: Socket) => {
        socket = to;
        to.on("error", (error) => {
          if (isAnswerDue && socket === to) fail(error);
        });
        to.on("close", () => {
          if (isAnswerDue && socket === to) fail(new Error("the server closed a connection before its answer"));
        });
        to.on("data", (chunk) => {
          try {
            if (!reader.push(chunk)) return;
            isAnswerDue = false;
            restsSince = performance.now();
            latenciesMs[done++] = restsSince - since;
            load.onAnswer(current, reader.status, reader.body);
            reader.reset();
            if (done === load.count) resolve();
            else advance();
          } catch (error) {
            fail(error);
          }
        });
      };
      listenTo(opened);
      advance();
    }
  }).finally(() => {
    for (const socket of sockets) socket.removeAllListeners("close").destroy();
  });
  return { elapsedMs: performance.now() - startedAt, latenciesMs };
}

/** Collects one answer from pieces of a connection. */
export class AnswerReader {
  status = 0;
  body = "";
  #text = "";
  #bodyAt = -1;
  #length = -1;

  reset(): void {
    this.#text = "";
    this.#bodyAt = -1;
    this.#length = -1;
  }

  /** Takes a piece; true when the answer is whole (status and body are set then). Counts bytes as latin1 characters. */
  push(chunk: Buffer): boolean {
    this.#text += chunk.toString("latin1");
    if (this.#bodyAt < 0) {
      const end = this.#text.indexOf("\r\n\r\n");
      if (end < 0) return false;
      this.#bodyAt = end + 4;
      this.status = Number(this.#text.slice(9, 12));
      const length = /\r\ncontent-length: (\d+)/i.exec(this.#text.slice(0, this.#bodyAt));
      this.#length = length ? Number(length[1]) : -1;
    }
    if (this.#length >= 0) {
      if (this.#text.length < this.#bodyAt + this.#length) return false;
      this.body = this.#text.slice(this.#bodyAt, this.#bodyAt + this.#length);
      return true;
    }
    if (!this.#text.endsWith("0\r\n\r\n")) return false;
    this.body = this.#unchunked();
    return true;
  }

  #unchunked(): string {
    let body = "";
    for (let at = this.#bodyAt; ;) {
      const lineEnd = this.#text.indexOf("\r\n", at);
      const size = parseInt(this.#text.slice(at, lineEnd), 16);
      if (!(size > 0)) return body;
      body += this.#text.slice(lineEnd + 2, lineEnd + 2 + size);
      at = lineEnd + 2 + size + 2;
    }
  }
}
