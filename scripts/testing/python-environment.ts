/** A virtual environment of Python below .cache, with the packages of a requirements.txt. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/**
 * The folder with the programs of the environment, `python` among them. Makes the environment where it is missing, and installs what it lacks.
 *
 * @param name folder below .cache
 * @param requirements path of the requirements.txt
 * @throws Error where Python is missing or a package cannot be installed
 */
export function pythonEnvironment(name: string, requirements: string): string {
  const folder = join(root, ".cache", name);
  const programs = join(folder, "bin");
  const python = join(programs, "python");
  if (!existsSync(python)) run("python3", ["-m", "venv", folder]);
  run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements]);
  return programs;
}

function run(command: string, args: string[]): void {
  execFileSync(command, args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}
