/**
 * Counts tests as their files end and writes the sums to the file that TEST_PROGRESS names. The runtime of the object tests now and then does
 * not go away when all of them have ended, and then vitest itself never reports.
 */
import { renameSync, writeFileSync } from "node:fs";
import type { Reporter, TestModule, TestSpecification } from "vitest/node";

export interface Progress {
  /** files that have not ended */
  left: number;
  passed: number;
  failed: number;
}

export default class ProgressReporter implements Reporter {
  readonly #progress: Progress = { left: 0, passed: 0, failed: 0 };

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#progress.left = specifications.length;
  }

  onTestModuleEnd(module: TestModule): void {
    this.#progress.left--;
    for (const test of module.children.allTests()) {
      if (test.result().state === "passed") this.#progress.passed++;
      else this.#progress.failed++;
    }
    this.#progress.failed += module.errors().length;
    const path = process.env.TEST_PROGRESS;
    if (!path) return;
    writeFileSync(`${path}.new`, JSON.stringify(this.#progress));
    renameSync(`${path}.new`, path);
  }
}
