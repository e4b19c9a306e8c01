/**
 * A folder for the socket of one run, which the server's user alone enters. It stands below the folder for temporary files, because the path of a Unix
 * socket has to be short. What a kill -9 leaves is removed by the lifeline, or by the next start: a record in the data folder names it.
 */
import { mkdtempSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { UserError } from "../../terminal/user-error";
import { readIfThere, writePrivate } from "../private-file";

/** Name of the socket: all that may stand in the folder, and all that is ever removed from it. */
export const SOCKET_NAME = "scheduler";
/** Names of folders begin so. */
export const FOLDER_PREFIX = "servicenet-run-";
/** macOS has the shortest: 104 bytes with the end. */
const SOCKET_PATH_BYTES_MAX = 103;

export interface SocketFolder {
  path: string;
  socketPath: string;
  /** Does nothing the second time. */
  remove(): void;
}

/** `record`: the file that names the folder. `parents`: where it may stand. Throws UserError where none of them will do. */
export function makeSocketFolder(record: string, parents: readonly string[] = [tmpdir(), "/tmp"]): SocketFolder {
  removeRecordedFolder(record);
  const path = folderIn(parents);
  try {
    writePrivate(record, path);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return {
    path,
    socketPath: join(path, SOCKET_NAME),
    remove: () => {
      removeFolder(path);
      rmSync(record, { force: true });
    },
  };
}

function folderIn(parents: readonly string[]): string {
  let reason = "its path is too long";
  for (const parent of parents.filter(isShort)) {
    try {
      return mkdtempSync(join(parent, FOLDER_PREFIX));
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
  }
  throw new UserError(`no folder for temporary files takes a socket (TMPDIR names one): ${reason}`);
}

/** A record that somebody else wrote may name any folder, so the name is looked at, and nothing but our socket and an empty folder go. */
export function removeRecordedFolder(record: string): void {
  const path = readIfThere(record)?.trim();
  if (path === undefined) return;
  if (isAbsolute(path) && basename(path).startsWith(FOLDER_PREFIX)) removeFolder(path);
  rmSync(record, { force: true });
}

function removeFolder(path: string): void {
  ifPossible(() => unlinkSync(join(path, SOCKET_NAME)));
  ifPossible(() => rmdirSync(path));
}

/** What is gone already, or belongs to somebody else, stays as it is. */
function ifPossible(remove: () => void): void {
  try {
    remove();
  } catch {
    return;
  }
}

function isShort(parent: string): boolean {
  return Buffer.byteLength(join(parent, `${FOLDER_PREFIX}XXXXXX`, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX;
}
