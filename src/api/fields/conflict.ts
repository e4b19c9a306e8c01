/** The 409 of an apply that changes what others own (apimachinery pkg/util/managedfields/internal/conflict.go). */
import { boundedStatus, cutValue } from "../meta/bounded-status";
import type { Status } from "../meta/status";
import { compareTexts, type Manager, type Managers } from "./managed-fields";
import { type PathElement, pathText } from "./path-element";
import type { PathSet } from "./path-set";

/** One field of one manager. */
export interface Conflict {
  identity: string;
  manager: Manager;
  path: readonly PathElement[];
}

/** Conflicts that are written out: more than one Status has room for. */
const REPORTED_MAX = 1_000;

/** In the order in which they are reported: by manager, then by path. */
export function conflictsOf(lost: ReadonlyMap<string, PathSet>, managers: Managers): Conflict[] {
  const conflicts: Conflict[] = [];
  for (const identity of [...lost.keys()].sort(compareTexts)) {
    const manager = managers.get(identity);
    if (!manager) continue;
    for (const path of lost.get(identity)?.paths() ?? []) conflicts.push({ identity, manager, path });
  }
  return conflicts;
}

/** `"m"`, `"m" using v1`, `"m" with subresource "status" using v1`. Names are cut: each conflict repeats them. */
function managerText({ manager, subresource, operation, apiVersion }: Manager): string {
  const named = quoted(manager) + (subresource ? ` with subresource ${quoted(subresource)}` : "");
  return operation === "Update" ? `${named} using ${apiVersion}` : named;
}

function quoted(name: string): string {
  return JSON.stringify(cutValue(name));
}

export function conflictStatus(conflicts: readonly Conflict[]): Status {
  const reported = conflicts.slice(0, REPORTED_MAX);
  const causes = reported.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${managerText(manager)}`,
    field: pathText(path),
  }));
  return boundedStatus({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: messageOf(reported, conflicts.length),
    reason: "Conflict",
    details: { causes },
    code: 409,
  });
}

function messageOf(conflicts: readonly Conflict[], count: number): string {
  const [only] = conflicts;
  if (only && count === 1) {
    return `Apply failed with 1 conflict: conflict with ${managerText(only.manager)}: ${pathText(only.path)}`;
  }
  const lines: string[] = [];
  let current = "";
  for (const { identity, manager, path } of conflicts) {
    if (identity !== current) lines.push(`conflicts with ${managerText(manager)}:`);
    current = identity;
    lines.push(`- ${pathText(path)}`);
  }
  return `Apply failed with ${count} conflicts: ${lines.join("\n")}`;
}
