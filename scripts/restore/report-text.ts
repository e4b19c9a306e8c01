/** The report of a restore for people. */
import { reportText as checkText } from "../check/report-text";
import type { RestoreReport } from "./run";

export function reportText({ server, dryRun, objects, created, updated, revisions, shortcomings, check }: RestoreReport): string {
  const counts = Object.entries(objects).flatMap(([resource, count]) => (count > 0 ? [`${count} ${resource}`] : []));
  if (dryRun) return `${server} can be made of it: ${counts.join(", ")}\nNothing was changed: this was a dry run.`;
  return [
    `${server} was restored: ${counts.join(", ")}`,
    `Written in this run: ${created} created, ${updated} changed.`,
    ...(revisions
      ? []
      : ["This server cannot begin above the revisions that clients have seen: restart the clients that knew the old cluster."]),
    ...(shortcomings.length > 0 ? ["", `Not as in the backup: ${shortcomings.length}`] : []),
    ...shortcomings.map(({ object, message }) => `  ${object} ${message}`),
    "",
    ...(check ? [checkText(check)] : []),
  ].join("\n");
}
