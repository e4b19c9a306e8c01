/**
 * A folder for one run of a server that its user alone enters: the code of the Worker until the runtime has read it, and a socket. It stands below the
 * folder for temporary files, because the path of a Unix socket has to be short. A record in the data folder names it, so that the next start removes
 * what a kill -9 has left.
 */
import { mkdtempSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { readIfThere } from "../private-file";

/** Everything that may stand in the folder. Nothing else is ever removed. */
const FILES = ["config.capnp", "index.js", "scheduler"] as const;
type FileName = (typeof FILES)[number];

const PREFIX = "servicenet-run-";
/** macOS has the shortest: 104 bytes with the end. */
const SOCKET_PATH_BYTES_MAX = 103;
const OWNER_ALONE = 0o600;

export interface PrivateFolder {
  file(name: FileName): string;
  write(name: FileName, content: string): void;
  /** Removes these files, or the whole folder. Does nothing the second time. */
  remove(names?: readonly FileName[]): void;
}

/** `record`: the file that names the folder. `parents`: where it may stand; the first that will do is taken. */
export function makePrivateFolder(record: string, parents: readonly string[] = [tmpdir(), "/tmp"]): PrivateFolder {
  removeRecorded(record);
  const path = mkdtempSync(join(parents.find(isShort) ?? tmpdir(), PREFIX));
  try {
    writeFileSync(record, path, { mode: OWNER_ALONE });
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
  return {
    file: (name) => join(path, name),
    write: (name, content) => writeFileSync(join(path, name), content, { mode: OWNER_ALONE, flag: "wx" }),
    remove: (names) => {
      if (names) return removeFiles(path, names);
      removeFolder(path);
      rmSync(record, { force: true });
    },
  };
}

/** A record that somebody else wrote may name any folder, so the name is looked at, and nothing but our files and an empty folder go. */
function removeRecorded(record: string): void {
  const path = readIfThere(record)?.trim();
  if (path === undefined) return;
  if (isAbsolute(path) && basename(path).startsWith(PREFIX)) removeFolder(path);
  rmSync(record, { force: true });
}

function removeFolder(path: string): void {
  removeFiles(path, FILES);
  ifPossible(() => rmdirSync(path));
}

function removeFiles(path: string, names: readonly string[]): void {
  for (const name of names) ifPossible(() => unlinkSync(join(path, name)));
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
  return Buffer.byteLength(join(parent, `${PREFIX}XXXXXX`, "scheduler")) <= SOCKET_PATH_BYTES_MAX;
}
