/** Asks the controller for changes that did not arrive. So a lost push delays them until this question, and no longer. */
import type { Clock, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import { PacedLog } from "../core/telemetry/paced-log";
import type { Cursor, ShardChange } from "./pushed/shard-change";

/** A check asks the controller, unless it has told or answered anything for as long. */
export const HEARD_AGE_MS = 30_000;
/** The same after a question without an answer, and while the controller has not told of checks. */
const ASK_AGAIN_MS = 5_000;
/** How long a question may take. Nobody waits for its answer. */
const ASK_TIMEOUT_MS = 5_000;

export interface ControllerQuestionPorts {
  clock: Clock;
  recorder: Recorder;
  /**
   * The controller's answer: what this object lacks that knows as much as `known`; null = nothing, or neither knows anything. `mayRest`: see shardState.
   */
  state(known: Cursor | null, mayRest: boolean): Promise<ShardChange | null>;
  /** how far this object knows */
  cursor(): Cursor | undefined;
  /** An object without any check has nothing that the controller could build on. */
  knowsChecks(): boolean;
  /** an answer that is newer than all that is known; null = it has nothing new, or a push came first */
  answered(change: ShardChange | null): void;
}

export class ControllerQuestion {
  readonly #untold: PacedLog;
  #asksAt = -Infinity;
  #question: Promise<void> | undefined;
  /** The controller has told or answered something since this object began. */
  #isHeard = false;

  constructor(private readonly ports: ControllerQuestionPorts) {
    this.#untold = new PacedLog(
      "warn",
      "the controller of the health of nodes does not answer: the last known state of nodes goes on",
      ports,
    );
  }

  /** Asks, unless the controller was heard recently. Those who ask together share one question. Never rejects. */
  ask(): Promise<void> {
    const now = this.ports.clock.now();
    // A clock that was set back keeps nobody waiting.
    if (now < this.#asksAt && this.#asksAt <= now + HEARD_AGE_MS) return this.#question ?? Promise.resolve();
    return (this.#question ??= this.#askOnce());
  }

  /** The controller has told or answered something. */
  heard(): void {
    this.#isHeard = true;
    this.#asksAt = this.ports.clock.now() + (this.ports.knowsChecks() ? HEARD_AGE_MS : ASK_AGAIN_MS);
  }

  /** What the controller told has a gap. It may have no answer from here in time, and so may not know: the next check asks. */
  missed(): void {
    this.#asksAt = -Infinity;
  }

  async #askOnce(): Promise<void> {
    const { clock, state, cursor, knowsChecks, answered } = this.ports;
    this.#asksAt = clock.now() + ASK_AGAIN_MS;
    const before = cursor();
    const known = (knowsChecks() && before) || null;
    try {
      // Behind each sleep comes a question. What the controller has told it knows from its rows, without reading any store.
      const change = await withTimeout(clock, ASK_TIMEOUT_MS, state(known, !this.#isHeard && known !== null));
      // A push that came meanwhile may be newer than the answer.
      answered(cursor() === before ? change : null);
    } catch (error) {
      this.#untold.add(() => ({ error: String(error) }));
    } finally {
      this.#question = undefined;
    }
  }
}
