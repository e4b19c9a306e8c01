/** The report of a check for people. */
import type { CheckFinding } from "../../src/tools/check/suspicion";
import type { CheckOutcome } from "./run";

/** Findings of one kind beyond this number are counted, not printed. A damaged cluster has thousands; `--output json` has them all. */
const LINES_MAX = 200;

export function reportText({ server, checked, wrong, notices, unchecked, repaired }: CheckOutcome): string {
  const { services, ipAddresses, serviceCIDRs, owners, rows, pools, claims } = checked;
  const counts = [`${services} Services`, `${ipAddresses} IPAddresses`, `${serviceCIDRs} ServiceCIDRs`];
  if (owners > 0) counts.push(`${owners} owners with ${rows} rows`);
  if (pools !== undefined) counts.push(`${pools} pools with ${claims ?? 0} claims`);
  return [
    `${server}: ${counts.join(", ")}`,
    ...section("Repaired", repaired ?? []),
    ...section("Notices", notices),
    ...(unchecked.length > 0 ? ["", `Not checked: ${unchecked.length}`, ...unchecked.map((line) => `  ${line}`)] : []),
    "",
    ...(wrong.length === 0
      ? [unchecked.length === 0 ? "Nothing is wrong." : "Nothing is wrong in what was checked."]
      : section("Wrong", wrong).slice(1)),
  ].join("\n");
}

function section(title: string, findings: readonly CheckFinding[]): string[] {
  if (findings.length === 0) return [];
  const lines = findings.slice(0, LINES_MAX).map(({ rule, message }) => `  ${rule === "notice" ? "" : `${rule}: `}${message}`);
  if (findings.length > LINES_MAX) lines.push(`  and ${findings.length - LINES_MAX} more`);
  return ["", `${title}: ${findings.length}`, ...lines];
}
