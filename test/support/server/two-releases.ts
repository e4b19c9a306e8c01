/**
 * Two releases in one runtime, each with its own code: Workers and objects of the one call objects of the other, as they do during a deployment and
 * after a rollback.
 */
import type { Readable } from "node:stream";
import { Log, LogLevel, Miniflare, type MiniflareOptions, type WorkerOptions } from "miniflare";
import { runCheck } from "../../../scripts/check/run";
import { Api } from "../../../scripts/cluster/api";
import { bundle } from "../../../scripts/serve/bundle";
import { readRuntimeConfig } from "../../../scripts/serve/runtime";
import { newAdmin } from "../../../scripts/token/new-admin";
import type { Body } from "../clients/api";
import { keptRelease } from "./kept-release";

/** `older` is the last release, `newer` the sources. */
export type Release = "older" | "newer";

/** The Worker that runs as `name`. */
export interface PlacedWorker {
  name: string;
  release: Release;
  /** The names of the Workers whose objects it calls and, where that is its own, has. By the binding. */
  placeOf(binding: string): string;
  /** the directory of its clusters */
  directory: string;
  /** A module in front of it, which imports it as `./worker.js`. */
  front?: string;
}

export interface Asked {
  body?: object;
  headers?: Record<string, string>;
}

export interface Answer {
  code: number;
  retryAfter: string | null;
  body: Body;
  text: string;
}

export class TwoReleases {
  /** what the Workers and objects logged */
  output = "";
  readonly #config = readRuntimeConfig("wrangler.toml", {});
  readonly #code: Record<Release, string> = { older: keptRelease().text, newer: bundle(this.#config).text };
  #runtime: Miniflare | undefined;
  #token = "";
  #hash = "";
  readonly #urls = new Map<string, string>();
  /** Each Worker is looked up once: a look-up blocks this thread until another one answers, and Miniflare can miss that answer. */
  #workers = new Map<string, Awaited<ReturnType<Miniflare["getWorker"]>>>();

  /** `folder`: of the data */
  constructor(private readonly folder: string) {}

  /** Runs these Workers in place of those that ran. The data stay. */
  async run(placed: readonly PlacedWorker[]): Promise<void> {
    if (this.#token === "") ({ token: this.#token, hash: this.#hash } = await newAdmin());
    const collect = (stream: Readable) => void stream.setEncoding("utf8").on("data", (chunk: string) => (this.output += chunk));
    const options: MiniflareOptions = {
      cf: false,
      log: new Log(LogLevel.ERROR),
      defaultPersistRoot: this.folder,
      handleRuntimeStdio: (stdout, stderr) => [stdout, stderr].forEach(collect),
      workers: placed.map((worker) => this.#optionsOf(worker)),
    };
    await this.#runtime?.dispose();
    this.#runtime = new Miniflare(options);
    await this.#runtime.ready;
    this.#urls.clear();
    this.#workers = new Map();
    for (const { name } of placed) {
      this.#urls.set(name, (await this.#runtime.unsafeGetDirectURL(name)).origin);
      this.#workers.set(name, await this.#runtime.getWorker(name));
    }
  }

  async end(): Promise<void> {
    await this.#runtime?.dispose();
  }

  /** One request of an administrator by the Worker of this name. */
  async ask(worker: string, method: string, path: string, { body, headers }: Asked = {}): Promise<Answer> {
    const response = await fetch(this.#urlOf(worker) + path, {
      method,
      headers: { ...this.#headers, ...headers, ...(body ? { "Content-Type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    const parsed = (text.startsWith("{") ? JSON.parse(text) : {}) as Body;
    return { code: response.status, retryAfter: response.headers.get("Retry-After"), text, body: parsed };
  }

  /** The response of a request, as it comes. */
  open(worker: string, path: string, signal: AbortSignal): Promise<Response> {
    return fetch(this.#urlOf(worker) + path, { headers: this.#headers, signal });
  }

  /** Fires a cron of this Worker. */
  async cron(worker: string, cron: string): Promise<string> {
    const result = await this.#workers.get(worker)?.scheduled({ cron });
    return result?.outcome ?? "none";
  }

  /** What a check of the cluster finds wrong, or could not look at. */
  async wrong(worker: string, cluster: string): Promise<unknown[]> {
    const api = new Api({ url: `${this.#urlOf(worker)}/clusters/${cluster}`, options: { headers: this.#headers } });
    const silent = { show: () => undefined, wait: () => undefined, clear: () => undefined };
    const { wrong, unchecked } = await runCheck({ api, progress: silent as unknown as Parameters<typeof runCheck>[0]["progress"] });
    return [...wrong, ...unchecked];
  }

  get #headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.#token}` };
  }

  #urlOf(worker: string): string {
    const url = this.#urls.get(worker);
    if (url === undefined) throw new Error(`no Worker ${worker} runs`);
    return url;
  }

  #optionsOf({ name, release, placeOf, directory, front }: PlacedWorker): WorkerOptions {
    const { worker } = this.#config;
    const objects = Object.entries(worker.durableObjects ?? {}).map(([binding, object]) => {
      const className = typeof object === "string" ? object : object.className;
      const place = placeOf(binding);
      return [binding, { className, useSQLite: true, ...(place === name ? {} : { scriptName: place }) }];
    });
    const code = { type: "ESModule" as const, path: front === undefined ? "index.js" : "worker.js", contents: this.#code[release] };
    return {
      ...worker,
      name,
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
      bindings: { ...worker.bindings, ADMIN_TOKEN_HASHES: this.#hash, IMPLICIT_CLUSTERS: "true", LOG_LEVEL: "info" },
      durableObjects: Object.fromEntries(objects) as WorkerOptions["durableObjects"],
      kvNamespaces: { DIRECTORY: directory },
      modules: front === undefined ? [code] : [{ type: "ESModule", path: "index.js", contents: front }, code],
    } as WorkerOptions;
  }
}
