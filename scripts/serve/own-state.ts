/**
 * What a server has kept in `state`, told from files of somebody else by place and name, as the runtime and Miniflare's stores name them, and by our
 * tables. Nothing else is ever removed; a link belongs to whoever made it.
 */
import { closeSync, lstatSync, openSync, readdirSync, readSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";

/** Databases of the runtime: one for each object, and one about its class. */
const DATABASE =
  /^(?:do\/(?<worker>[^/]+)-(?<ofClass>[^/-]+)|kv\/miniflare-KVNamespaceObject|cache\/miniflare-CacheObject)\/(?:[0-9a-f]{64}|metadata)\.sqlite(?:-wal|-shm|-journal)?$/;
/** Values of KV and of the cache. */
const BLOB = /^(?:kv|cache)\/[^/]+\/blobs\/[0-9a-f]{32,}$/;
/** The Worker of wrangler.toml. Any other one has to show our tables. */
const OWN_WORKER = "servicenet";
/** As SQLite keeps the statement that makes the table of versions in each object (durable-objects/sql/migrate.ts), in the log of writes, too. */
const OWN_TABLE = Buffer.from("CREATE TABLE _migrations (id INTEGER PRIMARY KEY, applied_ms INTEGER NOT NULL) STRICT");
const CHUNK = 1 << 20;

interface Found {
  /** below `state` */
  files: string[];
  /** what is in a folder stands before it */
  folders: string[];
  /** the first thing that no server has made, below the data folder */
  foreign: string | undefined;
}

/** The first thing in `state` of the data folder that no server has made, as a path below that folder; undefined = there is none. */
export function foreignIn(dataFolder: string): string | undefined {
  return lookAt(dataFolder).foreign;
}

/** Whether a server has begun to keep something. */
export function hasFiles(dataFolder: string): boolean {
  return lookAt(dataFolder).files.length > 0;
}

/** Whether an object of the class Coordinator has our tables: others give their classes this name, too. */
export function hasOwnObjects(dataFolder: string): boolean {
  const { files } = lookAt(dataFolder);
  return files.some((file) => DATABASE.exec(file)?.groups?.["ofClass"] === "Coordinator" && hasOwnTable(inState(dataFolder, file)));
}

/** Removes `state`. Throws, and removes nothing, where something in it is not the server's. */
export function removeState(dataFolder: string): void {
  const { files, folders, foreign } = lookAt(dataFolder);
  const other = foreign ?? ofOtherWorker(dataFolder, files);
  if (other !== undefined) throw new Error(`${other} is not Servicenet's; --fresh removes nothing of somebody else`);
  for (const file of files) unlinkSync(inState(dataFolder, file));
  for (const folder of folders) removeIfEmpty(inState(dataFolder, folder));
}

/** A folder that is another disk stays, and so do those around it; and what somebody has put into one meanwhile. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!["EBUSY", "ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}

function lookAt(dataFolder: string): Found {
  const found: Found = { files: [], folders: [], foreign: undefined };
  const visit = (path: string): void => {
    const stats = lstatSync(inState(dataFolder, path), { throwIfNoEntry: path !== "" });
    if (!stats) return;
    if (stats.isDirectory()) {
      for (const name of readdirSync(inState(dataFolder, path)).sort()) visit(path === "" ? name : `${path}/${name}`);
      found.folders.push(path);
    } else if (stats.isFile() && (DATABASE.test(path) || BLOB.test(path))) found.files.push(path);
    else found.foreign ??= join("state", path);
  };
  visit("");
  return found;
}

/** A file of a Worker of another name that has none of our tables. */
function ofOtherWorker(dataFolder: string, files: readonly string[]): string | undefined {
  const workerOf = (file: string): string => DATABASE.exec(file)?.groups?.["worker"] ?? OWN_WORKER;
  const known = new Set([OWN_WORKER]);
  for (const file of files) if (!known.has(workerOf(file)) && hasOwnTable(inState(dataFolder, file))) known.add(workerOf(file));
  const other = files.find((file) => !known.has(workerOf(file)));
  return other && join("state", other);
}

function hasOwnTable(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(OWN_TABLE.length + CHUNK);
    // The text may stand across the border of two chunks.
    for (let kept = 0; ;) {
      const read = readSync(file, buffer, kept, CHUNK, null);
      if (read === 0) return false;
      const length = kept + read;
      if (buffer.subarray(0, length).includes(OWN_TABLE)) return true;
      kept = Math.min(length, OWN_TABLE.length);
      buffer.copyWithin(0, length - kept, length);
    }
  } finally {
    closeSync(file);
  }
}

function inState(dataFolder: string, path: string): string {
  return join(dataFolder, "state", path);
}
