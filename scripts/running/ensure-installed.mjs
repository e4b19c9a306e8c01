/**
 * Installs the packages that are missing or of another version than package-lock.json says. Plain JavaScript without imports from node_modules, because
 * there may be none yet.
 *
 * npm itself would delete node_modules first, and a server may run from there. So npm installs into a folder beside the packages, and each package that is
 * missing moves into its place as a whole. Packages that are there in the right version stay untouched; those for development stay where serving alone
 * is asked for. A crash leaves packages that are whole, and the list of npm, which is written last, without them: the next start installs again.
 */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root as project } from "./root.mjs";
import { takeLock } from "./install-lock.mjs";
import { folderOf, INSTALLED, packagesOf, whyInstall } from "./packages.mjs";

const STAGE = ".install-";
const NPM_ARGS = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/**
 * Ends the process with one line where it is not possible.
 * @param {{ development: boolean; root?: string }} needed
 */
export async function ensureInstalled({ development, root = project }) {
  const reason = whyInstall(root, { development });
  if (!reason) return;
  try {
    await install(root, { development, reason });
  } catch (error) {
    console.error(`servicenet: packages are missing in ${root} (${reason}), and they cannot be installed: ${messageOf(error)}`);
    process.exit(1);
  }
}

/**
 * @param {string} root
 * @param {{ development: boolean; reason: string }} what
 */
async function install(root, { development, reason }) {
  const modules = join(root, "node_modules");
  const release = await takeLock(join(modules, ".install.lock"), (pid) => {
    console.error(`Waiting for process ${String(pid)}, which installs packages ...`);
  });
  try {
    // Another process may have installed them meanwhile.
    if (!whyInstall(root, { development })) return;
    console.error(`Installing packages (${reason}) ...`);
    removeStages(modules);
    // A new name each time: an npm that has lost its parent may still write into the folder before.
    const stage = mkdtempSync(join(modules, STAGE));
    for (const name of ["package.json", "package-lock.json", ".npmrc"]) {
      if (existsSync(join(root, name))) cpSync(join(root, name), join(stage, name));
    }
    await runNpm([...NPM_ARGS, development ? "--include=dev" : "--omit=dev"], stage);
    moveIn(join(stage, "node_modules"), root, join(stage, "replaced"));
  } finally {
    removeStages(modules);
    release();
  }
}

/**
 * Removes this process's folder, and those that a crash has left, as far as possible.
 * @param {string} modules
 */
function removeStages(modules) {
  for (const name of readdirSync(modules).filter((one) => one.startsWith(STAGE))) {
    try {
      rmSync(join(modules, name), { recursive: true, force: true });
    } catch {
      continue;
    }
  }
}

/**
 * @param {string} from the folder with the new packages
 * @param {string} root
 * @param {string} replaced where packages of another version go
 */
function moveIn(from, root, replaced) {
  const to = join(root, "node_modules");
  const wanted = packagesOf(join(root, "package-lock.json")) ?? {};
  const added = packagesOf(join(dirname(from), INSTALLED)) ?? {};
  const before = packagesOf(join(root, INSTALLED)) ?? {};
  const folders = new Set(Object.keys(added).map(folderOf));
  const changed = new Set([...folders].filter((folder) => !isSame(folder, added, before) || !existsSync(join(to, folder))));
  const gone = new Set(
    Object.keys(before)
      .map(folderOf)
      .filter((folder) => !folders.has(folder) && !(`node_modules/${folder}` in wanted)),
  );
  for (const folder of [...changed, ...gone]) {
    if (existsSync(join(to, folder))) {
      mkdirSync(dirname(join(replaced, folder)), { recursive: true });
      renameSync(join(to, folder), join(replaced, folder));
    }
    if (gone.has(folder)) continue;
    mkdirSync(dirname(join(to, folder)), { recursive: true });
    renameSync(join(from, folder), join(to, folder));
  }
  moveCommands(join(from, ".bin"), join(to, ".bin"));
  const stay = Object.entries(before).filter(([path]) => !folders.has(folderOf(path)) && !gone.has(folderOf(path)));
  const list = JSON.parse(readFileSync(join(dirname(from), INSTALLED), "utf8"));
  const text = JSON.stringify({ ...list, packages: { ...Object.fromEntries(stay), ...list.packages } }, null, 2);
  writeFileSync(join(root, `${INSTALLED}.new`), text);
  renameSync(join(root, `${INSTALLED}.new`), join(root, INSTALLED));
}

/**
 * Whether a folder's packages, with those inside of it, have the same versions in both lists.
 * @param {string} folder
 * @param {import("./packages.mjs").Packages} one
 * @param {import("./packages.mjs").Packages} other
 */
function isSame(folder, one, other) {
  const [ours, theirs] = [one, other].map((packages) =>
    Object.entries(packages)
      .filter(([path]) => folderOf(path) === folder)
      .map(([path, { version }]) => `${path} ${version ?? ""}`)
      .sort()
      .join(),
  );
  return ours === theirs;
}

/**
 * Links to programs.
 * @param {string} from
 * @param {string} to
 */
function moveCommands(from, to) {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) renameSync(join(from, name), join(to, name));
}

/**
 * Throws an error of one line unless npm succeeds.
 * @param {string[]} args
 * @param {string} cwd
 * @returns {Promise<void>}
 */
function runNpm(args, cwd) {
  const isWindows = process.platform === "win32";
  // The variables of an npm above this process would decide for this one, too.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(package|lifecycle|config_(local_prefix|prefix|omit|include|production|global))/i.test(name),
    ),
  );
  const npm = spawn(isWindows ? "npm.cmd" : "npm", args, { cwd, env, stdio: ["ignore", "ignore", "pipe"], shell: isWindows });
  let text = "";
  npm.stderr.setEncoding("utf8").on("data", (chunk) => (text += chunk));
  return new Promise((resolve, reject) => {
    npm.once("error", (error) => reject(new Error(`npm does not start (${messageOf(error)})`)));
    npm.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`npm ci: ${faultOf(text) || `exit code ${String(code)}`}`))));
  });
}

/**
 * npm tells a fault in many lines: the code, the system's own number and call, a sentence, advice. The code and the sentence are taken.
 * @param {string} text
 */
function faultOf(text) {
  const lines = text.split("\n").flatMap((line) => /^npm (?:error|ERR!) ?(.*)$/.exec(line)?.[1]?.trim() || []);
  const code = lines.find((line) => /^code \S+$/.test(line))?.slice("code ".length);
  const sentence = lines.find((line) => !/^(code|errno|syscall|path|dest|network This|A complete log)\b/.test(line));
  return [code, sentence].filter(Boolean).join(": ");
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
