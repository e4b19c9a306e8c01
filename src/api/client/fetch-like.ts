/** What a follower asks of `fetch`. */
import type { Body } from "./body-lines";

/** The parts of an answer of `fetch` that are needed. */
export interface Answer {
  readonly status: number;
  readonly body: Body | null;
  text(): Promise<string>;
}

/** A GET of `path`, which begins after the cluster's URL, with whatever credentials it takes. Rejects when `signal` aborts. */
export type FetchLike = (path: string, init: { signal: AbortSignal }) => Promise<Answer>;

/** The answer of an API server that refuses. */
export function refusal(code: number, text: string): Error {
  return new Error(`the API server answers ${code}: ${text.trim()}`);
}
