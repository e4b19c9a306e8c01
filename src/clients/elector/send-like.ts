/** What an elector and a fenced writer ask of `fetch`, and one object of an API server by its path. */
import { type FetchAnswer, refusal } from "../../api/client/fetch-like";
import type { KubeObject } from "../../api/meta/kubernetes";
import { parseJson } from "../../core/encoding/exact-json";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";

export interface Sent {
  readonly signal: AbortSignal;
  /** absent: GET */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A request to `path`, which begins after the cluster's URL, with whatever credentials it takes. Rejects when `signal` aborts. */
export type SendLike = (path: string, init: Sent) => Promise<FetchAnswer>;

/** The answers that a compare-and-swap expects. `conflict`: the object is another one by now, or one is there already. */
export type Swapped<T> = { readonly kind: "stored"; readonly object: T } | { readonly kind: "conflict" } | { readonly kind: "missing" };

/** Reads and writes objects. Every call has a timeout. Any other refusal is thrown. */
export class ObjectClient<T extends KubeObject> {
  constructor(
    private readonly send: SendLike,
    private readonly clock: Pick<Clock, "after">,
  ) {}

  /** undefined: there is none */
  async get(path: string, timeoutMs: number): Promise<T | undefined> {
    const answer = await this.#answered(path, {}, timeoutMs);
    return answer.kind === "stored" ? answer.object : undefined;
  }

  create(collection: string, object: T, timeoutMs: number): Promise<Swapped<T>> {
    return this.#answered(collection, { method: "POST", body: JSON.stringify(object) }, timeoutMs);
  }

  /** The object's resourceVersion is the precondition. */
  replace(path: string, object: T, timeoutMs: number): Promise<Swapped<T>> {
    return this.#answered(path, { method: "PUT", body: JSON.stringify(object) }, timeoutMs);
  }

  async #answered(path: string, init: Pick<Sent, "method" | "body">, timeoutMs: number): Promise<Swapped<T>> {
    const controller = new AbortController();
    try {
      return await withTimeout(this.clock, timeoutMs, this.#ask(path, { ...init, signal: controller.signal }));
    } finally {
      // After a timeout nobody waits for the answer.
      controller.abort();
    }
  }

  async #ask(path: string, init: Sent): Promise<Swapped<T>> {
    const headers = { Accept: "application/json", ...(init.body === undefined ? {} : { "Content-Type": "application/json" }) };
    const answer = await this.send(path, { ...init, headers });
    const text = await answer.text();
    if (answer.status === 404) return { kind: "missing" };
    if (answer.status === 409) return { kind: "conflict" };
    if (answer.status < 200 || answer.status > 299) throw refusal(answer.status, text);
    return { kind: "stored", object: parseJson(text) as T };
  }
}
