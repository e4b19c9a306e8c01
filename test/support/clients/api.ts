/** Requests to a started server, for tests of the wire. */
import type { KubeObject, ObjectMeta } from "../../../src/api/meta/kubernetes";
import { PROTOBUF, readAnswer } from "../values/protobuf-answers";
import { eventsOf } from "./watch-events";

/** Any answer: an object, a list, a Status or a Table. */
export interface Body extends KubeObject {
  metadata?: ObjectMeta & { continue?: string; remainingItemCount?: number };
  items?: Body[];
  spec?: Record<string, unknown>;
  status?: unknown;
  message?: string;
  reason?: string;
  code?: number;
  details?: Record<string, unknown>;
  [member: string]: unknown;
}

export interface Answer {
  code: number;
  body: Body;
  headers: Headers;
  text: string;
}

export interface Sent {
  body?: unknown;
  query?: Record<string, string>;
  headers?: Record<string, string>;
}

export type WatchEvent = { type: string; object: Body };

export const JSON_PATCH = "application/json-patch+json";
export const MERGE_PATCH = "application/merge-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";
export const STRATEGIC_PATCH = "application/strategic-merge-patch+json";

export class Api {
  /** `url` is asked for at each request: the server may have been started again. `headers` go with each */
  constructor(
    readonly url: () => string,
    private readonly headers: Record<string, string> = {},
  ) {}

  /** Strings and bytes go out as they are, everything else as JSON. */
  async send(method: string, path: string, { body, query = {}, headers = {} }: Sent = {}): Promise<Answer> {
    const raw = typeof body === "string" || body instanceof Uint8Array;
    const response = await fetch(this.#address(path, query), {
      method,
      headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...this.headers, ...headers },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const { status: code, headers: answered } = response;
    const type = answered.get("content-type");
    if (type === PROTOBUF) {
      const body = (await readAnswer(response)) as Body;
      return { code, body, headers: answered, text: JSON.stringify(body) };
    }
    const text = await response.text();
    return { code, body: (type?.includes("json") ? JSON.parse(text) : {}) as Body, headers: answered, text };
  }

  get(path: string, query: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send("GET", path, { query, headers });
  }

  patch(path: string, type: string, body: unknown, query: Record<string, string> = {}): Promise<Answer> {
    return this.send("PATCH", path, { body, query, headers: { "Content-Type": type } });
  }

  /** A request that must succeed; throws with the answer otherwise. */
  async must(method: string, path: string, sent: Sent = {}): Promise<Body> {
    const answer = await this.send(method, path, sent);
    if (answer.code >= 300) throw new Error(`${method} ${path}: ${String(answer.code)} ${answer.text.slice(0, 1000)}`);
    return answer.body;
  }

  /** Deletes an object and waits until it is gone. */
  async remove(path: string): Promise<void> {
    await this.must("DELETE", path);
    await this.until(async () => (await this.get(path)).code === 404, `${path} is gone`);
  }

  /** Asks again until the answer is true; throws after `seconds`. */
  async until(holds: () => Promise<boolean>, what: string, seconds = 30): Promise<void> {
    const deadline = Date.now() + seconds * 1000;
    while (!(await holds())) {
      if (Date.now() > deadline) throw new Error(`not within ${String(seconds)} s: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Opens a watch; resolves with the server's answer: the watch has every later write. */
  async watch(path: string, query: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<Watching> {
    const abort = new AbortController();
    const response = await fetch(this.#address(path, { watch: "true", timeoutSeconds: "30", ...query }), {
      headers: { ...this.headers, ...headers },
      signal: abort.signal,
    });
    if (response.status !== 200 || !response.body) throw new Error(`watch ${path}: ${String(response.status)} ${await response.text()}`);
    return new Watching(response, abort);
  }

  #address(path: string, query: Record<string, string>): string {
    const search = new URLSearchParams(query).toString();
    return `${this.url()}${path}${search ? `?${search}` : ""}`;
  }
}

class Watching {
  /** the media type of the stream */
  readonly type: string | null;
  readonly #events: AsyncGenerator<WatchEvent>;
  readonly #abort: AbortController;

  constructor(response: Response, abort: AbortController) {
    this.type = response.headers.get("Content-Type");
    this.#events = eventsOf(response);
    this.#abort = abort;
  }

  /** The next event; undefined at a clean end of the watch. */
  async next(): Promise<WatchEvent | undefined> {
    const { done, value } = await this.#events.next();
    return done ? undefined : value;
  }

  async take(count: number): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    while (events.length < count) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended after ${String(events.length)} of ${String(count)} events`);
      events.push(event);
    }
    return events;
  }

  /** Everything until the server ends the watch. */
  async rest(): Promise<WatchEvent[]> {
    const events: WatchEvent[] = [];
    for (let event = await this.next(); event; event = await this.next()) events.push(event);
    return events;
  }

  close(): void {
    this.#abort.abort();
    void this.#events.return(undefined).catch(() => undefined);
  }
}

/** "ADDED a", "DELETED b". */
export function brief(events: readonly WatchEvent[]): string[] {
  return events.map(({ type, object }) => `${type} ${object.metadata?.name ?? ""}`);
}
