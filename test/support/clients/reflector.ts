/**
 * A client-go informer (0.35 and later) as its requests were recorded: a streaming list, then watches that go on from the last
 * revision; LIST where streaming is refused; a new list where history is gone; back-off doubling from 0.8 s to 30 s.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { PROTOBUF, readAnswer } from "../values/protobuf-answers";
import { eventsOf } from "./watch-events";

const BACKOFF_MIN_MS = 800;
const BACKOFF_MAX_MS = 30_000;
/** After a watch that ends sooner without an event, everything begins anew. */
const VERY_SHORT_WATCH_MS = 1_000;
const INITIAL_EVENTS_END = "k8s.io/initial-events-end";
/** The Accept header of typed clients of built-in resources since 1.35. */
const TYPED_ACCEPT = `${PROTOBUF},application/json`;

export interface Reflected {
  metadata: { name: string; namespace?: string; uid: string; resourceVersion: string; annotations?: Record<string, string> };
}

interface Status {
  kind: "Status";
  code: number;
  reason?: string;
  message?: string;
  details?: { causes?: { reason?: string }[] };
}

interface WatchEvent {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  object: Reflected & Partial<Status>;
}

/** A refusal by the server, as an HTTP answer or as an ERROR event. */
class Refusal extends Error {
  constructor(readonly status: Partial<Status>) {
    super(`${String(status.code)} ${status.reason ?? ""}: ${status.message ?? ""}`);
  }

  get expired(): boolean {
    return this.status.reason === "Expired" || this.status.reason === "Gone";
  }

  get tooLarge(): boolean {
    return this.status.details?.causes?.some(({ reason }) => reason === "ResourceVersionTooLarge") ?? false;
  }
}

/** Whether the same request may be repeated: the server is away or answers with Retry-After. */
function passes(error: unknown): boolean {
  return error instanceof Refusal ? error.status.code === 429 : true;
}

class Backoff {
  #ms = BACKOFF_MIN_MS;

  async wait(signal: AbortSignal): Promise<void> {
    const ms = this.#ms * (1 + Math.random());
    this.#ms = Math.min(this.#ms * 2, BACKOFF_MAX_MS);
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  }

  reset(): void {
    this.#ms = BACKOFF_MIN_MS;
  }
}

export interface ReflectorOptions {
  /** each watch asks for this much to twice as much (client-go: 300) */
  timeoutSeconds: number;
  /** false = before 0.35: LIST at revision 0 first */
  watchList?: boolean;
  accept?: string;
}

export class Reflector {
  readonly cache = new Map<string, Reflected>();
  /** "add a <uid>" for each new object, "delete a <uid>" for each deleted one */
  readonly told: string[] = [];
  /** events out of order, within one watch or of one object */
  readonly violations: string[] = [];
  readonly counts = { watches: 0, streamingLists: 0, lists: 0, expired: 0, bookmarks: 0, errors: [] as string[] };
  readonly #stopped = new AbortController();
  readonly #backoff = new Backoff();
  #connection = new AbortController();
  #held: Promise<void> = Promise.resolve();
  #running: Promise<void> = Promise.resolve();
  #last = "";
  #lastUnavailable = false;

