/** How followers (src/api/client) ask a target: with its certificates and headers, on kept connections. */
import type { FetchLike } from "../../src/api/client/fetch-like";
import { begin, read } from "./send";
import type { Target } from "./target";

/** Longer than a watch of a follower, which the server ends. */
const SILENCE_MS_MAX = 900_000;

export function targetFetch(target: Target): FetchLike {
  return async (path, { signal }) => {
    const response = await begin(target, "GET", path, { signal, silenceMs: SILENCE_MS_MAX });
    return { status: response.statusCode ?? 0, body: response, text: async () => (await read(response)).text };
  };
}
