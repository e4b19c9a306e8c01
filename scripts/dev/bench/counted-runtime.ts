/** What requests cost in the runtime itself: rows and bytes of values that the platform counts as written, and calls of objects. */
import { resolve } from "node:path";
import { Log, LogLevel, Miniflare, type WorkerOptions } from "miniflare";
import { bundle } from "../../serve/bundle";
import { readRuntimeConfig } from "../../serve/runtime";

export interface Cost {
  rows: number;
  /** of the values in these rows */
  bytes: number;
  /** of objects, those that happen behind an answer included as far as they have begun */
  calls: number;
}

/** Answers the JSON of the answer; throws unless the request succeeds. */
export type Send = <T = unknown>(method: string, path: string, body?: object) => Promise<T>;

/** A Worker of its own that counts (test/support/objects/counted-writes-worker.ts). */
export class CountedRuntime {
  readonly #runtime: Miniflare;

  private constructor(runtime: Miniflare) {
    this.#runtime = runtime;
  }

  /** Runs `body` with an empty cluster. */
  static async with<T>(body: (runtime: CountedRuntime) => Promise<T>): Promise<T> {
    const config = readRuntimeConfig("wrangler.toml", { AUTHORIZATION_MODE: "AlwaysAllow" });
    const contents = bundle({ ...config, main: resolve("test/support/objects/counted-writes-worker.ts") }).text;
    const runtime = new Miniflare({
      cf: false,
      log: new Log(LogLevel.ERROR),
      workers: [{ ...config.worker, name: config.name, modules: [{ type: "ESModule", path: "index.js", contents }] } as WorkerOptions],
    });
    try {
      return await body(new CountedRuntime(runtime));
    } finally {
      await runtime.dispose();
    }
  }

  readonly send: Send = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const init = body ? { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } } : { method };
    const answer = await this.#runtime.dispatchFetch(`http://bench${path}`, init);
    if (!answer.ok) throw new Error(`${method} ${path}: ${String(answer.status)} ${await answer.text()}`);
    return (await answer.json()) as T;
  };

  /** The cost of one of `times` calls of `work`, one after the other. */
  readonly costOf = async (times: number, work: () => Promise<unknown>): Promise<Cost> => {
    const before = await this.send<Cost>("GET", "/counted");
    for (let i = 0; i < times; i++) await work();
    const after = await this.send<Cost>("GET", "/counted");
    const each = (of: keyof Cost): number => (after[of] - before[of]) / times;
    return { rows: each("rows"), bytes: each("bytes"), calls: each("calls") };
  };
}
