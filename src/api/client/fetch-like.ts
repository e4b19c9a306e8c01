/** What a follower asks of `fetch`. */
import { parseJson } from "../../core/encoding/exact-json";
import type { Body } from "./body-lines";

/** The parts of an answer of `fetch` that are needed. */
export interface FetchAnswer {
  readonly status: number;
  readonly body: Body | null;
  text(): Promise<string>;
}

/** A GET of `path`, which begins after the cluster's URL, with whatever credentials it takes. Rejects when `signal` aborts. */
export type FetchLike = (path: string, init: { signal: AbortSignal }) => Promise<FetchAnswer>;

/** The answer of an API server that refuses. */
export function refusal(code: number, text: string): Error {
  return new Error(`the API server answers ${code}: ${text.trim()}`);
}

/** What a Status says of the reason, as far as it is needed. */
export interface Refused {
  readonly code?: number;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/** The Status that is the text of an answer; {} where it is none, as a proxy's page. */
export function statusIn(text: string): Refused {
  try {
    return (parseJson(text) ?? {}) as Refused;
  } catch {
    return {};
  }
}

/**
 * True where the server has not reached the revision that was asked for, as after a restore: waiting would bring other objects under it.
 * Older servers name no reason. Rule: client-go tools/cache/reflector.go, isTooLargeResourceVersionError.
 */
export function isAheadOfServer({ code, details }: Refused): boolean {
  if (code !== 504) return false;
  return (details?.causes ?? []).some(
    ({ reason, message }) => reason === "ResourceVersionTooLarge" || message === "Too large resource version",
  );
}
