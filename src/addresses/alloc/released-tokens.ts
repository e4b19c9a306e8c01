/**
 * The tokens that were released recently (rule 2). They are in memory, and on disk in lists: a drain adds its tokens to the newest list, which is one
 * row, however many they are. A token is remembered for RELEASED_TOKEN_LIFETIME_MS at least, and as long as its list gets younger ones.
 */
import { RELEASED_TOKEN_LIFETIME_MS, RELEASED_TOKENS_MAX } from "../rpc/limits";
import type { OwnerStorage, ReleasedList } from "./owner-storage";

/** Tokens of one list, unless a single drain has more: its row is written anew with each drain, and has 4 KB then. */
const LIST_TOKENS_MAX = 100;

export type ReleasedStorage = Pick<OwnerStorage, "releasedLists" | "releasedSave" | "releasedDelete" | "releasedClear">;

export class ReleasedTokens {
  /** oldest first */
  #lists: ReleasedList[];
  /** the newest list of each token */
  readonly #listOf = new Map<string, ReleasedList>();
  /** of the drain under way */
  readonly #fresh = new Set<string>();

  constructor(private readonly storage: ReleasedStorage) {
    this.#lists = [...storage.releasedLists()];
    for (const list of this.#lists) for (const token of list.tokens) this.#listOf.set(token, list);
  }

  has(token: string, nowMs: number): boolean {
    return this.#fresh.has(token) || (this.#listOf.get(token)?.expiresMs ?? 0) > nowMs;
  }

  /** Remembers the token; on disk with the next `save`. A repeat prolongs it. */
  add(token: string): void {
    this.#fresh.add(token);
  }

  /** Writes what the drain has added, and forgets what has expired; in the drain's transaction, after whose loss memory is read again. */
  save(nowMs: number): void {
    if (this.#fresh.size === 0) return;
    this.#forget((list) => list.expiresMs <= nowMs);
    const last = this.#lists.at(-1);
    const isOpen = last !== undefined && last.tokens.length + this.#fresh.size <= LIST_TOKENS_MAX;
    const list: ReleasedList = isOpen ? last : { id: (last?.id ?? 0) + 1, expiresMs: 0, tokens: [] };
    if (!isOpen) this.#lists.push(list);
    list.expiresMs = Math.max(list.expiresMs, nowMs + RELEASED_TOKEN_LIFETIME_MS);
    for (const token of this.#fresh) {
      list.tokens.push(token);
      this.#listOf.set(token, list);
    }
    this.#fresh.clear();
    this.storage.releasedSave(list);
    this.#forget(() => this.#listOf.size > RELEASED_TOKENS_MAX && this.#lists.length > 1);
  }

  clear(): void {
    this.storage.releasedClear();
    this.#lists = [];
    this.#listOf.clear();
    this.#fresh.clear();
  }

  /** Forgets the oldest lists as long as they are to go. */
  #forget(isToGo: (list: ReleasedList) => boolean): void {
    for (let oldest = this.#lists[0]; oldest !== undefined && isToGo(oldest); oldest = this.#lists[0]) {
      this.#lists.shift();
      this.storage.releasedDelete(oldest.id);
      for (const token of oldest.tokens) if (this.#listOf.get(token) === oldest) this.#listOf.delete(token);
    }
  }
}
