/**
 * The wrangler configuration, as wrangler itself reads it. Its code takes a second to load, so what it has read is kept for the next start: as long as the
 * file is the same, and nothing else could have been read.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { deserialize, serialize } from "node:v8";
import type { WorkerOptions } from "miniflare";
import type * as Wrangler from "wrangler";
import { UserError } from "../terminal/user-error";
import { keep, keptFolder, readKept } from "./kept-files";

export interface WorkerConfig {
  /** of the Worker; also the prefix of its data's folders */
  name: string;
  main: string;
  crons: string[];
  vars: Record<string, unknown>;
  define: Record<string, string>;
  worker: Partial<WorkerOptions>;
}

const lock = join(import.meta.dirname, "..", "..", "package-lock.json");
/** Files beside the configuration with variables. */
const OF_VARIABLES = /^\.(env|dev\.vars)/;
/** Variables of the environment that wrangler knows. */
const OF_WRANGLER = /^(CF|CLOUDFLARE|WRANGLER)_/;

/** Throws UserError for a file that is no configuration. `folder`: where what was read is kept. */
export function readWorkerConfig(path: string, folder = keptFolder): WorkerConfig {
  if (!existsSync(path)) throw new UserError(`--config ${path}: there is no such file`);
  const hash = hashOf(path);
  const kept = hash && readKept(folder, hash);
  if (kept) return deserialize(Buffer.from(kept, "base64")) as WorkerConfig;
  const { config, isWhole } = readAnew(path);
  const text = hash && isWhole ? textOf(config) : undefined;
  if (hash && text && hash === hashOf(path)) keep(folder, hash, text);
  return config;
}

/** undefined: more than the file decides on what wrangler reads. */
function hashOf(path: string): string | undefined {
  try {
    const hasMore = readdirSync(dirname(resolve(path))).some((name) => OF_VARIABLES.test(name));
    if (hasMore || Object.keys(process.env).some((name) => OF_WRANGLER.test(name))) return undefined;
    // The version of wrangler is in package-lock.json.
    const hash = createHash("sha256").update(JSON.stringify([resolve(path), process.cwd()]));
    for (const file of [path, lock, import.meta.filename]) hash.update(createHash("sha256").update(readFileSync(file)).digest());
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

/** undefined: it has functions. */
function textOf(config: WorkerConfig): string | undefined {
  try {
    return serialize(config).toString("base64");
  } catch {
    return undefined;
  }
}

/** `isWhole`: the answer is all that there is. Warnings come with each start, and secrets may be of the environment. */
function readAnew(path: string): { config: WorkerConfig; isWhole: boolean } {
  // `import` would read the megabytes of the package twice more, for the names that it exports.
  const wrangler = createRequire(import.meta.url)("wrangler") as typeof Wrangler;
  const { warn } = console;
  let hasWarned = false;
  console.warn = (...words: unknown[]) => {
    hasWarned = true;
    warn(...words);
  };
  try {
    const config = wrangler.unstable_readConfig({ config: path });
    const { workerOptions, main, define } = wrangler.unstable_getMiniflareWorkerOptions(config);
    if (!main || !config.name) throw new Error("name and main are required");
    const { name, vars, triggers, secrets } = config;
    const read = { name, main: resolve(main), crons: triggers.crons ?? [], vars, define, worker: workerOptions as Partial<WorkerOptions> };
    return { config: read, isWhole: !hasWarned && secrets === undefined };
  } catch (error) {
    throw new UserError(`--config ${path}: ${firstLine(error)}`);
  } finally {
    console.warn = warn;
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}
