/** When steps that the server refused are tried again. One that is refused delays no other. */
import { spread } from "../../api/client/retry-pause";
import type { Random } from "../../core/base/ports";
import type { ElectorClock } from "../../leases/client/term";
import { RETRY_MS_MAX } from "../ports/api-client";

const RETRY_MS_MIN = 250;

interface Retry {
  readonly at: number;
  readonly delayMs: number;
  readonly why: string;
}

export class StepRetries {
  /** by a text that names the step */
  readonly #retries = new Map<string, Retry>();

  constructor(
    private readonly clock: Pick<ElectorClock, "steady">,
    private readonly random: Pick<Random, "next">,
  ) {}

  /** These are all steps that are left to do. Answers those that are due, and when the first of the others is; steady ms. */
  due<T>(steps: readonly (readonly [name: string, step: T])[]): {
    readonly due: readonly (readonly [string, T])[];
    readonly nextAt: number;
  } {
    const names = new Set(steps.map(([name]) => name));
    for (const name of this.#retries.keys()) if (!names.has(name)) this.#retries.delete(name);
    const now = this.clock.steady();
    const at = (name: string): number => this.#retries.get(name)?.at ?? 0;
    const later = steps.map(([name]) => at(name)).filter((time) => time > now);
    return { due: steps.filter(([name]) => at(name) <= now), nextAt: Math.min(...later) };
  }

  /** Answers whether the reason is another one than before. */
  failed(name: string, why: string): boolean {
    const before = this.#retries.get(name);
    const delayMs = Math.min(before ? before.delayMs * 2 : RETRY_MS_MIN, RETRY_MS_MAX);
    this.#retries.set(name, { at: this.clock.steady() + spread(delayMs, this.random), delayMs, why });
    return before?.why !== why;
  }

  succeeded(name: string): void {
    this.#retries.delete(name);
  }
}
