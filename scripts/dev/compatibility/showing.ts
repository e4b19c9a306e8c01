/** Which test files carry which rows of test/conformance/upstream-rows.ts, found without running them. */
import type { Sources } from "../sources/read";

/** name of a row -> paths of the files whose tests carry it, sorted; names that are no row are in here, too */
export function findShowing(sources: Sources): Map<string, string[]> {
  const tests = [...sources.values()].filter(({ path }) => path.startsWith("test/") && path.endsWith(".test.ts"));
  const found = new Map<string, string[]>();
  for (const { path, upstreamRows } of tests.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    for (const name of upstreamRows) {
      if (name === null) throw new Error(`${path}: upstreamRow needs the name of a row as a plain text`);
      const paths = found.get(name) ?? [];
      if (!paths.includes(path)) found.set(name, [...paths, path]);
    }
  }
  return found;
}
