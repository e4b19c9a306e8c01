/** The packages of package-lock.json that `npm start` installs, those of a deployment among them, and what is wrong with them. */
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
/** Licences that ask nothing of those who run a package next to their own code. */
const LICENCES_BESIDE: ReadonlySet<string> = new Set([...LICENCES, "LGPL-3.0-or-later", "CC0-1.0"]);
const MODULES = "node_modules/";
const NAME = /^(@[^/]+\/)?[^/]+/;

export function lockedPackages(path: string): Locked[] {
  const { packages } = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, LockedPackage> };
  return Object.entries(packages)
    .filter(([where, { dev, devOptional }]) => where !== "" && !dev && !devOptional)
    .map(([where, { version = "", license = "", integrity = "" }]) => {
      return { name: nameOf(where), version, license, integrity };
    });
}

/** The name of the package that stands, or has a file, at this path. */
export function nameOf(path: string): string {
  return NAME.exec(path.slice(path.lastIndexOf(MODULES) + MODULES.length))?.[0] ?? "";
}

/** One line for each package with a licence that is not known, or without a strong hash. Of code in a bundle (`deployed`) fewer licences are good. */
export function lockFindings(packages: readonly Locked[], deployed: ReadonlySet<string>): string[] {
  const isGood = (name: string, license: string): boolean =>
    license.split(" AND ").every((one) => (deployed.has(name) ? LICENCES : LICENCES_BESIDE).has(one));
  return packages.flatMap(({ name, version, license, integrity }) => [
    ...(isGood(name, license) ? [] : [`${name} ${version}: licence ${license || "unknown"}`]),
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
