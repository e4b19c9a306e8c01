/**
 * Waits for the next change of collections, from a place on. It is a client of the isolate's watches like any other: sockets are shared, the stores may
 * sleep, and a socket that is lost is opened again from its place. What the changes are is nothing to it.
 */
import { EndableWait } from "../../core/base/endable-wait";
import type { Clock } from "../../core/base/ports";
import { err, ok, type Result } from "../../core/base/result";
import type { Status } from "../meta/status";
import type { AskedWatch, Relay, RunningWatch } from "./relay";
import type { ClientSink } from "./relayed-watch";

/** How a wait has ended: `over` = its time is over, or somebody has called `leave`; `ended` = a watch has, so a change may have been missed. */
export type Waited = "changed" | "over" | "ended";

export interface ChangeWatchPorts {
  relay: Pick<Relay, "begin">;
  clock: Pick<Clock, "now" | "after">;
  /** keeps the request running until its watches are over */
  waitUntil(work: Promise<unknown>): void;
}

/** How long watches may take to begin. */
export interface BeginsWithin {
  /** milliseconds since the epoch */
  untilMs: number;
  /** of the client: nobody waits any more */
  signal: AbortSignal;
}

export class ChangeWatch {
  readonly #clock: ChangeWatchPorts["clock"];
  readonly #watches: (RunningWatch["watch"] | undefined)[] = [];
  #isChanged = false;
  #hasEnded = false;
  #isLeft = false;
  #resume: (() => void) | undefined;
  /** ends the wait for watches that begin */
  #stopBeginning: (() => void) | undefined;

  private constructor(clock: ChangeWatchPorts["clock"]) {
    this.#clock = clock;
  }

  /**
   * Each of `asked` names its revision. A Status is the first refusal. Rejects as `begin` of the relay does. What has not begun in time ends as it begins,
   * and so does the wait.
   */
  static async begin(
    { relay, clock, waitUntil }: ChangeWatchPorts,
    asked: readonly AskedWatch[],
    { untilMs, signal }: BeginsWithin,
  ): Promise<Result<ChangeWatch, Status>> {
    const changes = new ChangeWatch(clock);
    const starts = asked.map(async (one, i) => {
      const begun = await relay.begin(one, () => changes.#sink());
      if (!begun.ok) return begun.error;
      const { watch, run } = begun.value;
      changes.#watches[i] = watch;
      if (changes.#isLeft) watch.leave();
      // At once, whatever becomes of the others.
      waitUntil(run());
      return undefined;
    });
    const settled = Promise.allSettled(starts);
    const leave = (): void => changes.leave();
    signal.addEventListener("abort", leave);
    const wait = new EndableWait<void>(clock, Math.max(0, untilMs - clock.now()), leave);
    changes.#stopBeginning = wait.end;
    void settled.then(() => wait.end());
    if (signal.aborted) leave();
    await wait.over();
    changes.#stopBeginning = undefined;
    signal.removeEventListener("abort", leave);
    if (changes.#isLeft) {
      // What begins later ends at once, in this request.
      waitUntil(settled);
      return ok(changes);
    }
    for (const start of await settled) {
      const problem = start.status === "rejected" || start.value;
      if (problem) changes.leave();
      if (start.status === "rejected") throw start.reason;
      if (start.value) return err(start.value);
    }
    return ok(changes);
  }

  /** The revision up to which each collection is known, in the order of `begin`. Changes up to there are no news any more. */
  take(): (number | undefined)[] {
    this.#isChanged = false;
    return this.#watches.map((watch) => watch?.place);
  }

  /** Until something has changed since the last `take`. In the request that began the watch. */
  async next(untilMs: number): Promise<Waited> {
    const forMs = untilMs - this.#clock.now();
    if (!this.#isDue && forMs > 0) {
      const wait: EndableWait<void> = new EndableWait(this.#clock, forMs, () => wait.end());
      this.#resume = wait.end;
      await wait.over();
      this.#resume = undefined;
    }
    if (this.#isLeft) return "over";
    if (this.#hasEnded) return "ended";
    return this.#isChanged ? "changed" : "over";
  }

  /** Nobody waits any more. Repeats do nothing. */
  leave(): void {
    this.#isLeft = true;
    for (const watch of this.#watches) watch?.leave();
    this.#stopBeginning?.();
    this.#resume?.();
  }

  get #isDue(): boolean {
    return this.#isChanged || this.#hasEnded || this.#isLeft;
  }

  #sink(): ClientSink {
    const ended = (): void => {
      this.#hasEnded = true;
      this.#resume?.();
    };
    return {
      write: () => {
        this.#isChanged = true;
        this.#resume?.();
      },
      backlogBytes: () => 0,
      end: ended,
      abort: ended,
      probe: () => undefined,
    };
  }
}
