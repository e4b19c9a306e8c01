/** One round of a pass: what was read, what became of the work, and whether the pass leaves some. */
import type { Status } from "../../api/meta/status";
import type { WriteResult } from "../../api/rpc/store";
import { isPassing } from "../followed/refusals";
import { isNamespaceTerminating } from "../followed/write-requests";
import type { PassReport } from "./status";

const NOT_FOUND = 404;

/**
 * What became of a piece of work.
 * - `done`: it is done, whether or not anything had to be written
 * - `none`: nothing is to be done any more
 * - `later`: the next pass tries again
 * - `silent`: as later, and no other work of the round begins, because its store does not answer
 * - `waits`: the controller keeps it with a time of its own, of which due() tells
 * - `refused`: the store refused it, and the frame makes the next try wait
 */
export type Outcome = "done" | "none" | "later" | "silent" | "waits" | { readonly refused: Status };

/**
 * What the answer to a write means. An object that is gone, and a namespace that is being emptied, need nothing more. A conflict and a store in
 * trouble soon pass. Everything else is refused.
 */
export function outcomeOf(answer: WriteResult): Outcome {
  if (answer.ok) return "done";
  const { status } = answer;
  if (status.code === NOT_FOUND || isNamespaceTerminating(status)) return "none";
  return isPassing(status) ? "later" : { refused: status };
}

/** Whether nothing is left to do. */
export function isOver(outcome: Outcome): boolean {
  return outcome === "done" || outcome === "none";
}

/** A round as a controller's own code sees it. */
export interface Round {
  /** Every store was read to its end. */
  readonly isCurrent: boolean;
  /** A store did not answer: nothing more is asked of it in this round. */
  readonly isSilent: boolean;
  /** pieces of work that were noted so far */
  readonly begun: number;
  /** False: the budget is used up, and no further call begins. */
  mayGoOn(): boolean;
  /** Counts pieces of work. `later`, `silent` and a failure leave work. */
  note(outcome: Outcome, pieces?: number): void;
  /** Counts changes and objects that were read by other ways than the followed stores. */
  noteRead(pieces: number): void;
  /** The pass leaves work that is no piece of the plan: something could not be read, for example. */
  leave(): void;
  /** A piece of work, or a read, failed: the status has the error, and the pass leaves work. */
  failed(error: unknown): void;
  /** Shows a failure in the status. It leaves no work by itself: whoever met it has a time for the next try. */
  mention(error: unknown): void;
}

/** All rounds of a pass are one of these. */
export class PassRound implements Round {
  readonly #report: PassReport = { read: 0, done: 0, putOff: 0, later: 0, waiting: 0, left: false };
  isCurrent = false;
  #isSilent = false;
  #begun = 0;

  constructor(private readonly goesOn: () => boolean) {}

  /** Another round of the same pass begins. */
  begin(): void {
    this.isCurrent = false;
    this.#isSilent = false;
    this.#begun = 0;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  get begun(): number {
    return this.#begun;
  }

  get isLeft(): boolean {
    return this.#report.left;
  }

  mayGoOn(): boolean {
    return this.goesOn();
  }

  note(outcome: Outcome, pieces = 1): void {
    if (pieces === 0) return;
    this.#begun += pieces;
    if (outcome === "done") this.#report.done += pieces;
    else if (outcome === "waits" || typeof outcome === "object") this.#report.putOff += pieces;
    else if (outcome !== "none") this.#leave(pieces);
    this.#isSilent ||= outcome === "silent";
  }

  noteRead(pieces: number): void {
    this.#report.read += pieces;
  }

  /** Pieces of work for which there was no time. */
  notBegun(pieces: number): void {
    this.#leave(pieces);
  }

  leave(): void {
    this.#report.left = true;
  }

  failed(error: unknown): void {
    this.leave();
    this.mention(error);
  }

  mention(error: unknown): void {
    this.#report.error = error instanceof Error ? error.message : String(error);
  }

  /** @param read changes and objects of the followed stores */
  report(read: number, waiting: number): PassReport {
    return { ...this.#report, read: this.#report.read + read, waiting };
  }

  #leave(pieces: number): void {
    this.#report.later += pieces;
    this.leave();
  }
}
