/** The report of an import for people. */
import type { Finding } from "../../src/tools/import/report";
import type { ImportReport } from "./run";

export function reportText(report: ImportReport): string {
  const { dryRun, created, present, conflicts, notices } = report;
  const lines = [
    `${dryRun ? "Would create" : "Created"} ${String(created.length)}: ${byKind(created)}`,
    `Already there: ${String(present.length)}: ${byKind(present)}`,
  ];
  if (report.statusesRestored.length > 0)
    lines.push(`${dryRun ? "Would restore" : "Restored"} the status of ${byKind(report.statusesRestored)}`);
  if (notices.length > 0) lines.push("", `Notices: ${String(notices.length)}`, ...notices.map(line));
  lines.push("", conflicts.length === 0 ? "No conflicts." : `Conflicts: ${String(conflicts.length)}`, ...conflicts.map(line));
  if (dryRun) lines.push("", "Nothing was changed: this was a dry run.");
  return lines.join("\n");
}

function line({ object, reason, message }: Finding): string {
  return `  ${reason}: ${object} ${message}`;
}

/** `3 Service, 1 ServiceCIDR`; `none` for none. */
function byKind(labels: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const label of labels) {
    const [kind = ""] = label.split(" ");
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${String(count)} ${kind}`).join(", ") || "none";
}
