/** What a Worker remembers of stores and their published copies, and which copy may answer (rules: list-copy.ts). */
import { EDGE_COPIES_CHARS_MAX, EDGE_READ_INTERVAL_MS, EDGE_STORES_MAX } from "../state/limits";
import type { Clock, Digest } from "../../../core/base/ports";
import { isRecent, isUsable, type ListCopy, openListCopy } from "./list-copy";
import type { SeenStore } from "./list-source";

interface KnownList {
  seen: SeenStore;
  copy: ListCopy | undefined;
  /** when KV was asked last */
  readAt: number;
}

export class EdgeLists {
  readonly #known = new Map<string, KnownList>();

  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly digest: Digest,
  ) {}

  /** Notes what a store said of itself in an answer. */
  note(name: string, seen: SeenStore): void {
    const known = this.#known.get(name);
    if (known) {
      // Answers may come in another order than their questions.
      if (seen.at >= known.seen.at) known.seen = seen;
      return;
    }
    if (this.#known.size >= EDGE_STORES_MAX) this.#known.clear();
    this.#known.set(name, { seen, copy: undefined, readAt: -Infinity });
  }

  /**
   * A copy that may answer for this store now. `read` gets the published value, null = there is none; a rejection counts as none. One request
   * at a time reads KV, and not again at once: the others go to the store.
   */
  async find(name: string, read: () => Promise<ArrayBuffer | null>): Promise<ListCopy | undefined> {
    const known = this.#known.get(name);
    if (!known) return undefined;
    const held = this.#usable(known);
    if (held) return held;
    known.copy = undefined;
    const now = this.clock.now();
    const wasJustRead = now >= known.readAt && now - known.readAt < EDGE_READ_INTERVAL_MS;
    if (wasJustRead || !isRecent(known.seen.at, now)) return undefined;
    known.readAt = now;
    const bytes = await read().catch(() => null);
    const copy = bytes && (await openListCopy(new Uint8Array(bytes), name, this.digest));
    if (!copy) return undefined;
    this.#hold(known, copy);
    return this.#usable(known);
  }

  #usable({ copy, seen }: KnownList): ListCopy | undefined {
    return copy && isUsable(copy, seen, this.clock.now()) ? copy : undefined;
  }

  /** Keeps the copy. When all copies together would take too much memory, it replaces them. */
  #hold(known: KnownList, copy: ListCopy): void {
    let chars = copy.chars;
    for (const other of this.#known.values()) chars += other.copy?.chars ?? 0;
    if (chars > EDGE_COPIES_CHARS_MAX) for (const other of this.#known.values()) other.copy = undefined;
    known.copy = copy;
  }
}
