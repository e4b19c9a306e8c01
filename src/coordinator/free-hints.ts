/** Last known free counts of owners: hints for a router's draw, never a decision. They live in memory and are asked for again when old. */
import { RPC_TIMEOUT_MS } from "../base/limits";
import type { Clock } from "../base/ports";
import { withTimeout } from "../base/timeout";
import type { Topology } from "../rpc/coordinator";
import type { CoordinatorPeers } from "./ports";

type Free = Topology["free"][number];

const AGE_MAX_MS = 30_000;

export class FreeHints {
  readonly #hints = new Map<string, { free: Free; at: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly peers: CoordinatorPeers,
  ) {}

  /** The known counts of these owners; all others are forgotten. */
  of(ownerUids: readonly string[]): Free[] {
    const wanted = new Set(ownerUids);
    for (const uid of this.#hints.keys()) if (!wanted.has(uid)) this.#hints.delete(uid);
    return [...this.#hints.values()].map((hint) => hint.free);
  }

  /** What the owner has changed with its configuration: it is asked again soon, and until then counts as not known. */
  forget(ownerUid: string): void {
    this.#hints.delete(ownerUid);
  }

  /** At most `count` of these owners whose counts are old or unknown, the oldest first. */
  oldest(ownerUids: readonly string[], count: number): string[] {
    const oldAt = this.clock.now() - AGE_MAX_MS;
    const at = (uid: string): number => this.#hints.get(uid)?.at ?? -Infinity;
    return ownerUids
      .filter((uid) => at(uid) <= oldAt)
      .sort((a, b) => at(a) - at(b) || 0)
      .slice(0, count);
  }

  /**
   * Asks all of these owners now, at most `waitMs` long, and answers what came, with the epoch of the configuration under which each counted.
   * Never rejects.
   */
  async ask(ownerUids: readonly string[], waitMs: number): Promise<{ epoch: number; free: Free }[]> {
    const answers: { epoch: number; free: Free }[] = [];
    let open = true;
    const all = ownerUids.map(async (ownerUid) => {
      const answer = await this.#refresh(ownerUid).catch(() => undefined);
      if (answer && open) answers.push(answer);
    });
    await withTimeout(this.clock, waitMs, Promise.all(all)).catch(() => undefined);
    open = false;
    return answers;
  }

  /** Asks the owner; when it does not answer, the old counts stay. */
  async refresh(ownerUid: string): Promise<void> {
    await this.#refresh(ownerUid);
  }

  async #refresh(ownerUid: string): Promise<{ epoch: number; free: Free }> {
    const answer = await withTimeout(this.clock, RPC_TIMEOUT_MS, this.peers.owner(ownerUid).free());
    const free = { ownerUid, ...answer.free };
    this.#hints.set(ownerUid, { free, at: this.clock.now() });
    return { epoch: answer.epoch, free };
  }
}
