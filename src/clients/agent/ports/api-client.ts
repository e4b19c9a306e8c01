/**
 * The API server as the agent asks it. Every request ends within its time limit, and an answer is data: an agent lives through whatever the server does.
 * Nothing is repeated here; each loop of the agent has its own pauses.
 */
import { followCollection, errorOf, type FollowStep } from "../../../api/client/follow-collection";
import type { KubeObject } from "../../../api/meta/kubernetes";
import type { Status } from "../../../api/meta/status";
import { parseJson } from "../../../core/encoding/exact-json";
import type { Random } from "../../../core/base/ports";
import { withTimeout } from "../../../core/base/timeout";
import type { SendLike } from "../../elector/send-like";
import type { ElectorClock } from "../../elector/term";
import { FollowRequests } from "./follow-requests";

/** The longest request. */
export const REQUEST_MS_MAX = 5_000;
const NOT_FOUND = 404;
/** Names the manager of the fields that the agent writes. */
const USER_AGENT = "servicenet-agent";
/** Pauses of all loops of the agent while the server is away are at most twice as long. */
export const RETRY_MS_MAX = 2_500;

export type ApiReply<T> =
  | { readonly kind: "done"; readonly object: T }
  /** what the server's Status says; nothing was changed. 404: the reason is NotFound */
  | { readonly kind: "refused"; readonly code: number; readonly message: string }
  /** no whole answer, or one that is no API server's, as a proxy's page: a write may have happened all the same */
  | { readonly kind: "unanswered"; readonly message: string };

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface FollowedList<T> {
  /** path of the collection below the cluster's URL */
  readonly path: string;
  readonly fieldSelector?: string;
  onStep(step: FollowStep<T>): void;
  onError(error: Error): void;
}

export interface ApiClient {
  /** `path` begins after the cluster's URL. The body of a PATCH is a merge patch. Never rejects. */
  request<T>(method: Method, path: string, body?: object): Promise<ApiReply<T>>;
  /** Follows a collection until the returned function is called. */
  follow<T extends KubeObject>(followed: FollowedList<T>): () => void;
  /** The server answers again after an outage: all watches begin anew where they were, since their connections may be lost. */
  followAnew(): void;
}

export class SentApi implements ApiClient {
  readonly #followRequests: FollowRequests;

  constructor(
    private readonly send: SendLike,
    private readonly clock: Pick<ElectorClock, "now" | "after">,
    private readonly random: Pick<Random, "next">,
  ) {
    this.#followRequests = new FollowRequests(send, clock, { "User-Agent": USER_AGENT });
  }

  async request<T>(method: Method, path: string, body?: object): Promise<ApiReply<T>> {
    const controller = new AbortController();
    try {
      return await withTimeout(this.clock, REQUEST_MS_MAX, this.#ask<T>(controller.signal, method, path, body));
    } catch (error) {
      return { kind: "unanswered", message: errorOf(error).message };
    } finally {
      // After a timeout nobody waits for the answer.
      controller.abort();
    }
  }

  follow<T extends KubeObject>(followed: FollowedList<T>): () => void {
    const { clock, random } = this;
    const { fetch } = this.#followRequests;
    return followCollection<T>({ fetch, clock, random, retryMsMax: RETRY_MS_MAX, ...followed });
  }

  followAnew(): void {
    this.#followRequests.anew();
  }

  async #ask<T>(signal: AbortSignal, method: Method, path: string, body?: object): Promise<ApiReply<T>> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { Accept: "application/json", "User-Agent": USER_AGENT, ...(body && { "Content-Type": type }) };
    const answer = await this.send(path, { signal, method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await answer.text();
    return replyOf<T>(answer.status, text);
  }
}

function replyOf<T>(code: number, text: string): ApiReply<T> {
  const object = objectOf(text);
  if (object && code >= 200 && code < 300) return { kind: "done", object: object as T };
  const { kind, reason, message } = object ?? {};
  const isStatus = kind === "Status" && typeof message === "string";
  // What a wrong path or a proxy does not find may be there all the same.
  if (isStatus && code >= 400 && (code !== NOT_FOUND || reason === "NotFound")) return { kind: "refused", code, message };
  return { kind: "unanswered", message: `no answer of an API server: ${String(code)} ${text.trim().slice(0, 200)}` };
}

/** The object of the API that a text holds; undefined = it holds none. */
function objectOf(text: string): Partial<Status> | undefined {
  try {
    const value = parseJson(text) as Partial<Status> | null;
    return typeof value?.kind === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
