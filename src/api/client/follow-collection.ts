/**
 * Follows a collection of any Kubernetes API server: one list, then watches from its revision. The follower keeps no objects. It hands on the
 * server's events in the server's order, and the consumer keeps what it needs.
 *
 * - A watch that ends, breaks or is refused for a while (429, 5xx) goes on from the last revision.
 * - Where history is gone (410), where the server has not reached the revision (a restored one), and after every other error, the follower lists anew.
 * - When the snapshot of a list in pages is gone (410), one page has all.
 * - It rests longer after each error, until the server sends something.
 */
import { parseJson } from "../../core/encoding/exact-json";
import type { Clock, Random } from "../../core/base/ports";
import type { KubeObject } from "../meta/kubernetes";
import { type Body, linesOf } from "./body-lines";
import { type FetchAnswer, type FetchLike, isAheadOfServer, type Refused, refusal, statusIn } from "./fetch-like";
import { RetryPause, spread } from "./retry-pause";

const WATCH_SECONDS = 300;
const VERY_SHORT_WATCH_MS = 1_000;

export interface ObjectChange<T> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** after the change; of a deletion, the last state */
  readonly object: T;
}

export type FollowStep<T> =
  /** all objects of the collection; what the consumer has and the list has not is gone */
  | { readonly kind: "list"; readonly objects: readonly T[]; readonly resourceVersion: string }
  /** what came together, oldest first; empty = a bookmark: the revision has moved on */
  | { readonly kind: "changes"; readonly changes: readonly ObjectChange<T>[]; readonly resourceVersion: string };

export interface FollowCollectionOptions<T extends KubeObject> {
  readonly fetch: FetchLike;
  readonly clock: Pick<Clock, "now" | "after">;
  /** spreads pauses and the ends of watches; absent: they are exact */
  readonly random?: Pick<Random, "next">;
  /** path of the collection below the cluster's URL, such as `/api/v1/services` */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** objects in one page of a list; absent: one page has all */
  readonly pageSize?: number;
  /** The longest rest after errors, before it is spread; absent: 30 s. */
  readonly retryMsMax?: number;
  /** The next step is read after this one is done. When it fails, the error is reported and the follower lists anew. */
  onStep(step: FollowStep<T>): void | Promise<void>;
  /** Called when the API server refuses or cannot be reached, but not when it has not the history (410, 504). The follower tries again. */
  onError?(error: Error): void;
  /** Called when the server does not serve the collection. Answers the ms until it is asked again; undefined = an error as every other. */
  onNotServed?(): Promise<number | undefined>;
  /** Called after the end of each watch, before the next one. */
  onWatchEnd?(): Promise<void>;
  /** Length of a watch in seconds. An answer that has become shorter ends the open watch after its next step. */
  watchSeconds?(): number;
}

interface CollectionPage<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly T[] | null;
}

interface WatchEvent<T> {
  readonly type: ObjectChange<T>["type"] | "BOOKMARK" | "ERROR";
  /** of an ERROR: a Status */
  readonly object: T & Refused & { readonly message?: string };
}

/**
 * The history that a watch asks for is gone or was never there, or the collection is gone: the follower lists anew. This is no error to report: a server
 * keeps only so much history, and the list misses nothing. If the list is refused, that is reported.
 */
class Expired extends Error {}

/** The watch is lost, its revision is not. */
class Interrupted extends Error {
  constructor(override readonly cause: unknown) {
    super("the watch is interrupted");
  }
}

/** Begins to follow. The returned function ends it; after that nothing is called any more. */
export function followCollection<T extends KubeObject>(options: FollowCollectionOptions<T>): () => void {
  const follower = new CollectionFollower(options);
  void follower.run();
  return () => follower.stop();
}

