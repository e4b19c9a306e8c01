/**
 * Sets of addresses (or offsets) as lists of inclusive intervals in *normal form*: ascending, disjoint, and no two adjacent, so equal sets
 * have equal lists. Every function takes and returns normal form; `normalize` makes it.
 */
export interface Interval {
  readonly first: bigint;
  /** inclusive, >= first */
  readonly last: bigint;
}

/** Sorts intervals, and joins those that overlap or touch. */
export function normalize(intervals: readonly Interval[]): Interval[] {
  const sorted = [...intervals].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const result: Interval[] = [];
  for (const interval of sorted) {
    const previous = result.at(-1);
    if (previous === undefined || interval.first > previous.last + 1n) result.push(interval);
    else if (interval.last > previous.last) result[result.length - 1] = { first: previous.first, last: interval.last };
  }
  return result;
}

/** The common part of two intervals; undefined when there is none. */
export function overlap(a: Interval, b: Interval): Interval | undefined {
  const first = a.first > b.first ? a.first : b.first;
  const last = a.last < b.last ? a.last : b.last;
  return first <= last ? { first, last } : undefined;
}

/** The values in both sets. */
export function intersect(a: readonly Interval[], b: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  let i = 0;
  let j = 0;
  for (;;) {
    const left = a[i];
    const right = b[j];
    if (left === undefined || right === undefined) return result;
    const common = overlap(left, right);
    if (common) result.push(common);
    // The interval that ends first overlaps with nothing more; the other may.
    if (left.last < right.last) i++;
    else j++;
  }
}

/** The values of the set in each of many intervals, which are ascending and disjoint; in their order. */
export function intersectEach(a: readonly Interval[], parts: readonly Interval[]): Interval[][] {
  let start = 0;
  return parts.map((part) => {
    while ((a[start]?.last ?? part.first) < part.first) start++;
    const inside: Interval[] = [];
    for (let i = start; i < a.length; i++) {
      const common = overlap(a[i] as Interval, part);
      if (!common) break;
      inside.push(common);
    }
    return inside;
  });
}

/**
 * The values in `a` and not in `b`. `rest` is the part of an interval of `a` that no hole has cut yet:
 *
 *     rest     [------------]      [-----]        [--------]      [------]
 *     hole  [-----]              [---------]         [--]                  [--]
 *     kept                       (nothing)        [-]             (all)
 *     rest         [--------]                            [-]
 */
export function subtract(a: readonly Interval[], b: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  let j = 0;
  for (const whole of a) {
    let first = whole.first;
    for (;;) {
      const hole = b[j];
      if (hole === undefined || hole.first > whole.last) break;
      if (hole.first > first) result.push({ first, last: hole.first - 1n });
      if (hole.last >= first) first = hole.last + 1n;
      // A hole that reaches past this interval may reach into the next one.
      if (hole.last > whole.last) break;
      j++;
    }
    if (first <= whole.last) result.push({ first, last: whole.last });
  }
  return result;
}

/** The member that has the value, by binary search; `sorted` is ascending and disjoint. */
export function memberAt<T extends { readonly first: number | bigint; readonly last: number | bigint }>(
  sorted: readonly T[],
  value: T["first"],
): T | undefined {
  let low = 0;
  let high = sorted.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const member = sorted[middle];
    if (member === undefined) return undefined;
    if (value < member.first) high = middle - 1;
    else if (value > member.last) low = middle + 1;
    else return member;
  }
  return undefined;
}

/** Whether every value of the interval is in the set. */
export function containsInterval(sorted: readonly Interval[], { first, last }: Interval): boolean {
  const member = memberAt(sorted, first);
  return member !== undefined && last <= member.last;
}

/** The values of the set in one interval, found by binary search. */
export function overlapsOf(sorted: readonly Interval[], part: Interval): Interval[] {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.last ?? part.first) < part.first) low = middle + 1;
    else high = middle;
  }
  const result: Interval[] = [];
  for (let at = low; at < sorted.length; at++) {
    const common = overlap(sorted[at] as Interval, part);
    if (!common) break;
    result.push(common);
  }
  return result;
}

/** Number of values in the set. */
export function sizeOf(intervals: readonly Interval[]): bigint {
  let size = 0n;
  for (const interval of intervals) size += interval.last - interval.first + 1n;
  return size;
}
