/** The requests of the agent's followers. None waits for a server that does not answer, and all of them can be sent anew. */
import { type Body, chunksOf } from "../../../api/client/body-lines";
import type { FetchAnswer, FetchLike } from "../../../api/client/fetch-like";
import { withTimeout } from "../../../core/base/timeout";
import type { SendLike } from "../../elector/send-like";
import type { ElectorClock } from "../../elector/term";

/** A list, and the beginning of a watch. */
const ANSWER_MS_MAX = 30_000;
/** A server sends a bookmark every minute: a watch that is silent for longer is one of a connection that is lost. */
const SILENCE_MS_MAX = 90_000;
const WATCH = /[?&]watch=/;

interface Open {
  readonly controller: AbortController;
  /** It is broken only to be asked anew. */
  isAnew: boolean;
}

export class FollowRequests {
  readonly #open = new Set<Open>();

  constructor(
    private readonly send: SendLike,
    private readonly clock: Pick<ElectorClock, "after">,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** Rejects, and so does its body, when the server is mute for too long. */
  readonly fetch: FetchLike = async (path, { signal }) => {
    const open: Open = { controller: new AbortController(), isAnew: false };
    const { controller } = open;
    const abort = (): void => controller.abort();
    const close = (): void => {
      signal.removeEventListener("abort", abort);
      this.#open.delete(open);
      abort();
    };
    signal.addEventListener("abort", abort);
    this.#open.add(open);
    try {
      const answer = await withTimeout(this.clock, ANSWER_MS_MAX, this.#begun(path, controller.signal));
      if (answer.body) return { ...answer, body: this.#chunks(answer.body, open, close) };
      close();
      return answer;
    } catch (error) {
      close();
      throw error;
    }
  };

  /** Breaks what is open. A watch ends as if the server had ended it: its follower goes on from its revision at once. */
  anew(): void {
    for (const open of this.#open) {
      open.isAnew = true;
      open.controller.abort();
    }
  }

  /** The body of an answer is there for a watch alone; the text of every other one has come. */
  async #begun(path: string, signal: AbortSignal): Promise<FetchAnswer> {
    const answer = await this.send(path, { signal, headers: this.headers });
    if (WATCH.test(path) && answer.status === 200) return answer;
    const text = await answer.text();
    return { status: answer.status, body: null, text: () => Promise.resolve(text) };
  }

  async *#chunks(body: Body, open: Open, close: () => void): AsyncGenerator<Uint8Array | string> {
    const chunks = chunksOf(body);
    try {
      for (;;) {
        const next = await withTimeout(this.clock, SILENCE_MS_MAX, chunks.next());
        if (next.done) return;
        yield next.value;
      }
    } catch (error) {
      if (!open.isAnew) throw error;
    } finally {
      close();
    }
  }
}
