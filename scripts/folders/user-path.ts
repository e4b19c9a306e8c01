/** Paths as the user means them: npm runs a program in the folder of the project, wherever the user called it. */
import { dirname, isAbsolute, relative, resolve } from "node:path";

/** The folder in which the user called npm, or this program. */
function userFolder(): string {
  const { INIT_CWD: called, npm_lifecycle_event: script, npm_package_json: project } = process.env;
  if (!called || script === undefined) return process.cwd();
  // A program that a script starts inherits the variables. Its paths are those of the script.
  return project === undefined || dirname(project) === process.cwd() ? called : process.cwd();
}

/** The file or folder that an option names. */
export function userPath(path: string): string {
  const folder = userFolder();
  return isAbsolute(path) || folder === process.cwd() ? path : resolve(folder, path);
}

/** The path as the user's shell takes it: relative, where that leads into a folder of the user's. */
export function shownPath(path: string): string {
  const short = relative(userFolder(), resolve(path)) || ".";
  return short.startsWith("..") ? resolve(path) : short;
}
