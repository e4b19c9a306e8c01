/**
 * Last known free counts of owners: hints for a router's draw, never a decision. They live in memory. Old ones are renewed seldom, because a
 * router has newer counts of every owner that has answered it once.
 */
import { inParallel } from "../../core/base/in-parallel";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { Pace, pause, REST_GENTLY } from "../../core/base/pause";
import type { Clock } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Topology } from "../rpc/topology";
import type { CoordinatorPeers } from "./coordinator-ports";

type Free = Topology["free"][number];

const AGE_MAX_MS = 10 * 60_000;
/** An owner that did not answer may have just restarted; the wait doubles with each question in a row that it leaves open. */
const ASK_AGAIN_MIN_MS = 2_000;
const ASK_AGAIN_MAX_MS = 60_000;
/** Owners asked after one look, one after the other: waking an object costs milliseconds of a thread that others may share. */
const ASKED_AFTER_LOOK = 20;
/** Owners asked side by side when a caller waits: together they take a few milliseconds of such a thread. */
const ASKED_AT_ONCE = 32;

/**
 * How long an owner may take to answer when a caller waits: a thousand objects may have to wake, and an owner that always takes seconds counts,
 * too. It is less than the caller's own timeout, so that an owner that hangs is only left out. An owner that left its last question open has less
 * time.
 */
const ANSWER_WAIT_MS = 4_000;
const SILENT_WAIT_MS = 2_000;

/** The last question to an owner. Times in ms since the epoch. */
interface Question {
  at: number;
  /** when it may be asked again */
  againAt: number;
  /** questions in a row without an answer */
  failures: number;
  isOpen: boolean;
}

export class FreeHints {
  readonly #hints = new Map<string, Free>();
  readonly #questions = new Map<string, Question>();
  #renewing: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly peers: CoordinatorPeers,
    /** called with the epoch under which an owner answered */
    private readonly heard: (ownerUid: string, epoch: number) => void = () => undefined,
  ) {}

  /** The known counts of these owners; forgets all other owners. */
  of(ownerUids: readonly string[]): Free[] {
    const wanted = new Set(ownerUids);
    for (const known of [this.#hints, this.#questions]) for (const uid of known.keys()) if (!wanted.has(uid)) known.delete(uid);
    return [...this.#hints.values()];
  }

  /** The owner's configuration changes: its count is unknown until it is asked again, which is soon. */
  forget(ownerUid: string): void {
    this.#hints.delete(ownerUid);
    this.#questions.delete(ownerUid);
  }

  /** Begins to ask some owners with unknown or old counts, those asked longest ago first, unless such a round is under way. */
  renew(ownerUids: readonly string[]): void {
    if (this.#renewing) return;
    const some = this.#oldest(ownerUids);
    if (some.length > 0) this.#renewing = this.#renew(some).finally(() => (this.#renewing = undefined));
  }

  async #renew(ownerUids: readonly string[]): Promise<void> {
    const pace = new Pace(this.clock, REST_GENTLY);
    for (const ownerUid of ownerUids) {
      await pace.rest();
      await this.#refresh(ownerUid).catch(() => undefined);
    }
  }

  #oldest(ownerUids: readonly string[]): string[] {
    const now = this.clock.now();
    const at = (uid: string): number => this.#questions.get(uid)?.at ?? -Infinity;
    return ownerUids
      .filter((uid) => (this.#questions.get(uid)?.againAt ?? now) <= now)
      .sort((a, b) => at(a) - at(b) || 0)
      .slice(0, ASKED_AFTER_LOOK);
  }

  /**
   * Asks all of these owners now and waits for them for a limited time (ANSWER_WAIT_MS). Answers the counts that came, each with the epoch of the
   * configuration under which it was made. Never rejects.
   */
  async ask(ownerUids: readonly string[]): Promise<{ epoch: number; free: Free }[]> {
    const answers: { epoch: number; free: Free }[] = [];
    const awaited = new Set(ownerUids.filter((uid) => this.#failuresOf(uid) === 0));
    let open = true;
    let nobodyAwaited: () => void = () => undefined;
    const awaitedOnes = new Promise<void>((resolve) => (nobodyAwaited = resolve));
    if (awaited.size === 0) nobodyAwaited();
    const all = inParallel(ownerUids, ASKED_AT_ONCE, async (ownerUid) => {
      if (!open) return;
      const answer = await this.#refresh(ownerUid).catch(() => undefined);
      if (answer && open) answers.push(answer);
      if (awaited.delete(ownerUid) && awaited.size === 0) nobodyAwaited();
      await pause(this.clock, 1);
    });
    const within = (waitMs: number, work: Promise<void>): Promise<void> => withTimeout(this.clock, waitMs, work).catch(() => undefined);
    await Promise.all([within(ANSWER_WAIT_MS, awaitedOnes), within(SILENT_WAIT_MS, all)]);
    open = false;
    return answers;
  }

  /**
   * Asks one owner. Without an answer its known count stays, and it is asked again before long. An answer to a question from before the owner was
   * forgotten is not kept.
   */
  async #refresh(ownerUid: string): Promise<{ epoch: number; free: Free }> {
    const at = this.clock.now();
    const question: Question = { at, againAt: at + AGE_MAX_MS, failures: this.#failuresOf(ownerUid), isOpen: true };
    this.#questions.set(ownerUid, question);
    const answer = await this.#answered(question, this.peers.owner(ownerUid).free());
    this.heard(ownerUid, answer.epoch);
    const free = { ownerUid, ...answer.free };
    if (this.#questions.get(ownerUid) === question) this.#hints.set(ownerUid, free);
    return { epoch: answer.epoch, free };
  }

  async #answered<T>(question: Question, call: Promise<T>): Promise<T> {
    try {
      const answer = await withTimeout(this.clock, RPC_TIMEOUT_MS, call);
      question.failures = 0;
      return answer;
    } catch (error) {
      question.againAt = this.clock.now() + Math.min(ASK_AGAIN_MAX_MS, ASK_AGAIN_MIN_MS * 2 ** question.failures++);
      throw error;
    } finally {
      question.isOpen = false;
    }
  }

  /** Questions in a row that the owner left open. The last one counts if it has been open for too long. */
  #failuresOf(ownerUid: string): number {
    const last = this.#questions.get(ownerUid);
    const isOverdue = last?.isOpen && this.clock.now() - last.at >= ANSWER_WAIT_MS;
    return (last?.failures ?? 0) + (isOverdue ? 1 : 0);
  }
}
