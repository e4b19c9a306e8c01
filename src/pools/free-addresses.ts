/**
 * Which addresses of one pool are free. The lowest one is next, whatever came before. What lies below `#next` is taken or released, so neither a pick nor a
 * release looks at the addresses between.
 */
import { type Interval, memberAt, sizeOf } from "../core/net/interval";

/** no key of an object */
const BARRED = "";
/** So many refusals are no accident: nothing is proposed until they are let go. */
const BARRED_MAX = 1_024;

export class FreeAddresses {
  #gives: readonly Interval[] = [];
  /** value -> who has it */
  readonly #holders = new Map<bigint, string>();
  /** others who have it, too: the addresses of Services may be shared */
  readonly #sharers = new Map<bigint, Set<string>>();
  /** values below `#next` that were released, a heap with the lowest first; some may be taken again, or be outside */
  #released: bigint[] = [];
  /** no value from here on was picked or released; where the interval of this number begins, or in it */
  #next = 0n;
  #at = 0;
  #outside = 0;
  /** free values that are not proposed, with BARRED as their holder */
  readonly #barred = new Set<bigint>();

  /** What the pool gives out from now on. */
  give(intervals: readonly Interval[]): void {
    this.unbar();
    this.#gives = intervals;
    this.#released = [];
    this.#at = 0;
    this.#next = intervals[0]?.first ?? 0n;
    this.#outside = 0;
    for (const value of this.#holders.keys()) if (!memberAt(intervals, value)) this.#outside++;
  }

  gives(value: bigint): boolean {
    return memberAt(this.#gives, value) !== undefined;
  }

  holder(value: bigint): string | undefined {
    return this.#holders.get(value);
  }

  /** Addresses that somebody has, outside ones included. */
  get used(): number {
    return this.#holders.size - this.#barred.size;
  }

  /** Used addresses that are not given out. */
  get outside(): number {
    return this.#outside;
  }

  /** How many addresses may be proposed now. */
  get free(): bigint {
    return this.#isShut ? 0n : this.total - BigInt(this.#holders.size - this.#outside);
  }

  get hasBarred(): boolean {
    return this.#barred.size > 0;
  }

  get #isShut(): boolean {
    return this.#barred.size >= BARRED_MAX;
  }

  get total(): bigint {
    return sizeOf(this.#gives);
  }

  take(value: bigint, holder: string): void {
    const before = this.#holders.get(value);
    if (before === undefined && !this.gives(value)) this.#outside++;
    const sharers = this.#sharers.get(value);
    sharers?.delete(holder);
    if (before !== undefined && before !== BARRED && before !== holder)
      this.#sharers.set(value, (sharers ?? new Set<string>()).add(before));
    this.#holders.set(value, holder);
    this.#barred.delete(value);
  }

  /** The address stays where somebody else has it. */
  release(value: bigint, holder: string): void {
    const sharers = this.#sharers.get(value);
    const [other] = sharers ?? [];
    if (this.#holders.get(value) !== holder || other !== undefined) {
      if (!sharers?.delete(holder) && other !== undefined && this.#holders.get(value) === holder) {
        this.#holders.set(value, other);
        sharers?.delete(other);
      }
      if (sharers?.size === 0) this.#sharers.delete(value);
      return;
    }
    this.#holders.delete(value);
    if (!this.gives(value)) this.#outside--;
    else if (value < this.#next) push(this.#released, value);
  }

  /** The free address is not proposed any more, until `unbar` or another `give`. */
  bar(value: bigint): void {
    if (this.#holders.has(value) || !this.gives(value)) return;
    this.#holders.set(value, BARRED);
    this.#barred.add(value);
  }

  unbar(): void {
    for (const value of this.#barred) this.release(value, BARRED);
    this.#barred.clear();
  }

  /** The lowest free address; undefined = all are taken, or barred, or too many are barred. */
  lowest(): bigint | undefined {
    if (this.#isShut) return undefined;
    for (let value = this.#released[0]; value !== undefined; value = this.#released[0]) {
      if (!this.#holders.has(value)) return value;
      pop(this.#released);
    }
    for (let interval = this.#gives[this.#at]; interval; interval = this.#gives[this.#at]) {
      if (this.#next < interval.first) this.#next = interval.first;
      while (this.#next <= interval.last && this.#holders.has(this.#next)) this.#next++;
      if (this.#next <= interval.last) return this.#next;
      this.#at++;
    }
    return undefined;
  }
}

function push(heap: bigint[], value: bigint): void {
  let at = heap.push(value) - 1;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    if ((heap[parent] ?? 0n) <= value) break;
    heap[at] = heap[parent] ?? 0n;
    at = parent;
  }
  heap[at] = value;
}

function pop(heap: bigint[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    const left = heap[child];
    const right = heap[child + 1];
    if (left === undefined) break;
    if (right !== undefined && right < left) child++;
    const least = heap[child] ?? last;
    if (least >= last) break;
    heap[at] = least;
    at = child;
  }
  heap[at] = last;
}
