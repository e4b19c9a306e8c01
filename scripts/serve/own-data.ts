/** How the data folder of a server is told from folders with files of somebody else. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseToken } from "../../src/access/authentication/bearer-token";
import type { OwnFolder } from "../folders/own-folder";

/** What Miniflare makes in `state`. */
const RUNTIME_FOLDERS = new Set(["cache", "do", "kv", "workflows"]);
/** What earlier releases have made, besides `state`. */
const FILES = /^(kubeconfig|ca\.crt|ca\.key|server\.crt|server\.key|admin-token|workerd\.json)(\.new)?$|^runner\.lock(\.|$)|^\.probe-\d+$/;
/** The folder of one class of Durable Objects. The name before it is the Worker's. */
const OBJECTS = /-Coordinator$/;

export const DATA_FOLDER: OwnFolder = {
  what: "the data folder",
  option: "--data-dir",
  mark: ".servicenet-data",
  text: "Data of a Servicenet server. `npm start -- --fresh` removes `state` of this folder.\n",
  isOfEarlierRelease,
};

/** Whether the state is that of a server, or all files are such as a server makes and one of them proves it. */
function isOfEarlierRelease(path: string, names: readonly string[]): boolean {
  if (namesIn(join(path, "state", "do")).some((name) => OBJECTS.test(name))) return true;
  const state = namesIn(join(path, "state"));
  if (!names.every((name) => name === "state" || FILES.test(name)) || !state.every((name) => RUNTIME_FOLDERS.has(name))) return false;
  return names.every((name) => name === "state" || name.startsWith(".probe-")) || isProved(path);
}

/** Others have files of these names, too: certificates, or a kubeconfig. */
function isProved(path: string): boolean {
  return (
    parseToken(textOf(join(path, "admin-token")).trim()) !== undefined ||
    /^current-context: servicenet$/m.test(textOf(join(path, "kubeconfig"))) ||
    existsSync(join(path, "runner.lock")) ||
    existsSync(join(path, "workerd.json"))
  );
}

/** Nothing where there is no such folder. */
function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
