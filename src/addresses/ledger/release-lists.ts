/**
 * The outbox rows that stand for several releases: those that one turn adds share a value on disk, which goes when the last of them has. Of a release
 * that has gone before the others only memory knows. After a crash it is sent again, which changes nothing.
 */
import type { PendingRelease, StoredReleaseList } from "./release-storage";

interface List {
  id: string;
  /** how many of its releases are still pending */
  left: number;
}

export class ReleaseLists {
  readonly #byToken = new Map<string, { release: PendingRelease; list: List }>();

  constructor(lists: Iterable<StoredReleaseList>) {
    for (const list of lists) this.add(list);
  }

  /** A token that a list has already stays in that one. */
  add({ id, releases }: StoredReleaseList): void {
    const list: List = { id, left: 0 };
    for (const release of releases) {
      if (this.#byToken.has(release.token)) continue;
      this.#byToken.set(release.token, { release, list });
      list.left++;
    }
  }

  has(token: string): boolean {
    return this.#byToken.has(token);
  }

  get(token: string): PendingRelease | undefined {
    return this.#byToken.get(token)?.release;
  }

  *all(): Generator<PendingRelease> {
    for (const { release } of this.#byToken.values()) yield release;
  }

  /** The ids of the lists that have nothing left without these releases. */
  emptyWithout(releases: readonly PendingRelease[]): string[] {
    const going = new Map<List, number>();
    for (const { token } of releases) {
      const list = this.#byToken.get(token)?.list;
      if (list) going.set(list, (going.get(list) ?? 0) + 1);
    }
    return [...going].flatMap(([{ id, left }, count]) => (count === left ? [id] : []));
  }

  delete(releases: readonly PendingRelease[]): void {
    for (const { token } of releases) {
      const known = this.#byToken.get(token);
      if (!known) continue;
      known.list.left--;
      this.#byToken.delete(token);
    }
  }
}
