/** Comparisons for random tests, which make hundreds of thousands of them. */
import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";

/** As `expect(actual, context()).toEqual(wanted)`, which costs more than most of what is compared. */
export function expectSame<T>(actual: T, wanted: T, context: () => string): void {
  if (!isDeepStrictEqual(actual, wanted)) expect(actual, context()).toEqual(wanted);
}
