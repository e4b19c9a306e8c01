/** The order of test files: those that take longest begin first, so that the others fill the time beside them. */
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from "vitest/node";

/** Vitest's order, but `longest` comes first, in its order: ends of paths without `.test.ts`. Vitest alone goes by the lengths of files in a clean clone. */
export function longestFirst(longest: readonly string[]): TestSequencerConstructor {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sorted = await super.sort(files);
      const first = longest.flatMap((name) => sorted.filter(({ moduleId }) => moduleId.endsWith(`/${name}.test.ts`)));
      return [...first, ...sorted.filter((file) => !first.includes(file))];
    }
  };
}
