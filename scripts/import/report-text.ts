/** The report of an import for people. */
import type { ImportFinding } from "../../src/tools/import/report";
import type { ImportReport } from "./run";

/** Findings of one cause that are listed one by one. */
const LISTED_MAX = 3;
const ADDRESS = /\b(?:\d{1,3}\.){3}\d{1,3}\b|\b[0-9a-f]{1,4}:[0-9a-f:]*/i;

export function reportText(report: ImportReport): string {
  const { dryRun, created, present, conflicts, notices } = report;
  const lines = [
    `${dryRun ? "Would create" : "Created"} ${String(created.length)}: ${byKind(created)}`,
    `Already there: ${String(present.length)}: ${byKind(present)}`,
  ];
  if (report.statusesRestored.length > 0)
    lines.push(`${dryRun ? "Would restore" : "Restored"} the status of ${byKind(report.statusesRestored)}`);
  if (notices.length > 0) lines.push("", `Notices: ${String(notices.length)}`, ...notices.map(line));
  lines.push("", conflicts.length === 0 ? "No conflicts." : `Conflicts: ${String(conflicts.length)}`, ...conflictLines(conflicts));
  if (dryRun) lines.push("", "Nothing was changed: this was a dry run.");
  return lines.join("\n");
}

/** Objects out of range have one cause, and one line when they are many. `--json` has each. */
function conflictLines(conflicts: readonly ImportFinding[]): string[] {
  const outside = conflicts.filter(({ reason }) => reason === "OutOfRange");
  if (outside.length <= LISTED_MAX) return conflicts.map(line);
  const named = outside.flatMap(({ message }) => ADDRESS.exec(message)?.[0] ?? []);
  const [first = ""] = named;
  return [
    `  OutOfRange: ${String(outside.length)} objects have addresses (${first}, …) that no ServiceCIDR gives out; create a ServiceCIDR with their range and ` +
      "import again, or begin a new server with --var SERVICE_CLUSTER_IP_RANGE (docs/import.md; --json names each object)",
    ...conflicts.filter(({ reason }) => reason !== "OutOfRange").map(line),
  ];
}

function line({ object, reason, message }: ImportFinding): string {
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
