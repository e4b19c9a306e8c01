/** Programs that Go builds. Go itself knows what is up to date, and fetches modules that are missing. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

const cache = join(import.meta.dirname, "..", "..", "..", ".cache");

export interface GoProgram {
  /** folder of the package */
  folder: string;
  /** path below .cache */
  name: string;
  /** further arguments of `go build` */
  args: readonly string[];
  /** the tests of the package, as a program */
  isTest?: boolean;
}

/**
 * Builds a program and answers its path.
 *
 * @throws Error where Go is missing or the program cannot be built
 */
export function goProgram({ folder, name, args, isTest = false }: GoProgram): string {
  const path = join(cache, name);
  mkdirSync(dirname(path), { recursive: true });
  const command = isTest ? ["test", "-c"] : ["build"];
  execFileSync("go", [...command, "-buildvcs=false", ...args, "-o", path, "."], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  return path;
}
