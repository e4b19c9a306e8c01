/** `npm run sbom`: the bill of materials of what is deployed and of what `npm start` runs; with `--audit` what is known of its faults. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deployedPackages } from "../dependencies/deployed";
import { billFindings, billOf, lockedPackages, lockFindings } from "../dependencies/locked";
import { root } from "../running/root.mjs";
import { parseCommandLine, runProgram } from "../terminal/command-line";

const COMMAND = "npm run sbom";
const usage = `Usage: ${COMMAND} -- [options]

Writes dist/sbom.cdx.json: the packages that npm start installs, those of a deployment among them, in CycloneDX's form, made by npm.

  --audit             instead: asks the npm registry for known faults of these packages, of level high or worse. Where the registry has no
                      such answer, licences and hashes of package-lock.json are checked instead, and the output says so
  --help              this text

Exit code: 0 nothing is wrong, 1 something is, 2 wrong options.`;

await runProgram({
  name: "sbom",
  usage,
  parse: (args) => {
    const parsed = parseCommandLine(COMMAND, { args, options: { audit: { type: "boolean", default: false } } });
    return parsed === "help" ? "help" : parsed.values;
  },
  main: ({ audit }) => {
    const packages = lockedPackages(join(root, "package-lock.json"));
    const findings = audit ? auditFindings(packages) : writeBill(packages);
    for (const finding of findings) console.log(finding);
    return Promise.resolve(findings.length > 0 ? 1 : 0);
  },
});

function writeBill(packages: ReturnType<typeof lockedPackages>): string[] {
  const { stdout, stderr, status } = npm(["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"]);
  if (status !== 0) return [`npm sbom failed: ${stderr.trim()}`];
  const bill = billOf(stdout, packages);
  const findings = billFindings(bill, packages);
  if (findings.length > 0) return findings;
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(join(root, "dist", "sbom.cdx.json"), bill);
  console.log(`dist/sbom.cdx.json: ${String(packages.length)} packages`);
  return [];
}

function auditFindings(packages: ReturnType<typeof lockedPackages>): string[] {
  const { stdout, stderr, status } = npm(["audit", "--omit=dev", "--audit-level=high"]);
  const locked = lockFindings(packages, deployedPackages());
  if (status === 0) return locked;
  if (!stderr.includes("audit endpoint returned an error")) return [...locked, stdout.trim() || stderr.trim()];
  console.log("the registry answers no audits: licences and hashes of package-lock.json were checked instead");
  return locked;
}

function npm(args: readonly string[]): { stdout: string; stderr: string; status: number | null } {
  // `npm run --silent` would silence npm inside as well.
  return spawnSync("npm", [...args, "--loglevel=error"], { cwd: root, encoding: "utf8", shell: process.platform === "win32" });
}
