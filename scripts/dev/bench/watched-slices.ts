/** What the suite about EndpointSlices shares: one client that watches all of them and keeps what it was told. */
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { EndpointSlice } from "../../../src/api/meta/kubernetes";
import { SLICES } from "./pods-behind-service";

const WAIT_MS_MAX = 120_000;

/** Writes of slices since somebody began to count. */
export interface SliceWrites {
  added: number;
  modified: number;
  deleted: number;
  /** of all their events, as JSON */
  bytes: number;
  /** of the largest event, as JSON and compressed alone */
  largest: { bytes: number; gzipped: number };
}

interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  object: EndpointSlice;
}

export class WatchedSlices {
  readonly #slices = new Map<string, EndpointSlice>();
  /** In how many slices an address stands as ready: while a Pod moves, in two. */
  readonly #ready = new Map<string, number>();
  readonly #end = new AbortController();
  #writes = none();
  #total = 0;
  #heard: (() => void)[] = [];
  #problem: Error | undefined;

  /** `service`: the only Service whose slices count */
  constructor(
    private readonly url: string,
    private readonly service: string,
  ) {}

  /** Opens the watch. Its end breaks the next wait. */
  async open(): Promise<void> {
    const selector = encodeURIComponent(`kubernetes.io/service-name=${this.service}`);
    const answer = await fetch(`${this.url}${SLICES}?watch=true&labelSelector=${selector}`, { signal: this.#end.signal });
    if (!answer.ok || !answer.body) throw new Error(`the watch was answered with ${String(answer.status)}`);
    void this.#read(answer.body).catch((error: unknown) => {
      this.#problem = error instanceof Error ? error : new Error(String(error));
      this.#tell();
    });
  }

  close(): void {
    this.#end.abort();
  }

  get slices(): readonly EndpointSlice[] {
    return [...this.#slices.values()];
  }

  /** Addresses of endpoints that are ready. */
  get ready(): Pick<ReadonlyMap<string, number>, "size"> {
    return this.#ready;
  }

  /** Resolves when no slice has been written for so long. */
  async quiet(ms: number): Promise<void> {
    for (let before = -1; before !== this.#total;) {
      before = this.#total;
      await sleep(ms);
    }
  }

  /** What was written since the last call. */
  takeWrites(): SliceWrites {
    const writes = this.#writes;
    this.#writes = none();
    return writes;
  }

  /** Resolves when what was heard satisfies the condition. */
  async until(condition: () => boolean): Promise<void> {
    const deadline = performance.now() + WAIT_MS_MAX;
    while (!condition()) {
      if (this.#problem) throw this.#problem;
      if (performance.now() > deadline) throw new Error(`the slices of ${this.service} did not become what they should`);
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, 1_000);
        this.#heard.push(() => {
          clearTimeout(late);
          resolve();
        });
      });
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const piece of body) {
      const lines = (text + decoder.decode(piece, { stream: true })).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") this.#take(line);
      this.#tell();
    }
    throw new Error("the watch of the slices ended");
  }

  #take(line: string): void {
    const { type, object } = JSON.parse(line) as WatchEvent;
    if (type === "BOOKMARK") return;
    const name = object.metadata?.name ?? "";
    this.#count(this.#slices.get(name), -1);
    if (type === "DELETED") this.#slices.delete(name);
    else {
      this.#slices.set(name, object);
      this.#count(object, 1);
    }
    const writes = this.#writes;
    const kind = { ADDED: "added", MODIFIED: "modified", DELETED: "deleted" } as const;
    writes[kind[type]]++;
    this.#total++;
    writes.bytes += line.length;
    if (line.length > writes.largest.bytes) writes.largest = { bytes: line.length, gzipped: gzipSync(line).length };
  }

  #count(slice: EndpointSlice | undefined, by: number): void {
    for (const { addresses, conditions } of slice?.endpoints ?? []) {
      const [address] = addresses;
      if (!conditions?.ready || address === undefined) continue;
      const slices = (this.#ready.get(address) ?? 0) + by;
      if (slices === 0) this.#ready.delete(address);
      else this.#ready.set(address, slices);
    }
  }

  #tell(): void {
    const heard = this.#heard;
    this.#heard = [];
    for (const one of heard) one();
  }
}

function none(): SliceWrites {
  return { added: 0, modified: 0, deleted: 0, bytes: 0, largest: { bytes: 0, gzipped: 0 } };
}
