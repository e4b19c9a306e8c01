/**
 * When the agent does the next step of a Pod: one at a time for each, a few side by side, later after a failure. A Pod whose step hangs or is refused
 * delays no other.
 */
import { leastOf } from "../../../core/base/extremes";
import { spread } from "../../../api/client/retry-pause";
import type { Random } from "../../../core/base/ports";
import type { ElectorClock } from "../../elector/term";
import { RETRY_MS_MAX } from "../ports/api-client";

/** Steps side by side. */
const AT_ONCE = 8;
const RETRY_MS_MIN = 250;
/** Steps of one Pod in a window: somebody may contradict each. A Pod that is made anew has up to nine. */
const RUNS_MAX = 12;
const WINDOW_MS = 10_000;

interface Turn {
  isBusy: boolean;
  /** beginning of the last step; steady ms */
  begunAt: number;
  /** steady ms; no step before */
  at: number;
  /** beginning of the window; steady ms */
  since: number;
  runs: number;
  /** 0 = the last step succeeded */
  delayMs: number;
  /** why the last one failed */
  why: string;
}

export class PodTurns {
  /** by a text that names the Pod */
  readonly #turns = new Map<string, Turn>();

  constructor(
    private readonly clock: Pick<ElectorClock, "steady">,
    private readonly random: Pick<Random, "next">,
  ) {}

  /** Steps that have begun and not ended. */
  get busy(): number {
    return [...this.#turns.values()].filter(({ isBusy }) => isBusy).length;
  }

  /** These are all Pods with a step left. Answers those whose step is to begin, and when the first of those that wait is due; steady ms. */
  due(pods: readonly string[]): { readonly due: readonly string[]; readonly nextAt: number } {
    const now = this.clock.steady();
    this.#forget(new Set(pods), now);
    const waiting = pods.filter((pod) => !this.#turns.get(pod)?.isBusy);
    const at = (pod: string): number => this.#turns.get(pod)?.at ?? 0;
    const due = waiting.filter((pod) => at(pod) <= now).sort((a, b) => at(a) - at(b));
    return { due: due.slice(0, Math.max(0, AT_ONCE - this.busy)), nextAt: leastOf(waiting.map(at).filter((time) => time > now)) };
  }

  begin(pod: string): void {
    const now = this.clock.steady();
    const before = this.#turns.get(pod) ?? { begunAt: now, at: now, since: now, runs: 0, delayMs: 0, why: "" };
    const isNewWindow = now - before.since >= WINDOW_MS;
    const { since, runs } = isNewWindow ? { since: now, runs: 0 } : before;
    this.#turns.set(pod, { ...before, isBusy: true, begunAt: now, since, runs: runs + 1 });
  }

  succeeded(pod: string): void {
    const turn = this.#ended(pod);
    if (!turn) return;
    turn.at = turn.runs < RUNS_MAX ? this.clock.steady() : turn.since + WINDOW_MS;
    turn.delayMs = 0;
    turn.why = "";
  }

  /** Answers whether the reason has changed. Steps begin at most 5 s apart: a step that waited for a silent server has rested already. */
  failed(pod: string, why: string): boolean {
    const turn = this.#ended(pod);
    if (!turn) return false;
    const isNew = turn.why !== why;
    turn.delayMs = Math.min(turn.delayMs > 0 ? turn.delayMs * 2 : RETRY_MS_MIN, RETRY_MS_MAX);
    turn.at = Math.max(this.clock.steady(), turn.begunAt + spread(turn.delayMs, this.random));
    turn.why = why;
    return isNew;
  }

  #ended(pod: string): Turn | undefined {
    const turn = this.#turns.get(pod);
    if (turn) turn.isBusy = false;
    return turn;
  }

  /** A Pod without a step left is as it is to be: nothing of it counts any more but its window. */
  #forget(left: ReadonlySet<string>, now: number): void {
    for (const [pod, turn] of this.#turns) {
      if (left.has(pod) || turn.isBusy) continue;
      if (now - turn.since >= WINDOW_MS) this.#turns.delete(pod);
      else Object.assign(turn, { delayMs: 0, why: "", at: turn.runs < RUNS_MAX ? now : turn.since + WINDOW_MS });
    }
  }
}
