/**
 * Writes of Pods in order. What the store refuses, it will most likely refuse again: it is logged once for each Pod and waits for minutes, so that it
 * holds up no other. This is in memory: an object that begins anew tries at once.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import type { WriteRequest } from "../../api/rpc/store";
import type { WrittenStore } from "../../controllers/followed/called-store";

/** The first wait after a refusal; each further one is twice as long. */
const REFUSED_BASE_MS = 60_000;
const REFUSED_MAX_MS = 10 * 60_000;
/** Codes of clients' errors that the next try may not meet: a timeout, a change meanwhile, too many requests. */
const PASSING_CODES = [408, 409, 429];

/** `done`: nothing is left to do. `failed`: the next pass tries again. `refused`: it is tried again when its wait is over. */
export type Written = "done" | "failed" | "refused";

export class PodWrites {
  readonly #refused = new Map<string, { uid: string; times: number; againAt: number }>();

  constructor(private readonly ports: { clock: Pick<Clock, "now">; recorder: Recorder; pods: Pick<WrittenStore, "write"> }) {}

  /**
   * Makes the writes of one Pod one after another. A Pod that is gone ends them. Never rejects.
   *
   * @param key storage key
   */
  async inOrder(key: string, uid: string, requests: readonly WriteRequest[]): Promise<Written> {
    try {
      for (const request of requests) {
        const answer = await this.ports.pods.write(request);
        if (answer.ok) continue;
        const { code, reason = "" } = answer.status;
        if (code === 404) return "done";
        if (code < 400 || code >= 500 || PASSING_CODES.includes(code)) return "failed";
        this.#refuse(key, uid, { verb: request.verb, code, reason });
        return "refused";
      }
      return "done";
    } catch {
      return "failed";
    }
  }

  isWaiting(key: string): boolean {
    return (this.againAt(key) ?? -Infinity) > this.ports.clock.now();
  }

  /** When the writes of the Pod are to be made again, in milliseconds since the epoch; undefined = they were not refused. */
  againAt(key: string): number | undefined {
    return this.#refused.get(key)?.againAt;
  }

  /** The soonest of these times; undefined = there is none. */
  get nextAt(): number | undefined {
    if (this.#refused.size === 0) return undefined;
    return [...this.#refused.values()].reduce((least, { againAt }) => Math.min(least, againAt), Infinity);
  }

  /** Forgets refusals of all other Pods. */
  keep(isKept: (key: string, uid: string) => boolean): void {
    for (const [key, { uid }] of this.#refused) if (!isKept(key, uid)) this.#refused.delete(key);
  }

  #refuse(key: string, uid: string, fields: { verb: string; code: number; reason: string }): void {
    const { clock, recorder } = this.ports;
    const times = this.#refused.get(key)?.times ?? 0;
    if (times === 0) recorder.log("warn", "a write of a pod was refused", { pod: key, ...fields });
    const waitMs = Math.min(REFUSED_MAX_MS, REFUSED_BASE_MS * 2 ** times);
    this.#refused.set(key, { uid, times: times + 1, againAt: clock.now() + waitMs });
  }
}
