/** One client that watches a collection and counts what comes: events by their type in JSON, or the bytes of protobuf as kube-proxy reads them. */
import { setTimeout as sleep } from "node:timers/promises";
import { linesOf } from "../../../src/api/client/body-lines";

export interface Counted {
  /** of a watch in JSON */
  events: number;
  bytes: number;
}

const ACCEPT = { json: "application/json", protobuf: "application/vnd.kubernetes.protobuf;stream=watch" } as const;

export class CountedWatch {
  readonly #end = new AbortController();
  #counted: Counted = { events: 0, bytes: 0 };
  #total = 0;
  #problem: Error | undefined;

  private constructor() {}

  /** `path` with its query. Only what comes after the opening counts. */
  static async open(url: string, path: string, form: keyof typeof ACCEPT): Promise<CountedWatch> {
    const watch = new CountedWatch();
    const answer = await fetch(url + path, { headers: { Accept: ACCEPT[form] }, signal: watch.#end.signal });
    if (!answer.ok || !answer.body) throw new Error(`the watch was answered with ${String(answer.status)}`);
    const body = answer.body;
    void (form === "json" ? watch.#readLines(body) : watch.#readBytes(body)).catch((error: unknown) => {
      watch.#problem = new Error("a counted watch ended", { cause: error });
    });
    return watch;
  }

  /** What came since the last call. */
  take(): Counted {
    if (this.#problem) throw this.#problem;
    const counted = this.#counted;
    this.#counted = { events: 0, bytes: 0 };
    return counted;
  }

  /** Resolves when nothing has come for so long. */
  async quiet(ms: number): Promise<void> {
    for (let before = -1; before !== this.#total;) {
      before = this.#total;
      await sleep(ms);
    }
  }

  close(): void {
    this.#end.abort();
  }

  async #readLines(body: ReadableStream<Uint8Array>): Promise<void> {
    for await (const lines of linesOf(body)) for (const line of lines) this.#count(line.length + 1, 1);
    throw new Error("its body is over");
  }

  async #readBytes(body: ReadableStream<Uint8Array>): Promise<void> {
    for await (const { length } of body) this.#count(length, 0);
    throw new Error("its body is over");
  }

  #count(bytes: number, events: number): void {
    this.#counted.bytes += bytes;
    this.#counted.events += events;
    this.#total += bytes;
  }
}
