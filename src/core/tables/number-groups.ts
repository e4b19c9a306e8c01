/**
 * Small numbers in groups, each number in one group at most: twenty bytes for each. A group has the hash of a text for a name, so two texts may share one:
 * who asks looks at what the numbers stand for.
 */
import { grown } from "./grown";

/** in `#next`: the number is in no group, or is the last one of its chain */
const NOWHERE = 0;
const LAST = 1;

export class NumberGroups {
  /** number + 1, by the low bits of the group: where a chain begins */
  #heads = new Uint32Array(16);
  /** by number: the next one of the chain, + 2 */
  #next = new Uint32Array(16);
  /** the one before, + 1; 0 = it is the first one */
  #before = new Uint32Array(16);
  #groups = new Uint32Array(16);
  #size = 0;

  /** @param group 32 bits; the number leaves the group where it was */
  add(group: number, number: number): void {
    this.delete(number);
    this.#next = grown(this.#next, number + 1);
    this.#before = grown(this.#before, number + 1);
    this.#groups = grown(this.#groups, number + 1);
    this.#groups[number] = group;
    this.#size++;
    if (this.#size > this.#heads.length) this.#makeHeads(this.#heads.length * 2, number);
    this.#link(number);
  }

  delete(number: number): void {
    const next = this.#next[number] ?? NOWHERE;
    if (next === NOWHERE) return;
    const before = this.#before[number] ?? 0;
    if (before > 0) this.#next[before - 1] = next;
    else this.#heads[this.#headOf(number)] = next - LAST;
    if (next > LAST) this.#before[next - 2] = before;
    this.#next[number] = NOWHERE;
    this.#size--;
  }

  /** The numbers of a group, ascending. */
  of(group: number): number[] {
    return [...this.#chain(group)].sort((a, b) => a - b);
  }

  /** undefined = the number is in no group */
  groupOf(number: number): number | undefined {
    return (this.#next[number] ?? NOWHERE) === NOWHERE ? undefined : this.#groups[number];
  }

  /** How many numbers the group has, counted no further than `max`. */
  sizeUpTo(group: number, max: number): number {
    const chain = this.#chain(group);
    let size = 0;
    while (size < max && !chain.next().done) size++;
    return size;
  }

  clear(): void {
    this.#heads = new Uint32Array(16);
    this.#next = new Uint32Array(16);
    this.#size = 0;
  }

  /** The numbers of a group. */
  *#chain(group: number): IterableIterator<number> {
    let at = this.#heads[group & (this.#heads.length - 1)] ?? 0;
    while (at > 0) {
      if (this.#groups[at - 1] === group) yield at - 1;
      at = (this.#next[at - 1] ?? LAST) - LAST;
    }
  }

  #headOf(number: number): number {
    return (this.#groups[number] ?? 0) & (this.#heads.length - 1);
  }

  #link(number: number): void {
    const head = this.#headOf(number);
    const first = this.#heads[head] ?? 0;
    this.#heads[head] = number + 1;
    this.#before[number] = 0;
    this.#next[number] = first + LAST;
    if (first > 0) this.#before[first - 1] = number + 1;
  }

  /** `except`: a number that is not linked yet */
  #makeHeads(length: number, except: number): void {
    this.#heads = new Uint32Array(length);
    for (let number = 0; number < this.#next.length; number++) {
      if (number !== except && this.#next[number] !== NOWHERE) this.#link(number);
    }
  }
}
