/** The environments of Python programs, made by a Python that only notes what it is asked. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { pythonEnvironment } from "../../../scripts/dev/testing/python-environment";
import { removeFolder, temporaryFolder } from "../../support/server/server";

let folder: string;
const folders: string[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  folders.push(folder);
  writeFileSync(join(folder, "version"), "Python 3.11.7");
  writeFileSync(join(folder, "requirements.txt"), "one==1");
  writeFileSync(join(folder, "asked"), "");
  const script = `#!/bin/sh
case "$*" in
  --version) cat ${folder}/version ;;
  "-m venv "*) mkdir -p "$3/bin" && cp ${folder}/python "$3/bin/python" && echo venv >> ${folder}/asked ;;
  *"--require-hashes -r ${folder}/requirements.txt") echo pip >> ${folder}/asked; test ! -e ${folder}/broken ;;
  *) exit 1 ;;
esac
`;
  writeFileSync(join(folder, "python"), script, { mode: 0o755 });
});
afterAll(() => folders.forEach(removeFolder));

function environment(): string {
  return pythonEnvironment({
    name: "tool",
    requirements: join(folder, "requirements.txt"),
    command: join(folder, "python"),
    cache: join(folder, "cache"),
  });
}

const asked = () => readFileSync(join(folder, "asked"), "utf8").trim().split("\n");

it("a whole environment: used as it is", () => {
  expect(environment()).toBe(join(folder, "cache", "tool", "bin"));
  environment();
  expect(asked()).toEqual(["venv", "pip"]);
});

it("an environment whose packages were interrupted: made anew", () => {
  writeFileSync(join(folder, "broken"), "");
  expect(environment).toThrow("Command failed");
  removeFolder(join(folder, "broken"));
  environment();
  expect(asked()).toEqual(["venv", "pip", "venv", "pip"]);
});

it.each([
  ["packages", "requirements.txt", "one==2"],
  ["Python", "version", "Python 3.12.0"],
])("an environment of other %s: made anew", (_, file, text) => {
  environment();
  writeFileSync(join(folder, file), text);
  environment();
  expect(asked()).toEqual(["venv", "pip", "venv", "pip"]);
});

it.each(["Python 3.10.9", "Python 2.7.18", "3.12"])("a command that says %s: refused", (version) => {
  writeFileSync(join(folder, "version"), version);
  expect(environment).toThrow(`Python 3.11 or newer is needed, ${join(folder, "python")} is "${version}"`);
});
