/**
 * When the next turn of an object may begin (rule 24 of docs/internals/protocol.md). A commit takes milliseconds where it goes to other machines. A
 * turn that begins before the last commit is durable takes the few requests of its moment, and each of them pays the rows that a turn writes once. So
 * a turn waits, and takes all requests that came meanwhile: groups grow with the latency of a commit.
 *
 * - No commit is under way: a turn begins at once. So a client that sends one request after the other never waits.
 * - The requests under way and those that wait are UNPACED_MAX together at most: it begins at once, too. Two clients would wait for each other's commit
 *   in turn and never share one.
 * - Else it begins when the last commit is durable.
 *
 * "Under way" are requests whose turn was applied and whose commit is not durable yet. Nothing here delays an answer: the output gate keeps it until its
 * own commit is durable. On a local disk a commit is durable before the next request comes, and nobody waits.
 */
import { COMMIT_DEADLINE_MS } from "../base/limits";
import type { Clock } from "../base/ports";

/** Requests that are never kept from their turn by each other. */
const UNPACED_MAX = 2;

export interface CommitPacePorts {
  clock: Pick<Clock, "after" | "nextTurn">;
  /** Resolves when everything applied so far is durable; rejects when it is lost. */
  durable(): Promise<void>;
  /** A commit became durable: a turn that was not admitted may be now. */
  freed(): void;
  /** A commit failed, or was not durable COMMIT_DEADLINE_MS after a turn began to wait for it. Called once; nothing is called afterwards. */
  lost(error: unknown): void;
}

export class CommitPace {
  readonly #ports: CommitPacePorts;
  /** requests whose commit is not durable yet */
  #underWay = 0;
  #isLost = false;
  #stopWaiting: (() => void) | undefined;

  constructor(ports: CommitPacePorts) {
    this.#ports = ports;
  }

  /**
   * Whether a turn of so many requests begins now. If not, ask again when something was freed. It does not wait for ever: a commit that hangs counts
   * as lost.
   */
  admits(waiting: number): boolean {
    const mayBegin = this.#underWay === 0 || this.#underWay + waiting <= UNPACED_MAX;
    if (mayBegin) this.#endWait();
    else this.#stopWaiting ??= this.#waitNoLongerThanDeadline();
    return mayBegin;
  }

  /** A turn of so many requests was applied. */
  begun(requests: number): void {
    this.#underWay += requests;
    const durable = (): void => {
      this.#underWay -= requests;
      if (!this.#isLost) this.#ports.freed();
    };
    new Promise<void>((resolve) => resolve(this.#ports.durable())).then(durable, (error: unknown) => this.#lose(error));
  }

  #waitNoLongerThanDeadline(): () => void {
    const { clock } = this.#ports;
    const stop = clock.after(COMMIT_DEADLINE_MS, () => {
      // After a machine has slept the commit may be durable, and its word wait behind this timer.
      const judge = (): void => {
        if (this.#stopWaiting === stop) this.#lose(new Error(`a commit was not durable after ${COMMIT_DEADLINE_MS} ms`));
      };
      void clock.nextTurn().then(judge, judge);
    });
    return stop;
  }

  #endWait(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  #lose(error: unknown): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#endWait();
    this.#ports.lost(error);
  }
}
