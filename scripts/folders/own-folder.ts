/** Folders that a program takes for files of its own. It writes into an empty folder, and into one with its mark. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../terminal/user-error";

export interface OwnFolder {
  /** begins a message: "the data folder" */
  readonly what: string;
  /** that names the folder */
  readonly option: string;
  /** the file that says whose folder this is */
  readonly mark: string;
  /** its text, for people who look into the folder */
  readonly text: string;
  /** Whether a release without marks, or nobody, has left these files. */
  isOfEarlierRelease(path: string, names: readonly string[]): boolean;
}

/** Stands in the first folder of a disk. */
const OF_FILE_SYSTEM = "lost+found";

/**
 * Makes the folder the program's own, creating it when it is missing. Throws UserError for a folder with files of somebody else, and for a new one that
 * cannot be written; both leave the folder as it was.
 */
export function takeFolder(path: string, kind: OwnFolder): void {
  const { what, option, mark, text } = kind;
  const names = namesIn(path, kind);
  if (names.includes(mark)) return;
  const isKnown = names.length > 0 && kind.isOfEarlierRelease(path, names);
  if (names.length > 0 && !isKnown)
    throw new UserError(
      `${what} ${path} has files that are not Servicenet's (${shown(names)}); choose an empty or a new folder with ${option}`,
    );
  try {
    makeFolder(path);
    writeOrNothing(join(path, mark), text);
  } catch (error) {
    // The files of an earlier release are a mark themselves.
    if (!isKnown) throw new UserError(`${what} ${path} is not writable (${reasonOf(error)})`);
  }
}

/** Nothing for a folder that is missing. */
function namesIn(path: string, { what }: OwnFolder): string[] {
  try {
    return readdirSync(path).filter((name) => name !== OF_FILE_SYSTEM);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new UserError(`${what} ${path} is not writable (${reasonOf(error)})`);
  }
}

function shown(names: readonly string[]): string {
  const [first = "", ...others] = [...names].sort();
  return others.length === 0 ? first : `${first} and ${String(others.length)} more`;
}

function writeOrNothing(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/** As mkdir -p. Node's own recursive form never ends where a folder cannot be made (below /proc). */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error);
}
