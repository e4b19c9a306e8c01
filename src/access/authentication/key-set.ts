/**
 * The public keys of one issuer, read when they are needed and kept.
 *
 * What must hold
 * - Senders of tokens do not decide how often the issuer is asked: unknown keys, too, lead to one question in a while.
 * - An issuer that is down for a day locks nobody out.
 */
import { createLocalJWKSet, type JWK, type JWTVerifyGetKey } from "jose";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";

export interface KeySetPace {
  /** keys are taken as they are for so long */
  readonly freshMs: number;
  /** between two questions, whatever is asked for */
  readonly againMs: number;
}

/** An issuer changes its keys over days and publishes them hours before. */
export const ISSUER_PACE: KeySetPace = { freshMs: 600_000, againMs: 30_000 };
/** A key may sign at once when it was made. The question stays inside the deployment. */
export const CLUSTER_PACE: KeySetPace = { freshMs: 60_000, againMs: 5_000 };

/** Without an answer from the issuer the keys are good for so long. */
const STALE_MAX_MS = 86_400_000;
const LOAD_TIMEOUT_MS = 5_000;
/** More are a mistake, or somebody else's answer. */
const KEYS_MAX = 100;
/** Of signatures. A shared secret among published keys is none. */
const ASYMMETRIC: readonly unknown[] = ["RSA", "EC", "OKP"];

export interface KeySetPorts {
  readonly clock: Pick<Clock, "now" | "after">;
  readonly recorder: Recorder;
}

/** Asks the issuer. */
export type LoadKeys = () => Promise<readonly JWK[]>;

export class KeySet {
  #known: { readonly getKey: JWTVerifyGetKey; readonly kids: ReadonlySet<string>; readonly readAt: number } | undefined;
  #triedAt: number | undefined;
  #hasFailed = false;

  /** @param issuer for the log */
  constructor(
    private readonly issuer: string,
    private readonly ports: KeySetPorts,
    private readonly pace: KeySetPace,
  ) {}

  /**
   * What finds the key of a token's header. undefined: the keys are not known, and nobody says them.
   *
   * @param load belongs to the request that needs the keys: the platform lets no request use what another one holds
   */
  async keys(kid: string | undefined, load: LoadKeys): Promise<JWTVerifyGetKey | undefined> {
    const now = this.ports.clock.now();
    const known = this.#known;
    const isGood = known && elapsed(known.readAt, now) < this.pace.freshMs && (kid === undefined || known.kids.has(kid));
    if (!isGood && this.#mayAsk(now)) await this.#load(now, load);
    return this.#known && elapsed(this.#known.readAt, now) < STALE_MAX_MS ? this.#known.getKey : undefined;
  }

  /** The first requests after a start ask together: no request waits for the answer to another. */
  #mayAsk(now: number): boolean {
    if (this.#triedAt === undefined || (!this.#known && !this.#hasFailed)) return true;
    return elapsed(this.#triedAt, now) >= this.pace.againMs;
  }

  async #load(now: number, load: LoadKeys): Promise<void> {
    this.#triedAt = now;
    try {
      const loaded = await withTimeout(this.ports.clock, LOAD_TIMEOUT_MS, load());
      const keys = loaded.filter(({ kty }) => ASYMMETRIC.includes(kty)).slice(0, KEYS_MAX);
      const kids = new Set(keys.flatMap(({ kid }) => kid ?? []));
      this.#known = { getKey: createLocalJWKSet({ keys }), kids, readAt: now };
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = true;
      this.ports.recorder.log("warn", "keys of an issuer of tokens could not be read", { issuer: this.issuer, error: String(error) });
    }
  }
}

/** A clock that was set back ends every wait. */
function elapsed(since: number, now: number): number {
  return now >= since ? now - since : Infinity;
}
