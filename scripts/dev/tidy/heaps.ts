/** Folders with too many files of their own: what has more has a subject inside that wants a name. */
import { dirname } from "node:path/posix";

const FILES_MAX = 25;
const TREES = /^(src|durable-objects|scripts|test)\//;

/** One finding for each folder of the project's code. `paths` are below the project's root. */
export function heaps(paths: Iterable<string>): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) if (TREES.test(path)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts].flatMap(([folder, count]) =>
    count > FILES_MAX ? [`${folder} has ${String(count)} files of its own, ${String(FILES_MAX)} are the most`] : [],
  );
}
