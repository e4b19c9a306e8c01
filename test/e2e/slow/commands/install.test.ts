/** Packages that a command installs before it begins. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { root } from "../../../../scripts/running/root.mjs";
import { endWithUs } from "../../../support/server/children";
import { type PackageRegistry, packageRegistry } from "../../../support/server/package-registry";
import { removeFolder, temporaryFolder } from "../../../support/server/server";

const A = { name: "a", version: "1.0.0" };
const B = { name: "b", version: "1.0.0", dev: true };

let folder: string;
let project: string;
let registry: PackageRegistry;
const inProject = (...names: string[]): string => join(project, "node_modules", ...names);
const installed = (): string[] => readdirSync(inProject()).filter((name) => !name.startsWith("."));
const versionOf = (name: string): string =>
  (JSON.parse(readFileSync(inProject(name, "package.json"), "utf8")) as { version: string }).version;

beforeEach(async () => {
  folder = temporaryFolder();
  project = join(folder, "project");
  mkdirSync(project);
  mkdirSync(join(folder, "packages"));
  registry = await packageRegistry(join(folder, "packages"));
  registry.writeProject(project, [A, B]);
});
afterEach(() => {
  registry.close();
  removeFolder(folder);
});

/** A process that makes sure that the packages of the project are there, in a process group of its own. */
function start(kind: "serving" | "development") {
  const code = `import(${JSON.stringify(pathToFileURL(join(root, "scripts", "running", "ensure-installed.mjs")).href)})
    .then((module) => module.ensureInstalled({ development: ${String(kind === "development")}, root: ${JSON.stringify(project)} }))`;
  const env = { ...process.env, npm_config_cache: join(folder, "cache"), npm_config_fetch_retries: "0", NODE_ENV: "production" };
  const child = spawn(process.execPath, ["-e", code], { cwd: folder, env, detached: true });
  const killGroup = (): void => void process.kill(-(child.pid ?? 0), "SIGKILL");
  endWithUs(child, killGroup);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, output }));
  return { ended, killGroup, output: () => output };
}
const install = (kind: "serving" | "development") => start(kind).ended;

it("serving: installs without the packages for development, which a later command adds; those that are there stay untouched", async () => {
  expect(await install("serving")).toEqual({ code: 0, output: "Installing packages (first start) ...\n" });
  expect(installed()).toEqual(["a"]);
  const before = statSync(inProject("a", "index.js"));
  expect(await install("development")).toEqual({ code: 0, output: "Installing packages (those for development) ...\n" });
  expect(installed()).toEqual(["a", "b"]);
  expect(statSync(inProject("a", "index.js"))).toMatchObject({ ino: before.ino, ctimeMs: before.ctimeMs });
});

it("packages that are there: no package is fetched, and none is needed", async () => {
  await install("development");
  const { length } = registry.fetched;
  registry.close();
  for (const kind of ["serving", "development"] as const) expect(await install(kind)).toEqual({ code: 0, output: "" });
  expect(registry.fetched).toHaveLength(length);
});

it("another version in package-lock.json: that package alone is replaced, and serving keeps those for development", async () => {
  registry.writeProject(project, [A, { name: "c", version: "1.0.0" }, B]);
  await install("development");
  const before = statSync(inProject("c", "index.js"));
  registry.writeProject(project, [{ name: "a", version: "2.0.0" }, { name: "c", version: "1.0.0" }, B]);
  expect(await install("serving")).toEqual({ code: 0, output: "Installing packages (package-lock.json has changed) ...\n" });
  expect(versionOf("a")).toBe("2.0.0");
  expect(installed()).toEqual(["a", "b", "c"]);
  expect(statSync(inProject("c", "index.js")).ino).toBe(before.ino);
  expect((await install("development")).output).toBe("");
});

it("a package that package-lock.json no longer has: is gone", async () => {
  await install("development");
  registry.writeProject(project, [{ name: "a", version: "2.0.0" }]);
  expect((await install("serving")).code).toBe(0);
  expect(installed()).toEqual(["a"]);
});

it("two first starts at once: one installs, the other one waits for it", async () => {
  const release = registry.hold();
  const first = start("serving");
  await expect.poll(() => registry.fetched.length).toBe(1);
  const second = start("serving");
  await expect.poll(second.output).toMatch(/^Waiting for process \d+, which installs packages \.\.\.\n$/);
  release();
  expect((await first.ended).code).toBe(0);
  expect(await second.ended).toEqual({ code: 0, output: second.output() });
  expect(second.output()).not.toContain("Installing");
  expect(registry.fetched).toHaveLength(1);
});

it("kill -9 of an install: packages in use stay, and the next command installs", async () => {
  await install("serving");
  const before = statSync(inProject("a", "index.js"));
  const release = registry.hold();
  const killed = start("development");
  await expect.poll(() => registry.fetched.includes("/b-1.0.0.tgz")).toBe(true);
  killed.killGroup();
  await killed.ended;
  release();
  expect(installed()).toEqual(["a"]);
  expect(existsSync(inProject(".install.lock"))).toBe(true);
  expect(await install("serving")).toEqual({ code: 0, output: "" });
  expect((await install("development")).code).toBe(0);
  expect(installed()).toEqual(["a", "b"]);
  expect(statSync(inProject("a", "index.js")).ino).toBe(before.ino);
  expect(readdirSync(inProject()).filter((name) => name.startsWith(".install"))).toEqual([]);
});

it("kill -9 before the list of packages is written: the next command installs them again, as wholes", async () => {
  await install("serving");
  // As a crash leaves it: the package has moved into its place.
  mkdirSync(inProject("b"));
  expect((await install("development")).code).toBe(0);
  expect(versionOf("b")).toBe("1.0.0");
});

it("no registry and no packages: one line says what is missing, exit code 1; nothing is left", async () => {
  registry.close();
  const { code, output } = await install("development");
  expect(code).toBe(1);
  const [first, second, ...rest] = output.split("\n");
  expect(first).toBe("Installing packages (first start) ...");
  expect(second).toMatch(
    /^servicenet: packages are missing in .* \(first start\), and they cannot be installed: npm ci: \S+: .*127\.0\.0\.1/,
  );
  expect(rest).toEqual([""]);
  expect(readdirSync(inProject())).toEqual([]);
});
