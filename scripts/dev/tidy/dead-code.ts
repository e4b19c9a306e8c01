/** Exports that nobody imports, files that nobody reaches. */
import type { Source, Sources } from "../sources/read";

/** Files that a tool or a command starts, so that no import needs to reach them. */
const entries =
  /^(src\/worker\/index|src\/clients\/[\w-]+\/index|src\/globals\.d|scripts\/testing\/index|scripts\/(commands|dev)\/[\w-]+|scripts\/dev\/(bench\/load-processes|simulate)\/[\w-]+-process|test\/setup|test\/support\/server\/(shared-servers|resting-connections)|test\/support\/examples\/[\w-]+|test\/support\/objects\/[\w-]+-worker)\.ts$|\.test\.ts$|\.d\.ts$/;

export function deadCode(sources: Sources): string[] {
  const used = new Map<string, Set<string>>();
  for (const { imports } of sources.values()) {
    for (const [target, names] of imports) used.set(target, new Set([...(used.get(target) ?? []), ...names]));
  }
  return [...sources.values()].flatMap((source) => (entries.test(source.path) ? [] : deadIn(source, used.get(source.path))));
}

function deadIn({ path, text, exports }: Source, used: ReadonlySet<string> | undefined): string[] {
  if (!used) return [`${path} is reached by no import`];
  if (used.has("*")) return [];
  return exports.flatMap(({ name, line, isType }) => {
    if (used.has(name)) return [];
    const usedHere = text.split(new RegExp(`\\b${name}\\b`)).length > 2;
    return isType && usedHere ? [] : [`${path}:${String(line)} exports ${name}, which nobody imports`];
  });
}
