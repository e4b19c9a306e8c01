import { describe } from "vitest";
import type { RowName } from "./upstream-rows";

/** The tests that show a row of upstream-rows.ts; docs/compatibility.md finds them by this call. */
export function upstreamRow(name: RowName, tests: () => void): void {
  describe(name, tests);
}
