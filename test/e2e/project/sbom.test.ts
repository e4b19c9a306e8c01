/** The bill of materials, and the checks of the packages that a deployment holds. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { deployedPackages } from "../../../scripts/dependencies/deployed";
import { billFindings, lockedPackages, lockFindings } from "../../../scripts/dependencies/locked";
import { runProgramHere } from "../../support/server/program";
import { root } from "../../../scripts/running/root.mjs";

const packages = lockedPackages(join(root, "package-lock.json"));

it("npm run sbom: a CycloneDX document that names every package of a deployment", async () => {
  const { code } = await runProgramHere("sbom", []);
  expect(code).toBe(0);
  const text = readFileSync(join(root, "dist/sbom.cdx.json"), "utf8");
  const { components } = JSON.parse(text) as { components: { name: string }[] };
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  expect(components.map(({ name }) => name).sort()).toEqual(expect.arrayContaining(Object.keys(dependencies)));
  expect(billFindings(text, packages)).toEqual([]);
});

it("a package that the bill does not name: told", () => {
  const [one] = packages;
  expect(billFindings('{"bomFormat":"CycloneDX","components":[]}', packages.slice(0, 1))).toEqual([
    `${one?.name ?? ""} ${one?.version ?? ""}: not in the bill`,
  ]);
  expect(billFindings("{}", [])).toEqual(["the bill is no CycloneDX document"]);
});

it("packages of package-lock.json: known licences and strong hashes", () => {
  expect(lockFindings(packages, deployedPackages())).toEqual([]);
  expect(lockFindings([{ name: "a", version: "1", license: "", integrity: "sha1-x" }], new Set())).toEqual([
    "a 1: licence unknown",
    "a 1: no sha512 in package-lock.json",
  ]);
});

it("a licence that asks for more: good beside the code, not in the bundle of a deployment", () => {
  const one = { name: "a", version: "1", license: "Apache-2.0 AND LGPL-3.0-or-later", integrity: "sha512-x" };
  expect(lockFindings([one], new Set(["b"]))).toEqual([]);
  expect(lockFindings([one], new Set(["a"]))).toEqual(["a 1: licence Apache-2.0 AND LGPL-3.0-or-later"]);
});

it("the audit: looks at what npm start runs, and knows what is deployed", () => {
  expect(packages.map(({ name }) => name)).toEqual(
    expect.arrayContaining(["miniflare", "workerd", "@cloudflare/workerd-linux-64", "undici", "esbuild"]),
  );
  expect(packages.map(({ name }) => name)).not.toContain("wrangler");
  expect([...deployedPackages()].sort()).toEqual(["fast-json-patch", "hono", "ipaddr.js", "jose", "yaml"]);
});
