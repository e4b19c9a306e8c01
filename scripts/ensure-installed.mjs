/**
 * Runs before every command: checks the version of Node and installs the packages when they are missing or older than
 * package-lock.json. Plain JavaScript without imports from node_modules, because there may be none yet.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const wanted = [20, 19];

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < wanted[0] || (major === wanted[0] && minor < wanted[1])) {
  console.error(`Servicenet needs Node ${wanted.join(".")} or newer; this is ${process.version}.`);
  process.exit(1);
}

const reason = whyInstall();
if (reason) {
  console.error(`Installing packages (${reason}) ...`);
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const result = spawnSync(npm, ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (result.status !== 0) {
    console.error(`"npm ci" failed${result.error ? `: ${result.error.message}` : ""}; see the lines above.`);
    process.exit(1);
  }
}

/**
 * npm writes a copy of what it installed into node_modules/.package-lock.json. Every package of package-lock.json has to stand
 * there in its version; a package for another platform may be absent. Contents, not times: a fresh clone has arbitrary ones.
 */
function whyInstall() {
  const lock = packagesOf(join(root, "package-lock.json"));
  const installed = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (!lock) return undefined;
  if (!installed) return "first start";
  for (const [path, entry] of Object.entries(lock)) {
    if (path === "") continue;
    const found = installed[path];
    if (found ? found.version !== entry.version : !entry.optional) return "package-lock.json has changed";
  }
  return undefined;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}
