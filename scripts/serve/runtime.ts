/**
 * The Worker in Miniflare, on the wrangler configuration itself: bindings, variables and crons have one source.
 *
 * Requests reach the Worker by a direct socket on its entrypoint "direct". Miniflare's own front (request log, routing, a copy of every request and
 * response) makes a trivial request ten times slower.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isIPv4 } from "node:net";
import { join, resolve } from "node:path";
import { build, type BuildFailure } from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";
import type { WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { UserError } from "../terminal/user-error";
import { printLog } from "./log-lines";

export interface RuntimeConfig {
  /** of the Worker; also the prefix of its data's folders */
  name: string;
  main: string;
  crons: string[];
  /** variables as the Worker will see them */
  vars: Record<string, unknown>;
  define: Record<string, string>;
  worker: Partial<WorkerOptions>;
}

/** Reads the wrangler configuration and puts `vars` over its variables. Throws UserError for a variable that it does not have. */
export function readRuntimeConfig(configPath: string, vars: Record<string, string>): RuntimeConfig {
  const { config, workerOptions, main, define } = readConfig(configPath);
  if (!main || !config.name) throw new UserError(`--config ${configPath}: name and main are required`);
  for (const name of Object.keys(vars)) {
    if (!(name in config.vars))
      throw new UserError(`--var ${name}: ${configPath} has no such variable (it has ${Object.keys(config.vars).join(", ")})`);
  }
  return {
    name: config.name,
    main: resolve(main),
    crons: config.triggers.crons ?? [],
    vars: { ...config.vars, ...vars },
    define,
    worker: { ...workerOptions, bindings: { ...workerOptions.bindings, ...vars } } as Partial<WorkerOptions>,
  };
}

function readConfig(path: string) {
  if (!existsSync(path)) throw new UserError(`--config ${path}: there is no such file`);
  try {
    return { config: unstable_readConfig({ config: path }), ...unstable_getMiniflareWorkerOptions(path) };
  } catch (error) {
    throw new UserError(`--config ${path}: ${firstLine(error)}`);
  }
}

/** Bundles the Worker as `wrangler deploy` does; text of one ES module. Throws UserError where it cannot be built. */
export async function bundle(config: RuntimeConfig): Promise<string> {
  const result = await build({
    entryPoints: [config.main],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    define: config.define,
    logLevel: "silent",
    sourcemap: "inline",
    sourcesContent: false,
  }).catch((error: unknown) => {
    throw new UserError(`${config.main} cannot be built: ${String((error as Partial<BuildFailure>).errors?.[0]?.text ?? error)}`);
  });
  return result.outputFiles[0]?.text ?? "";
}

interface Listen {
  host: string;
  port: number;
  /** names to which a server on loopback answers besides localhost and addresses */
  allowedHosts: readonly string[];
  statePath: string;
}

/** Bundles the Worker and sets its runtime in motion; `ready` of the result says when it listens. The port must be free. */
export async function createRuntime(config: RuntimeConfig, listen: Listen, log: Parameters<typeof printLog>[2]): Promise<Miniflare> {
  const contents = await bundle(config);
  shieldFromTerminal();
  return new Miniflare({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    log: new Log(LogLevel.WARN),
    defaultPersistRoot: listen.statePath,
    handleRuntimeStdio: (stdout, stderr) => {
      printLog(stdout, process.stdout, log);
      printLog(stderr, process.stderr, log);
    },
    workers: [
      {
        ...config.worker,
        name: config.name,
        bindings: {
          ...config.worker.bindings,
          LOOPBACK_ONLY: String(isLoopback(listen.host)),
          ALLOWED_HOSTS: listen.allowedHosts.join(","),
        },
        modules: [{ type: "ESModule", path: "index.js", contents }],
        // "proxy" passes the request target as it was sent; otherwise every target but a path is an exception of the runtime.
        unsafeDirectSockets: [{ host: listen.host, port: listen.port, entrypoint: "direct", proxy: true }],
      } as WorkerOptions,
    ],
  });
}

/** Whether this machine alone reaches an address. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIPv4(host) && host.startsWith("127."));
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}

/** Makes Miniflare start workerd through workerd.sh, which says why. Windows has neither the shell nor the signals. */
function shieldFromTerminal(): void {
  if (process.platform === "win32") return;
  const wrapper = join(import.meta.dirname, "workerd.sh");
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  process.env["SERVICENET_WORKERD"] = process.env["MINIFLARE_WORKERD_PATH"] ?? (fromMiniflare("workerd") as { default: string }).default;
  process.env["MINIFLARE_WORKERD_PATH"] = wrapper;
}
