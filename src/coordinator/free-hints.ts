/** Last known free counts of owners: hints for a router's draw, never a decision. They live in memory and are asked for again when old. */
import type { Clock } from "../base/ports";
import type { Topology } from "../rpc/coordinator";
import { withTimeout } from "./context";
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

  isOld(ownerUid: string): boolean {
    return (this.#hints.get(ownerUid)?.at ?? -Infinity) + AGE_MAX_MS <= this.clock.now();
  }

  /** Asks the owner; when it does not answer, the old counts stay. */
  async refresh(ownerUid: string): Promise<void> {
    const { free } = await withTimeout(this.clock, this.peers.owner(ownerUid).free());
    this.#hints.set(ownerUid, { free: { ownerUid, ...free }, at: this.clock.now() });
  }
}
