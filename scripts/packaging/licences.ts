/** The licences of other packages whose code is in a bundle: each asks for its text beside copies of the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../running/root.mjs";

const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const LICENCE = /^(licen[cs]e|notice|copying)(\.|-|$)/i;

/** `inputs`: paths from the root. Throws for a package without a licence. */
export function licencesText(inputs: readonly string[]): string {
  const folders = new Set(inputs.flatMap((path) => PACKAGE.exec(path)?.[1] ?? []));
  return [...folders].sort().map(licenceOf).join("\n\n");
}

function licenceOf(folder: string): string {
  const path = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Record<string, string | undefined>;
  if (license === undefined) throw new Error(`${folder} says nothing of its licence`);
  const files = existsSync(path) ? readdirSync(path).filter((file) => LICENCE.test(file)) : [];
  const texts = files.map((file) => readFileSync(join(path, file), "utf8").trim());
  return [`==== ${name ?? folder} ${version ?? ""} (${license})`, ...texts].join("\n\n");
}
