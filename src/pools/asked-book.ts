/** How writes ask the book: within a time, and past what lost writes have left in the way. */
import type { PoolAnswer, PoolBookRpc, PoolQuestion } from "../api/rpc/pool-book";
import { RPC_TIMEOUT_MS } from "../core/base/limits";
import type { Clock } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";

export interface AskedBookPorts {
  clock: Pick<Clock, "after">;
  /** makes a stub for one call */
  book(): PoolBookRpc;
}

/** Pools that one write has the book forget. They stay forgotten, so a client that tries again gets on. */
const FORGOTTEN_MAX = 16;

/** @throws what the call rejects with, a TimeoutError, or an Error where the book is of a release that does not know the question */
export async function askBook({ clock, book }: AskedBookPorts, question: PoolQuestion): Promise<PoolAnswer> {
  const answer = (await withTimeout(clock, RPC_TIMEOUT_MS, book().askPools(question))) as PoolAnswer | undefined;
  // The book of an older release answers what it does not know with nothing.
  if (answer === undefined) throw new Error(`the book of pools does not know the question ${question.does}`);
  return answer;
}

/** A pool that never came to be, or is gone, is in nobody's way: the book forgets it, and is asked again. */
export async function askPastLost(ports: AskedBookPorts, question: PoolQuestion): Promise<PoolAnswer> {
  for (let forgotten = 0; forgotten < FORGOTTEN_MAX; forgotten++) {
    const answer = await askBook(ports, question);
    if ((answer.kind !== "overlaps" && answer.kind !== "moves") || answer.isUnderWay) return answer;
    // Addresses of a pool that is gone stay in the way.
    if ((await askBook(ports, { does: "forget", pool: answer.pool })).kind !== "done") return answer;
  }
  return { kind: "later" };
}