  /** `url` may change between two connections, like an address behind a name. */
  constructor(
    private readonly url: () => string,
    readonly path: string,
    private readonly options: ReflectorOptions,
  ) {}

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#connection.abort();
    await this.#running;
  }

  /** Cuts the connection, and makes no other until the result is called: a sleeping machine. */
  hold(): () => void {
    let release: () => void = () => undefined;
    this.#held = new Promise((resolve) => (release = resolve));
    this.#connection.abort();
    return release;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        await this.#watch(await this.#begin());
      } catch (error) {
        if (!signal.aborted) this.counts.errors.push(String(error));
      }
      if (!signal.aborted) await this.#backoff.wait(signal);
    }
  }

  /** Fills the cache from the server; resolves to the stream that continues from there, if any. */
  async #begin(): Promise<AsyncGenerator<WatchEvent> | undefined> {
    if (this.options.watchList === false) {
      await this.#list();
      return undefined;
    }
    try {
      return await this.#streamingList();
    } catch (error) {
      if (this.#stopped.signal.aborted) throw error;
      this.counts.errors.push(`falling back to LIST: ${String(error)}`);
      await this.#list();
      return undefined;
    }
  }

  async #streamingList(): Promise<AsyncGenerator<WatchEvent>> {
    for (;;) {
      const found = new Map<string, Reflected>();
      try {
        this.counts.streamingLists++;
        const revision = this.#lastUnavailable ? "" : this.#last;
        const events = await this.#open({
          ...(revision === "" ? {} : { resourceVersion: revision }),
          resourceVersionMatch: "NotOlderThan",
          sendInitialEvents: "true",
        });
        for (;;) {
          const next = await events.next();
          if (next.done) break;
          const { type, object } = next.value;
          if (type === "DELETED") found.delete(keyOf(object));
          else if (type !== "BOOKMARK") found.set(keyOf(object), object);
          else if (object.metadata.annotations?.[INITIAL_EVENTS_END] === "true") {
            this.#replace(found, object.metadata.resourceVersion);
            return events;
          }
        }
      } catch (error) {
        if (this.#stopped.signal.aborted) throw error;
        if (error instanceof Refusal && (error.expired || error.tooLarge)) this.#lastUnavailable = true;
        else if (!passes(error)) throw error;
      }
      await this.#backoff.wait(this.#stopped.signal);
      this.#stopped.signal.throwIfAborted();
    }
  }

  async #list(): Promise<void> {
    const revision = this.#lastUnavailable ? "" : this.#last || "0";
    try {
      await this.#listAt(revision);
    } catch (error) {
      if (!(error instanceof Refusal) || !(error.expired || error.tooLarge)) throw error;
      this.#lastUnavailable = true;
      await this.#listAt("");
    }
  }

  async #listAt(resourceVersion: string): Promise<void> {
    this.counts.lists++;
    const found = new Map<string, Reflected>();
    let page: { metadata: { resourceVersion: string; continue?: string }; items: Reflected[] };
    let token = "";
    do {
      const query = new URLSearchParams({ limit: "500", ...(token === "" ? { resourceVersion } : { continue: token }) });
      const response = await this.#ask(query);
      page = (await readAnswer(response)) as typeof page;
      for (const item of page.items) found.set(keyOf(item), item);
      token = page.metadata.continue ?? "";
    } while (token !== "");
    this.#replace(found, page.metadata.resourceVersion);
  }

  /** Watches until everything has to begin again. */
  async #watch(first: AsyncGenerator<WatchEvent> | undefined): Promise<void> {
    let events = first;
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const startedAt = Date.now();
      let seen = 0;
      try {
        events ??= await this.#open({ resourceVersion: this.#last });
        this.#backoff.reset();
        for await (const event of events) {
          seen++;
          this.#take(event);
        }
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof Refusal && error.status.code !== 429) {
          if (error.expired) this.counts.expired++;
          this.counts.errors.push(String(error));
          return;
        }
        await this.#backoff.wait(signal);
      }
      events = undefined;
      if (seen === 0 && Date.now() - startedAt < VERY_SHORT_WATCH_MS) return;
    }
  }

  async #open(query: Record<string, string>): Promise<AsyncGenerator<WatchEvent>> {
    this.counts.watches++;
    const timeoutSeconds = Math.ceil(this.options.timeoutSeconds * (1 + Math.random()));
    const parameters = { allowWatchBookmarks: "true", ...query, timeoutSeconds: String(timeoutSeconds), watch: "true" };
    const response = await this.#ask(new URLSearchParams(parameters));
    return this.#events(response, "sendInitialEvents" in query ? undefined : Number(query["resourceVersion"]));
  }

  /**
   * Events until the body ends; an ERROR event is thrown. They come in the order of their revisions, after `since`. Undefined: first a list in the
   * order of names, up to the first bookmark.
   */
  async *#events(response: Response, since: number | undefined): AsyncGenerator<WatchEvent> {
    let newest = since;
    for await (const event of eventsOf<WatchEvent>(response, "end")) {
      if (event.type === "ERROR") throw new Refusal(event.object);
      const revision = Number(event.object.metadata.resourceVersion);
      const bookmark = event.type === "BOOKMARK";
      if (bookmark) this.counts.bookmarks++;
      if (newest !== undefined && (bookmark ? revision < newest : revision <= newest)) {
        this.violations.push(`${this.path}: ${event.type} @${String(revision)} after @${String(newest)}`);
      }
      if (bookmark || newest !== undefined) newest = revision;
      yield event;
    }
  }

  async #ask(query: URLSearchParams): Promise<Response> {
    await this.#held;
    this.#stopped.signal.throwIfAborted();
    this.#connection = new AbortController();
    const headers = { Accept: this.options.accept ?? TYPED_ACCEPT, "User-Agent": "informer/v0.35.0 (linux/amd64) kubernetes/unknown" };
    const response = await fetch(`${this.url()}${this.path}?${query.toString()}`, { headers, signal: this.#connection.signal });
    if (!response.ok) throw new Refusal((await readAnswer(response)) as Status);
    return response;
  }

  #take({ type, object }: WatchEvent): void {
    const key = keyOf(object);
    if (type === "DELETED") {
      if (this.cache.delete(key)) this.told.push(`delete ${key} ${object.metadata.uid}`);
    } else if (type !== "BOOKMARK") this.#put(key, object);
    this.#last = object.metadata.resourceVersion;
  }

  #put(key: string, object: Reflected): void {
    const { uid, resourceVersion } = object.metadata;
    const known = this.cache.get(key)?.metadata;
    if (!known || known.uid !== uid) this.told.push(`add ${key} ${uid}`);
    else if (Number(known.resourceVersion) > Number(resourceVersion)) {
      this.violations.push(`${key}: @${resourceVersion} after @${known.resourceVersion}`);
    }
    this.cache.set(key, object);
  }

  #replace(found: Map<string, Reflected>, resourceVersion: string): void {
    for (const [key, { metadata }] of this.cache) {
      if (found.has(key)) continue;
      this.cache.delete(key);
      this.told.push(`delete ${key} ${metadata.uid}`);
    }
    for (const [key, object] of found) this.#put(key, object);
    this.#last = resourceVersion;
    this.#lastUnavailable = false;
  }
}

function keyOf({ metadata: { namespace, name } }: Reflected): string {
  return namespace ? `${namespace}/${name}` : name;
}
