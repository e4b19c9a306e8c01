/**
 * Changes that left the pages of all nodes as they were, as the view has said to a poll of an isolate. Its other polls at the same place take its word,
 * and do not ask. Plain data: no request waits for another one.
 */
import { placeText, type ViewPlace } from "./page-tag";

/** Polls of many clusters wait in an isolate, each at one of few places. */
const PLACES_MAX = 1_000;

export class UnseenChanges {
  /** by cluster and place: a later one of the same pages; oldest first */
  readonly #later = new Map<string, ViewPlace>();

  note(cluster: string, from: ViewPlace, to: ViewPlace): void {
    const key = keyOf(cluster, from);
    this.#later.delete(key);
    this.#later.set(key, to);
    for (const oldest of this.#later.keys()) {
      if (this.#later.size <= PLACES_MAX) return;
      this.#later.delete(oldest);
    }
  }

  /** A later place of the same pages, which is as far as `reached`; undefined = none is known. */
  since(cluster: string, from: ViewPlace, reached: ViewPlace): ViewPlace | undefined {
    const later = this.#later.get(keyOf(cluster, from));
    return later && isAsFar(later, reached) ? later : undefined;
  }
}

function isAsFar(place: ViewPlace, reached: ViewPlace): boolean {
  return (["services", "slices"] as const).every(
    (store) => place[store].incarnation === reached[store].incarnation && place[store].revision >= reached[store].revision,
  );
}

function keyOf(cluster: string, place: ViewPlace): string {
  return `${cluster} ${placeText(place)}`;
}
