/**
 * The rows of a controller, of which those that came together share one: a row costs as much as a fact. Facts that are new with one save stand in one
 * page, up to bounds. A page is written again with each change of its facts, so no save writes more rows than it has changes. A fact that comes alone,
 * or is large, has a row of its own. Each fact stands in one place.
 */
import { assert } from "../../core/base/assert";
import { portionsOf } from "../../core/base/portions";
import { textHash } from "../../core/tables/text-hash";
import { PageIndex } from "./page-index";
import type { RowStorage } from "./row-storage";

/** The kind of the pages among the rows; their keys are numbers. */
export const PAGES_KIND = "pages";
/** Facts of one page: it is read and written for each of them. */
const PAGE_ENTRIES_MAX = 32;
/** Parsed pages that are held: looks at neighbours share one. */
const PAGES_HELD = 8;
/** Characters of a page. One that has grown to twice as much gives its changed facts away. */
const PAGE_MAX_CHARS = 16 * 1024;

export interface ChangedRow {
  readonly kind: string;
  readonly key: string;
  /** undefined = the row goes */
  readonly value: object | undefined;
  /** the storage has no such row */
  readonly isNew: boolean;
}

/** Who takes the facts of a kind when a start reads them. */
export interface FactTaker {
  /** Everything that was taken before is void. */
  begin(): void;
  take(key: string, value: unknown): void;
}

/** In which page facts stood and stand, by id; undefined = in none. */
type Moves = Map<string, { readonly from: number | undefined; readonly to: number | undefined }>;

type PagedFact = readonly [kind: string, key: string, value: unknown];

export class PackedRows {
  /** of facts that stand in pages; others have rows of their own */
  readonly #index = new PageIndex();
  /** the pages that were read last, the newest one last */
  readonly #held = new Map<number, readonly PagedFact[]>();
  /** what a start has read of pages and nobody took yet, by kind; undefined = it is over */
  #read: Map<string, [key: string, value: unknown][]> | undefined;
  readonly #handedOut = new Set<string>();
  #newest = 0;
  /** it is unknown whether the last save was kept */
  #isUnsure = false;

  constructor(private readonly storage: RowStorage) {}

