/** A virtual environment of Python below .cache, with the packages of a requirements.txt. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const cache = join(import.meta.dirname, "..", "..", "..", ".cache");
const OLDEST = { major: 3, minor: 11 };
/** File of an environment that is whole: what it was made of. Written last. */
const MARKER = "made-of";

export interface PythonEnvironment {
  /** folder below `cache` */
  name: string;
  /** path of the requirements.txt: every package with its version and hashes */
  requirements: string;
  /** Python itself */
  command?: string;
  /** folder of all environments */
  cache?: string;
}

/**
 * The folder with the programs of the environment, `python` among them. The environment is made anew where it is missing, was interrupted, or is of
 * another Python or other packages.
 *
 * @throws Error where Python is missing or too old, or a package cannot be installed
 */
export function pythonEnvironment({ name, requirements, command = "python3", cache: above = cache }: PythonEnvironment): string {
  const folder = join(above, name);
  const programs = join(folder, "bin");
  const marker = join(folder, MARKER);
  const madeOf = `${newEnough(command)}\n${readFileSync(requirements, "utf8")}`;
  if (existsSync(marker) && readFileSync(marker, "utf8") === madeOf) return programs;
  rmSync(folder, { recursive: true, force: true });
  run(command, ["-m", "venv", folder]);
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", requirements];
  run(join(programs, "python"), install);
  writeFileSync(marker, madeOf);
  return programs;
}

/** What Python says of its version. */
function newEnough(command: string): string {
  const version = run(command, ["--version"]).trim();
  const [, major, minor] = /^Python (\d+)\.(\d+)/.exec(version) ?? [];
  const isNewEnough = Number(major) > OLDEST.major || (Number(major) === OLDEST.major && Number(minor) >= OLDEST.minor);
  if (!isNewEnough) throw new Error(`Python ${OLDEST.major}.${OLDEST.minor} or newer is needed, ${command} is "${version}"`);
  return version;
}

function run(command: string, args: string[]): string {
  return execFileSync(command, args, { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });
}
