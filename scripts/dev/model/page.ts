/** docs/edge.md: the part that a run of `npm run model` fills. The other tables are a computed part, as those of other pages (../tidy/computed-part). */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format, resolveConfig } from "prettier";
import { withPart } from "../tidy/computed-part";
import type { Measurement } from "./measure";
import { measuredTable } from "./tables";

export const EDGE_PAGE = "docs/edge.md";
const MARKS = {
  begin: "<!-- measured by `npm run model -- --write`: do not edit below -->",
  end: "<!-- end of the measured part -->",
};

/** Writes what was measured into the page. `root`: of the project. */
export async function writeMeasured(root: string, measurement: Measurement): Promise<void> {
  const path = join(root, EDGE_PAGE);
  const page = withPart(readFileSync(path, "utf8"), { part: measuredText(measurement), path: EDGE_PAGE, marks: MARKS });
  writeFileSync(path, await format(page, { ...(await resolveConfig(path)), filepath: path }));
}

/** As Markdown. */
export function measuredText({ operations, memoryMiB }: Measurement): string {
  const memory = memoryMiB === undefined ? [] : [`After all of them the runtime had ${memoryMiB.toFixed(0)} MiB of memory.`];
  return [measuredTable(operations), ...memory].join("\n\n");
}