  /** To be called once, first; again if it throws. `takers` get their kinds; the facts of others wait for `saved`. */
  load(takers: ReadonlyMap<string, FactTaker>): void {
    const read = (this.#read = new Map<string, [string, unknown][]>());
    this.#handedOut.clear();
    for (const [kind, taker] of takers) {
      taker.begin();
      for (const [key, text] of this.storage.rows(kind)) taker.take(key, JSON.parse(text));
    }
    this.#index.clear();
    this.#held.clear();
    for (const [page, entries] of this.#stored()) {
      for (const [kind, key, value] of entries) {
        this.#index.add(hashOf(kind, key), page);
        const taker = takers.get(kind);
        const ofKind = read.get(kind);
        if (taker) taker.take(key, value);
        else if (ofKind) ofKind.push([key, value]);
        else read.set(kind, [[key, value]]);
      }
    }
  }

  /** What was saved of a kind. What a start has read for it is handed out once; later the pages are read again. */
  *saved(kind: string): Iterable<[key: string, value: unknown]> {
    for (const [key, text] of this.storage.rows(kind)) yield [key, JSON.parse(text)];
    const read = this.#read?.get(kind) ?? [];
    const isHandedOut = this.#handedOut.has(kind);
    this.#handedOut.add(kind);
    this.#read?.delete(kind);
    if (this.#read && !isHandedOut) yield* read;
    else for (const [, entries] of this.#stored()) for (const [of, key, value] of entries) if (of === kind) yield [key, value];
  }

  /** What was saved of one fact; undefined = there is none. */
  get(kind: string, key: string): unknown {
    if (this.#isUnsure) this.#findPages();
    for (const page of this.#index.of(hashOf(kind, key))) {
      const found = this.#entriesOf(page).find(([of, at]) => of === kind && at === key);
      if (found) return found[2];
    }
    const text = this.storage.rowGet(kind, key);
    return text === undefined ? undefined : JSON.parse(text);
  }

  #entriesOf(page: number): readonly PagedFact[] {
    const held = this.#held.get(page);
    const entries = held ?? (JSON.parse(this.storage.rowGet(PAGES_KIND, String(page)) ?? "[]") as PagedFact[]);
    this.#held.delete(page);
    this.#held.set(page, entries);
    const [oldest] = this.#held.keys();
    if (this.#held.size > PAGES_HELD && oldest !== undefined) this.#held.delete(oldest);
    return entries;
  }

  /** By id, the pages of those facts that stand in one. Each page is read once. */
  #pagesOf(facts: Iterable<Pick<ChangedRow, "kind" | "key">>): Map<string, number> {
    const wanted = new Map<number, string[]>();
    for (const { kind, key } of facts) {
      const id = idOf(kind, key);
      for (const page of this.#index.of(textHash(id))) wanted.set(page, [...(wanted.get(page) ?? []), id]);
    }
    const found = new Map<string, number>();
    for (const [page, ids] of wanted) {
      const there = new Set(this.#entriesOf(page).map(([kind, key]) => idOf(kind, key)));
      for (const id of ids) if (there.has(id)) found.set(id, page);
    }
    return found;
  }

  /**
   * Runs in a transaction, with `others` in it, which hears whether facts of pages were written. Throws when storage does; then the same changes are to
   * come again, none of them as new, and more.
   */
  save(changes: Iterable<ChangedRow>, others: (isPaged: boolean) => void): void {
    if (this.#isUnsure) this.#findPages();
    this.#read = undefined;
    const moves: Moves = new Map();
    this.storage.transaction(() => {
      this.#isUnsure = true;
      const all = [...changes];
      const pages = this.#pagesOf(all);
      const fresh: PagedFact[] = [];
      const byPage = new Map<number, ChangedRow[]>();
      for (const change of all) {
        const { kind, key, value, isNew } = change;
        const page = pages.get(idOf(kind, key));
        if (page !== undefined) byPage.set(page, [...(byPage.get(page) ?? []), change]);
        else if (!value) this.storage.rowDelete(kind, key);
        else if (!isNew) this.storage.rowPut(kind, key, JSON.stringify(value));
        else fresh.push([kind, key, value]);
      }
      for (const [page, changed] of byPage) fresh.push(...this.#change(page, changed, moves));
      for (const entries of pagesOf(fresh)) this.#add(entries, moves);
      others([...moves.values()].some(({ to }) => to !== undefined));
    });
    this.#isUnsure = false;
    for (const [id, { from, to }] of moves) {
      if (from !== undefined) this.#held.delete(from);
      if (from === to) continue;
      const hash = textHash(id);
      if (from !== undefined) this.#index.delete(hash, from);
      if (to !== undefined) this.#index.add(hash, to);
    }
  }

  /** New facts: a page, or one alone. `moves`: takes where they stand now */
  #add(entries: readonly PagedFact[], moves: Moves): void {
    const [first] = entries;
    if (!first) return;
    const [kind, key, value] = first;
    const page = entries.length > 1 ? ++this.#newest : undefined;
    if (page === undefined) this.storage.rowPut(kind, key, JSON.stringify(value));
    else this.storage.rowPut(PAGES_KIND, String(page), JSON.stringify(entries));
    for (const [of, at] of entries) {
      const id = idOf(of, at);
      moves.set(id, { from: moves.get(id)?.from, to: page });
    }
  }

  /** Writes a page with its changes. Answers the facts that have no room in it any more. `moves`: takes those that it has no longer */
  #change(page: number, changes: readonly ChangedRow[], moves: Moves): PagedFact[] {
    const stored = this.storage.rowGet(PAGES_KIND, String(page));
    assert(stored !== undefined, "a page that has facts is stored");
    const changed = new Map(changes.map((change) => [idOf(change.kind, change.key), change.value]));
    const before = JSON.parse(stored) as PagedFact[];
    const isChanged = ([kind, key]: PagedFact): boolean => changed.has(idOf(kind, key));
    const after = before.flatMap((entry): PagedFact[] => {
      if (!isChanged(entry)) return [entry];
      const [kind, key] = entry;
      const value = changed.get(idOf(kind, key));
      moves.set(idOf(kind, key), { from: page, to: value && page });
      return value ? [[kind, key, value]] : [];
    });
    const text = JSON.stringify(after);
    const isFull = text.length > 2 * PAGE_MAX_CHARS && after.length > 1;
    const left = isFull ? before.filter((entry) => !isChanged(entry)) : after;
    if (left.length === 0) this.storage.rowDelete(PAGES_KIND, String(page));
    else this.storage.rowPut(PAGES_KIND, String(page), isFull ? JSON.stringify(left) : text);
    return isFull ? after.filter(isChanged) : [];
  }

  /** If the last save was kept, its new facts stand in pages that are not known. */
  #findPages(): void {
    this.#index.clear();
    this.#held.clear();
    for (const [page, entries] of this.#stored()) for (const [kind, key] of entries) this.#index.add(hashOf(kind, key), page);
    this.#isUnsure = false;
  }

  *#stored(): Iterable<[page: number, entries: PagedFact[]]> {
    for (const [key, text] of this.storage.rows(PAGES_KIND)) {
      this.#newest = Math.max(this.#newest, Number(key));
      yield [Number(key), JSON.parse(text) as PagedFact[]];
    }
  }
}

/** No kind has a space. */
export function idOf(kind: string, key: string): string {
  return `${kind} ${key}`;
}

function hashOf(kind: string, key: string): number {
  return textHash(idOf(kind, key));
}

function pagesOf(entries: readonly PagedFact[]): PagedFact[][] {
  const bounds = { countMax: PAGE_ENTRIES_MAX, weightMax: PAGE_MAX_CHARS };
  return portionsOf(entries, (entry) => JSON.stringify(entry).length, bounds);
}
