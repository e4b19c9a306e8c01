/** Where tests stand, and marks of work that is not finished. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Text } from "../sources/kept-facts";

/** One finding for each line with a mark of unfinished work, or with a test that is switched off or on alone. */
export function unfinished({ path, text }: Text): string[] {
  if (path === "scripts/dev/tidy/test-files.ts") return [];
  return text.split("\n").flatMap((line, index) => {
    const at = `${path}:${String(index + 1)}`;
    return [
      ...(/\b(TODO|FIXME|XXX|HACK)\b/.test(line) ? [`${at} marks unfinished work`] : []),
      ...(/\b(it|test|describe)\.(skip|skipIf|runIf|only|todo)\b/.test(line) ? [`${at} switches tests off`] : []),
    ];
  });
}

/** test/unit/<path>.test.ts tests src/<path>.ts; a long one is split by behaviour: <path>-<behaviour>.test.ts. */
export function misplacedTest(root: string, { path }: Text): string[] {
  const match = /^test\/unit\/(.*\/)?([^/]+)\.test\.ts$/.exec(path);
  if (!match) return [];
  const [, folder = "", name = ""] = match;
  const words = name.split(/[-.]/);
  const subjects = words.map((_, i) => words.slice(0, i + 1).join("-"));
  if (subjects.some((subject) => existsSync(join(root, "src", folder, `${subject}.ts`)))) return [];
  return [`${path} tests no file: there is no src/${folder}${name}.ts`];
}