/** What was thrown, as an error. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

class CollectionFollower<T extends KubeObject> {
  readonly #options: FollowCollectionOptions<T>;
  readonly #connection = new AbortController();
  readonly #pause: RetryPause;
  #resourceVersion = "";

  constructor(options: FollowCollectionOptions<T>) {
    this.#options = options;
    this.#pause = new RetryPause(options.clock, options.random, options.retryMsMax);
  }

  stop(): void {
    this.#connection.abort();
    this.#pause.stop();
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        const againMs = await this.#list();
        if (againMs === undefined) await this.#watchOn();
        else await this.#pause.wait(againMs);
      } catch (error) {
        await this.#rest(error);
      }
    }
  }

  get #isStopped(): boolean {
    return this.#connection.signal.aborted;
  }

  /** Answers the ms until the next list when the collection is not served. */
  async #list(): Promise<number | undefined> {
    let { pageSize } = this.#options;
    let objects: T[] = [];
    let resourceVersion = "";
    let next: string | undefined;
    do {
      const answer = await this.#get(this.#listPath(pageSize, next));
      const text = await answer.text();
      if (answer.status === 410 && next && pageSize !== undefined) {
        // The snapshot of the pages is gone, and pages of a busy collection would lose the next one too. One page has all, as in client-go's pager.
        objects = [];
        resourceVersion = "";
        next = pageSize = undefined;
        continue;
      }
      const againMs = answer.status === 404 ? await this.#options.onNotServed?.() : undefined;
      if (againMs !== undefined) {
        this.#pause.reset();
        return againMs;
      }
      if (answer.status !== 200) throw refusal(answer.status, text);
      const page = parseJson(text) as CollectionPage<T>;
      for (const object of page.items ?? []) objects.push(object);
      // Later pages may be newer. A watch from the first one misses nothing.
      if (resourceVersion === "") ({ resourceVersion } = page.metadata);
      next = page.metadata.continue ?? "";
    } while (next !== "");
    await this.#hand({ kind: "list", objects, resourceVersion });
    return undefined;
  }

  /** One watch after the other, until the follower stops or has to list. */
  async #watchOn(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#watch();
      } catch (error) {
        if (!(error instanceof Interrupted)) throw error;
        await this.#rest(error.cause);
      }
    }
  }

  /** One watch, until the server ends it. */
  async #watch(): Promise<void> {
    const seconds = this.#watchSeconds;
    const answer = await this.#get(this.#watchPath(spread(seconds, this.#options.random))).catch(interrupt);
    if (answer.status === 410 || answer.status === 404) throw new Expired();
    if (answer.status !== 200 || !answer.body) {
      const text = await answer.text();
      if (isAheadOfServer(statusIn(text))) throw new Expired();
      const refused = refusal(answer.status, text);
      throw answer.status === 429 || answer.status >= 500 ? new Interrupted(refused) : refused;
    }
    const begun = this.#options.clock.now();
    for await (const lines of watchedLines(answer.body)) {
      await this.#take(lines.map((line) => parseJson(line) as WatchEvent<T>));
      this.#pause.reset();
      if (this.#watchSeconds < seconds) break;
    }
    // A server that ends watches at once must not be asked without a rest.
    if (this.#options.clock.now() - begun < VERY_SHORT_WATCH_MS) await this.#pause.backOff();
    else this.#pause.reset();
    if (!this.#isStopped) await this.#options.onWatchEnd?.();
  }

  /** The events before an ERROR count. */
  async #take(events: readonly WatchEvent<T>[]): Promise<void> {
    const changes: ObjectChange<T>[] = [];
    let resourceVersion = this.#resourceVersion;
    let failure: Error | undefined;
    for (const { type, object } of events) {
      if (type === "ERROR") {
        failure = failureOf(object);
        break;
      }
      if (type !== "BOOKMARK") changes.push({ type, object });
      resourceVersion = object.metadata?.resourceVersion ?? resourceVersion;
    }
    if (!failure || changes.length > 0) await this.#hand({ kind: "changes", changes, resourceVersion });
    if (failure) throw failure;
  }

  /** The revision moves on when the consumer has the step. */
  async #hand(step: FollowStep<T>): Promise<void> {
    if (this.#isStopped) return;
    await this.#options.onStep(step);
    this.#resourceVersion = step.resourceVersion;
  }

  get #watchSeconds(): number {
    return this.#options.watchSeconds?.() ?? WATCH_SECONDS;
  }

  #listPath(pageSize: number | undefined, next: string | undefined): string {
    return this.#path([
      ...(pageSize === undefined ? [] : [`limit=${pageSize}`]),
      ...(next ? [`continue=${encodeURIComponent(next)}`] : []),
    ]);
  }

  #watchPath(seconds: number): string {
    const revision = `resourceVersion=${this.#resourceVersion}`;
    return this.#path(["watch=true", "allowWatchBookmarks=true", `timeoutSeconds=${seconds}`, revision]);
  }

  #path(parameters: string[]): string {
    const { path, labelSelector, fieldSelector } = this.#options;
    if (labelSelector !== undefined) parameters.push(`labelSelector=${encodeURIComponent(labelSelector)}`);
    if (fieldSelector !== undefined) parameters.push(`fieldSelector=${encodeURIComponent(fieldSelector)}`);
    return parameters.length === 0 ? path : `${path}?${parameters.join("&")}`;
  }

  async #rest(error: unknown): Promise<void> {
    if (this.#isStopped) return;
    if (!(error instanceof Expired)) this.#options.onError?.(errorOf(error));
    await this.#pause.backOff();
  }

  #get(path: string): Promise<FetchAnswer> {
    return this.#options.fetch(path, { signal: this.#connection.signal });
  }
}

/** The error of an ERROR event. */
function failureOf(status: Refused & { readonly message?: string }): Error {
  const { code = 500, message = "" } = status;
  if (code === 410 || isAheadOfServer(status)) return new Expired();
  return code === 429 || code >= 500 ? new Interrupted(refusal(code, message)) : refusal(code, message);
}

/** The lines of a watch; a fault of the connection is marked as one. */
async function* watchedLines(body: Body): AsyncGenerator<string[]> {
  try {
    yield* linesOf(body);
  } catch (error) {
    interrupt(error);
  }
}

function interrupt(error: unknown): never {
  throw new Interrupted(error);
}
