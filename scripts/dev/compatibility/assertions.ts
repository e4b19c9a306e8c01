/** The tables of upstream's assertions: each with the tests that carry its name, or the reason why none does. */
import { leaseRows, machineryRows, serviceRows } from "../../../test/conformance/upstream-rows";
import type { UpstreamRow } from "../../../test/conformance/upstream-rows";
import { row } from "./markdown";

/**
 * The tables as Markdown, and what is wrong with them: rows that have neither a test nor a reason, or both.
 *
 * @param showing name of a row -> test files that carry it
 */
export function assertions(showing: ReadonlyMap<string, readonly string[]>): { text: string; mistakes: string[] } {
  const mistakes: string[] = [];
  const table = (rows: Readonly<Record<string, UpstreamRow>>) =>
    [
      row(["upstream's test", "what must hold", "shown by"]),
      row(["---", "---", "---"]),
      ...Object.entries(rows).map(([name, { holds, open }]) => {
        const files = showing.get(name) ?? [];
        if (files.length === 0 && open === undefined) mistakes.push(`"${name}" has neither a test nor a reason`);
        if (files.length > 0 && open !== undefined) mistakes.push(`"${name}" has a test and a reason to have none`);
        return row([
          name,
          holds,
          open === undefined ? files.map((file) => `\`${file.replace(/^test\//, "")}\``).join(", ") : `no: ${open}`,
        ]);
      }),
    ].join("\n");
  const text = [
    "## Upstream's assertions",
    "",
    "What upstream's own tests hold a server to, as far as it concerns what is served here. The tests below `test/` carry the names.",
    "",
    "### API machinery",
    "",
    table(machineryRows),
    "",
    "### Services and addresses",
    "",
    table(serviceRows),
    "",
    "### Leases, Nodes and Pods without a kubelet",
    "",
    table(leaseRows),
  ].join("\n");
  return { text, mistakes };
}
