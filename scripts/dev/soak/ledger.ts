/**
 * All changes of one collection, as watchers have told them. The sum of what they saw is the measure. The next
 * look tells who lacks a change that another one has seen, and which acknowledged writes nobody has seen.
 */

/** A change as one watcher sees it. */
export interface SeenChange {
  type: "ADDED" | "MODIFIED" | "DELETED";
  name: string;
  uid: string;
  /** resourceVersion */
  revision: number;
}

/** Which objects a watcher asks for; they never change theirs. */
export interface Selection {
  /** "" = all */
  labelSelector: string;
  matches(name: string): boolean;
}

export const EVERYTHING: Selection = { labelSelector: "", matches: () => true };

/** Objects that were told at once, whatever their order. */
export class Objects {
  count = 0;
  #sum = 0;
  #mixed = 0;

  /** `revision` of the object, which no other has */
  add(revision: number): void {
    this.count++;
    this.#sum += revision;
    this.#mixed ^= Math.imul(revision, 0x9e3779b1);
  }

  remove(revision: number): void {
    this.count--;
    this.#sum -= revision;
    this.#mixed ^= Math.imul(revision, 0x9e3779b1);
  }

  equals(other: Objects): boolean {
    return this.count === other.count && this.#sum === other.#sum && this.#mixed === other.#mixed;
  }
}

/** What a watcher has from one start on, up to now or to its end. */
export interface Stretch {
  /** says which watcher it is */
  readonly watcher: string;
  readonly selection: Selection;
  /** It has everything after this revision */
  after: number;
  /** up to this one. */
  through: number;
  /** changes in between */
  count: number;
}

/** The objects that a watcher was told before its first change. */
export interface ToldStart {
  watcher: string;
  selection: Selection;
  revision: number;
  objects: Objects;
}

export class Ledger {
  readonly problems: string[] = [];
  /** of changes after `#begun`, by revision */
  #changes = new Map<number, SeenChange>();
  /** objects at `#begun`: uid -> revision and name */
  #there = new Map<string, { revision: number; name: string }>();
  #begun: number;
  /** the newest revision that a watcher of everything has reached */
  #reached: number;
  /** `revision uid` of creates up to `#begun`: the answer to one may be lost, and asked for behind a look */
  readonly #played = new Set<string>();
  /** acknowledged creates that no look has compared yet, by revision */
  #created = new Map<number, { name: string; uid: string }>();
  /** uids of acknowledged deletions that no look has played yet */
  readonly #deleted = new Set<string>();
  #starts: ToldStart[] = [];
  /** watchers that have asked for all objects, and the revision that others had reached then */
  readonly #beginning = new Map<string, number>();
  /** of watchers that have begun anew since */
  #ended: Stretch[] = [];

  /** `objects`: those of a list at this revision, before any watcher */
  constructor(
    readonly collection: string,
    revision: number,
    objects: readonly { name: string; uid: string; revision: number }[],
  ) {
    this.#begun = this.#reached = revision;
    for (const { name, uid, revision: at } of objects) this.#there.set(uid, { revision: at, name });
  }

  /** How many changes were told, each once. */
  changes = 0;

