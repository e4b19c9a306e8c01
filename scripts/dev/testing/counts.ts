/** What the steps of a test run answer. */

export interface Counts {
  passed: number;
  failed: number;
  /** The failures, a line each. */
  failures: string[];
  /** The test files that ran, where the step runs some. */
  files?: TimedFile[];
}

export interface TimedFile {
  /** path below the project's root */
  path: string;
  ms: number;
}

export const onePassed: Readonly<Counts> = { passed: 1, failed: 0, failures: [] };

export function oneFailed(what: string): Counts {
  return { passed: 0, failed: 1, failures: [what] };
}

/** The sums over all steps, and all their lines. */
export function sumOf(steps: readonly Counts[]): Required<Counts> {
  return {
    passed: steps.reduce((sum, step) => sum + step.passed, 0),
    failed: steps.reduce((sum, step) => sum + step.failed, 0),
    failures: steps.flatMap((step) => step.failures),
    files: steps.flatMap((step) => step.files ?? []),
  };
}

/** The files that took longest, the longest first. */
export function slowest(files: readonly TimedFile[], count: number): TimedFile[] {
  return files.toSorted((a, b) => b.ms - a.ms).slice(0, count);
}
