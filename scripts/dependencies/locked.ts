/** The packages of package-lock.json that a deployment holds, and what is wrong with them. */
import { readFileSync } from "node:fs";

interface LockedPackage {
  version?: string;
  license?: string;
  integrity?: string;
  dev?: boolean;
  devOptional?: boolean;
}

export interface Locked {
  name: string;
  version: string;
  license: string;
  integrity: string;
}

/** Licences that ask for nothing but their own text. */
const LICENCES: ReadonlySet<string> = new Set(["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"]);
const MODULES = "node_modules/";

export function lockedPackages(path: string): Locked[] {
  const { packages } = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, LockedPackage> };
  return Object.entries(packages)
    .filter(([where, { dev, devOptional }]) => where !== "" && !dev && !devOptional)
    .map(([where, { version = "", license = "", integrity = "" }]) => {
      return { name: where.slice(where.lastIndexOf(MODULES) + MODULES.length), version, license, integrity };
    });
}

/** One line for each package with a licence that is not known, or without a strong hash. */
export function lockFindings(packages: readonly Locked[]): string[] {
  return packages.flatMap(({ name, version, license, integrity }) => [
    ...(LICENCES.has(license) ? [] : [`${name} ${version}: licence ${license || "unknown"}`]),
    ...(integrity.startsWith("sha512-") ? [] : [`${name} ${version}: no sha512 in package-lock.json`]),
  ]);
}

interface Bill {
  bomFormat?: string;
  components?: { "bom-ref"?: string; name: string; version: string }[];
  dependencies?: { ref: string; dependsOn?: string[] }[];
}

/** npm's bill of all packages, with these alone: its own `--omit dev` also omits packages that one for development needs, too. */
export function billOf(text: string, packages: readonly Locked[]): string {
  const bill = JSON.parse(text) as Bill;
  const deployed = new Set(packages.map(({ name, version }) => `${name} ${version}`));
  const all = bill.components ?? [];
  const components = all.filter(({ name, version }) => deployed.has(`${name} ${version}`));
  const kept = new Set(components.map((component) => component["bom-ref"]));
  const left = new Set(all.map((component) => component["bom-ref"]).filter((ref) => !kept.has(ref)));
  const dependencies = (bill.dependencies ?? [])
    .filter(({ ref }) => !left.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((on) => !left.has(on)) }));
  return `${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`;
}

/** One line for each package that the bill does not name. */
export function billFindings(bill: string, packages: readonly Locked[]): string[] {
  const { bomFormat, components = [] } = JSON.parse(bill) as Bill;
  if (bomFormat !== "CycloneDX") return ["the bill is no CycloneDX document"];
  const named = new Set(components.map(({ name, version }) => `${name} ${version}`));
  return packages
    .filter(({ name, version }) => !named.has(`${name} ${version}`))
    .map(({ name, version }) => `${name} ${version}: not in the bill`);
}