  /** A watcher was told the change. */
  note(watcher: string, change: SeenChange): void {
    const known = this.#changes.get(change.revision);
    if (!known) {
      if (change.revision <= this.#begun) return this.#wrong(`${watcher} was told ${textOf(change)}, and nobody else`);
      this.#changes.set(change.revision, change);
      this.changes++;
    } else if (textOf(known) !== textOf(change)) this.#wrong(`${watcher} was told ${textOf(change)}, others ${textOf(known)}`);
  }

  /** A watcher of everything has all changes up to this revision. */
  reached(revision: number): void {
    if (revision > this.#reached) this.#reached = revision;
  }

  /** A watcher asks for all objects: it has to be told those of this moment, or of a later one. */
  begins(watcher: string): void {
    this.#beginning.set(watcher, this.#reached);
  }

  told(start: ToldStart): void {
    const since = this.#beginning.get(start.watcher) ?? this.#begun;
    this.#beginning.delete(start.watcher);
    if (start.revision >= since) this.#starts.push(start);
    else this.#wrong(`${start.watcher} began at ${String(start.revision)}, where others had everything up to ${String(since)} before`);
  }

  ended(stretch: Stretch): void {
    this.#ended.push(stretch);
  }

  /** A create was acknowledged. */
  created(revision: number, object: { name: string; uid: string }): void {
    if (revision > this.#begun) this.#created.set(revision, object);
    else if (!this.#played.has(`${String(revision)} ${object.uid}`)) {
      this.#wrong(`the create of ${object.name} at ${String(revision)} was acknowledged late, and watchers were told nothing`);
    }
  }

  /** A deletion was acknowledged. */
  deleted(uid: string): void {
    this.#deleted.add(uid);
  }

  /** Whether nobody has a change that this stretch lacks. */
  isComplete({ selection, after, count }: Stretch): boolean {
    let wanted = 0;
    for (const { name, revision } of this.#changes.values()) if (revision > after && selection.matches(name)) wanted++;
    return wanted === count;
  }

  /**
   * Compares what every watcher has with the sum; `stretches` are those of the watchers that go on, and begin anew where they stand. What a later look cannot
   * need is forgotten. `isLast`: everything is at rest, so nothing may be missing any more.
   */
  look(stretches: readonly Stretch[], isLast = false): void {
    const all = [...this.#changes.values()].sort((a, b) => a.revision - b.revision);
    const revisions = new Map<string, number[]>();
    const revisionsOf = ({ labelSelector, matches }: Selection): number[] => {
      let found = revisions.get(labelSelector);
      if (!found) revisions.set(labelSelector, (found = all.filter(({ name }) => matches(name)).map(({ revision }) => revision)));
      return found;
    };
    for (const stretch of [...this.#ended, ...stretches]) {
      const { watcher, selection, after, count } = stretch;
      const through = isLast && stretches.includes(stretch) ? Infinity : stretch.through;
      const those = revisionsOf(selection);
      const wanted = firstAbove(those, through) - firstAbove(those, after);
      if (wanted !== count)
        this.#wrong(`${watcher} has ${String(count)} of ${String(wanted)} changes in (${String(after)}, ${String(through)}]`);
    }
    this.#ended = [];
    for (const stretch of stretches) Object.assign(stretch, { after: stretch.through, count: 0 });
    for (const [revision, { name, uid }] of this.#created) {
      if (revision > this.#reached && !isLast) continue;
      this.#created.delete(revision);
      const change = this.#changes.get(revision);
      if (change?.uid !== uid || change.type !== "ADDED") {
        this.#wrong(
          `the create of ${name} at ${String(revision)} was acknowledged, and watchers were told ${change ? textOf(change) : "nothing"}`,
        );
      }
    }
    const kept = [this.#reached, ...stretches.map(({ after }) => after), ...this.#beginning.values()];
    this.#advance(all, isLast ? Infinity : Math.min(...kept, ...[...this.#created.keys()].map((at) => at - 1)));
    if (!isLast) return;
    for (const uid of this.#deleted) if (this.#there.has(uid)) this.#wrong(`the deletion of ${uid} was acknowledged, and nobody was told`);
  }

  /** Plays the changes up to a revision, and compares the starts on the way. */
  #advance(all: readonly SeenChange[], through: number): void {
    const due = this.#starts.filter(({ revision }) => revision <= through).sort((a, b) => a.revision - b.revision);
    this.#starts = this.#starts.filter(({ revision }) => revision > through);
    const selections = new Map<string, { selection: Selection; objects: Objects }>();
    for (const { selection } of due) {
      if (selections.has(selection.labelSelector)) continue;
      const objects = new Objects();
      for (const { name, revision } of this.#there.values()) if (selection.matches(name)) objects.add(revision);
      selections.set(selection.labelSelector, { selection, objects });
    }
    let next = 0;
    const compareBelow = (revision: number): void => {
      for (let start = due[next]; start && start.revision < revision; start = due[++next]) {
        const wanted = selections.get(start.selection.labelSelector)?.objects ?? new Objects();
        if (wanted.equals(start.objects)) continue;
        this.#wrong(
          `${start.watcher} began with ${String(start.objects.count)} objects at ${String(start.revision)}, where ${String(wanted.count)} were`,
        );
      }
    };
    for (const change of all) {
      if (change.revision > through) break;
      compareBelow(change.revision);
      this.#play(change, selections.values());
      this.#changes.delete(change.revision);
    }
    compareBelow(through + 1);
    this.#begun = Math.max(this.#begun, Math.min(through, this.#reached));
  }

  #play({ type, name, uid, revision }: SeenChange, selections: Iterable<{ selection: Selection; objects: Objects }>): void {
    const before = this.#there.get(uid);
    if (type === "ADDED") this.#played.add(`${String(revision)} ${uid}`);
    if ((type === "ADDED") === (before !== undefined))
      this.#wrong(`${type} ${name} at ${String(revision)}: it was ${before ? "" : "not "}there`);
    for (const { selection, objects } of selections) {
      if (!selection.matches(name)) continue;
      if (before) objects.remove(before.revision);
      if (type !== "DELETED") objects.add(revision);
    }
    if (type === "DELETED") {
      this.#there.delete(uid);
      this.#deleted.delete(uid);
    } else this.#there.set(uid, { revision, name });
  }

  #wrong(problem: string): void {
    this.problems.push(`${this.collection}: ${problem}`);
  }
}

function textOf({ type, name, uid, revision }: SeenChange): string {
  return `${type} ${name}@${String(revision)} (${uid})`;
}

/** The place of the first number above this one in ascending numbers. */
function firstAbove(numbers: readonly number[], bound: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? Infinity) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
