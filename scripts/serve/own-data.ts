/** How the data folder of a server is told from folders with files of somebody else. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseToken } from "../../src/access/authentication/bearer-token";
import type { OwnFolder } from "../folders/own-folder";
import { foreignIn, hasFiles, hasOwnObjects } from "./own-state";

/** What earlier releases have made, besides `state`. */
const FILES = /^(kubeconfig|ca\.crt|ca\.key|server\.crt|server\.key|admin-token|workerd\.json)(\.new)?$|^runner\.lock(\.|$)|^\.probe-\d+$/;
/** Text of a file that names a process (data-folder.ts). */
const PROCESS = /^\{"pid":\d+,"startedAt":"[^"]*"\}$/;

export const DATA_FOLDER: OwnFolder = {
  what: "the data folder",
  option: "--data-dir",
  mark: ".servicenet-data",
  text: "Data of a Servicenet server. `npm start -- --fresh` removes `state` of this folder.\n",
  isOfEarlierRelease,
};

/** Whether the objects have our tables, or all files are such as a server makes and one of them proves it. */
function isOfEarlierRelease(path: string, names: readonly string[]): boolean {
  if (hasOwnObjects(path)) return true;
  if (!names.every((name) => name === "state" || FILES.test(name)) || foreignIn(path) !== undefined) return false;
  return isProved(path) || (names.every((name) => name === "state" || name.startsWith(".probe-")) && !hasFiles(path));
}

/** Others have files of these names, too: certificates, a kubeconfig, or a lock. */
function isProved(path: string): boolean {
  return (
    parseToken(textOf(join(path, "admin-token")).trim()) !== undefined ||
    /^current-context: servicenet$/m.test(textOf(join(path, "kubeconfig"))) ||
    ["runner.lock", "workerd.json"].some((name) => PROCESS.test(textOf(join(path, name))))
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
