/** Starts that cannot succeed, and those that have to do without a place for their files: one line and exit code 1, or none at all. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../../scripts/running/root.mjs";
import { programBundle } from "../../../scripts/running/program-bundle.mjs";
import { openDataFolder } from "../../../scripts/serve/data-folder";
import { UserError } from "../../../scripts/terminal/user-error";
import { runProgram } from "../../support/server/program";
import { removeFolder, temporaryFolder } from "../../support/server/server";

/** Any user may read nothing of root's: so a process of root changes its user when it has read its code. Others have folders that they may not write. */
const isRoot = process.getuid?.() === 0;
const NOBODY = 65_534;

async function asNobody(work: () => Promise<void>): Promise<void> {
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

const folder = temporaryFolder();
chmodSync(folder, 0o755);
// The folder of npm test is its own.
if (isRoot) chmodSync(tmpdir(), statSync(tmpdir()).mode | 0o011);
afterAll(() => removeFolder(folder));

/** Runs a command in the project until its end. */
function run(command: string, args: readonly string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, env: { ...process.env, ...env }, encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}
const SERVE = [process.execPath, "scripts/run.mjs", "scripts/commands/serve.ts", "--insecure-http", "--port", "0"];

// The bundles of these programs are there, as after a first start.
beforeAll(async () => {
  for (const name of ["serve", "token"]) expect((await runProgram(name, ["--help"])).code).toBe(0);
});

describe("npm start", () => {
  it("an old Node: one line, exit code 1", () => {
    const old = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.18.9"}});Object.defineProperty(process,"version",{value:"v20.18.9"})`;
    const { code, out, err } = run(process.execPath, ["--import", old, ...SERVE.slice(1)]);
    expect([code, out, err]).toEqual([1, "", "Servicenet needs Node 20.19 or newer; this is v20.18.9.\n"]);
  });

  it("a data folder of another user: one line, exit code 1", async () => {
    const data = join(folder, "data");
    mkdirSync(data, { mode: 0o500 });
    await asNobody(() =>
      expect(openDataFolder(data, false)).rejects.toThrow(new UserError(`the data folder ${data} is not writable (EACCES)`)),
    );
  });

  // A limit on the size of files stands in for a full disk: every write over it fails.
  it.each<[blocks: number, reason: string]>([
    [0, "is not writable (EFBIG)"],
    [4, "cannot be used: the disk refuses to write"],
  ])("a disk with room for %i blocks: one line, exit code 1", (blocks, reason) => {
    const data = join(folder, `full-${String(blocks)}`);
    const limited = `trap '' XFSZ; ulimit -f ${String(blocks)}; exec "$@"`;
    const { code, out, err } = run("sh", ["-c", limited, "sh", ...SERVE, "--data-dir", data]);
    expect([code, out, err]).toEqual([1, "", `servicenet: the data folder ${data} ${reason}\n`]);
  });
});

describe("packages that cannot be installed", () => {
  const project = join(folder, "project");
  const install = (env: Record<string, string>, before = "") => {
    const module = pathToFileURL(join(root, "scripts", "running", "ensure-installed.mjs")).href;
    const call = `import(${JSON.stringify(module)}).then((all) => {
      ${before}
      return all.ensureInstalled({ development: true, root: ${JSON.stringify(project)} });
    })`;
    return run(process.execPath, ["-e", call], env);
  };
  beforeAll(() => {
    mkdirSync(project);
    for (const name of ["package.json", "package-lock.json"]) cpSync(join(root, name), join(project, name));
  });

  it("a folder of another user: one line says that they are missing, exit code 1", () => {
    chmodSync(project, 0o555);
    const { code, out, err } = install({}, isRoot ? `process.setuid(${String(NOBODY)});` : "");
    chmodSync(project, 0o755);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(
      /^servicenet: packages are missing in \S+ \(first start\), and they cannot be installed: EACCES: permission denied, .*\n$/,
    );
  });

  it("no npm: one line says that they are missing, exit code 1; nothing is left", () => {
    const { code, err } = install({ PATH: folder });
    expect(code).toBe(1);
    expect(err).toBe(
      `Installing packages (first start) ...\nservicenet: packages are missing in ${project} (first start), and they cannot be installed: npm does not start (spawn npm ENOENT)\n`,
    );
    expect(readdirSync(join(project, "node_modules"))).toEqual([]);
  });
});

describe("the bundle of a program", () => {
  const program = join(root, "scripts", "commands", "token.ts");

  it("the same sources: the same file, wherever it was kept", () => {
    const [kept, shipped] = [join(folder, "kept"), join(folder, "shipped")];
    const path = programBundle(program, [kept]);
    expect(readdirSync(kept).map((name) => join(kept, name))).toEqual([path]);
    expect(programBundle(program, [kept])).toBe(path);
    cpSync(kept, shipped, { recursive: true });
    expect(programBundle(program, [join(folder, "nothing"), shipped])).toBe(path.replace(kept, shipped));
  });

  it("a place that takes no files: a file of this process alone runs", () => {
    const temporary = join(folder, "temporary");
    mkdirSync(temporary);
    const [bundles, runner] = ["program-bundle", "root"].map((name) => pathToFileURL(join(root, "scripts", "running", `${name}.mjs`)).href);
    const call = `
      const { programBundle } = await import(${JSON.stringify(bundles)});
      const { root } = await import(${JSON.stringify(runner)});
      process.argv = [process.execPath, root + "/scripts/commands/token.ts", "new-admin"];
      await import(programBundle(process.argv[1], [root + "/package.json/kept"]));`;
    const { code, out } = run(process.execPath, ["--input-type=module", "-e", call], { TMPDIR: temporary });
    expect(code).toBe(0);
    expect(out.split("\n")).toHaveLength(3);
    expect(readdirSync(temporary)).toEqual([]);
  });
});
