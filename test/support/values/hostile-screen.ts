/** From what bodies cost in small to those that are worth a measure in full. */
import type { HostileBody } from "./hostile-bodies";

/** Of a body, what is screened. */
export const SMALL = 1 / 256;
export const LARGE = 1 / 64;

export interface Screened {
  body: HostileBody;
  what: string;
  step: string;
  /** of the share SMALL of the body */
  smallMs: number;
  /** of the share LARGE */
  largeMs: number;
}

/** The worst of all that are measured in full, and as many of those that grow faster than their size. */
const WORST = 40;
/** The worst of each step. */
const WORST_OF_STEP = 4;
/** Below it, the clock and the collector are more than the work. */
const TELLING_MS = 2;
/** No turn takes less than the clock shows. */
const CLOCK_MS = 0.1;
/** In proportion to the size, the time grows as the size; to its square, by the square. Between them is the power of three halves. */
const GROWTH_MAX = (LARGE / SMALL) ** 1.5;

/** Whether the cost of a turn grows faster than its body. */
export function growsFaster({ smallMs, largeMs }: Pick<Screened, "smallMs" | "largeMs">): boolean {
  return largeMs > TELLING_MS && largeMs > GROWTH_MAX * smallMs;
}

/** What the whole body may cost: from LARGE on it grows as it did from SMALL to LARGE. */
export function predictedMs(screened: Pick<Screened, "smallMs" | "largeMs">): number {
  const { smallMs, largeMs } = screened;
  const power = growsFaster(screened) ? Math.log(largeMs / Math.max(smallMs, CLOCK_MS)) / Math.log(LARGE / SMALL) : 1;
  return largeMs * (1 / LARGE) ** power;
}

/**
 * The steps to measure in full, by body: the worst of each kind and encoding, and of each form and encoding; some of each step; those that grow faster
 * than their size; and the worst of all. None that may cost less than `leastMs`.
 */
export function worstOf(all: readonly Screened[], leastMs: number): Map<HostileBody, Set<string>> {
  const sorted = all
    .map((screened) => ({ ...screened, predicted: predictedMs(screened) }))
    .filter(({ predicted }) => predicted >= leastMs)
    .sort((a, b) => b.predicted - a.predicted);
  const chosen = new Map<HostileBody, Set<string>>();
  const counts = new Map<string, number>();
  const isAmong = (most: number, group: string): boolean => {
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    return count <= most;
  };
  for (const screened of sorted) {
    const { body, step } = screened;
    const reasons = [
      isAmong(1, groupOf(body)),
      isAmong(WORST_OF_STEP, step),
      growsFaster(screened) && isAmong(WORST, "growing"),
      isAmong(WORST, "all"),
    ];
    if (reasons.includes(true)) chosen.set(body, (chosen.get(body) ?? new Set()).add(step));
  }
  return chosen;
}

function groupOf({ name, expected, type, place }: HostileBody): string {
  if (place !== undefined) return `${expected.kind} ${type}`;
  return name.slice(expected.kind.length);
}
