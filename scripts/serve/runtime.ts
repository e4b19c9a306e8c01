/**
 * The Worker in Miniflare, on the wrangler configuration itself: bindings, variables and crons have one source.
 *
 * Requests reach the Worker by a direct socket on its entrypoint "direct": Miniflare's own front (request log, routing, a copy of
 * every request and response) would make a trivial request ten times slower.
 */
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { Log, LogLevel, Miniflare } from "miniflare";
import type { WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from "wrangler";
import { UserError } from "./user-error";

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
  const config = unstable_readConfig({ config: configPath });
  const { workerOptions, main, define } = unstable_getMiniflareWorkerOptions(configPath);
  if (!main || !config.name) throw new UserError(`${configPath}: name and main are required`);
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

/** Bundles the Worker as `wrangler deploy` does; text of one ES module. */
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
  });
  return result.outputFiles[0]?.text ?? "";
}

/** Bundles the Worker and sets its runtime in motion; `ready` of the result says when it listens. The port must be free. */
export async function createRuntime(config: RuntimeConfig, listen: { host: string; port: number; statePath: string }): Promise<Miniflare> {
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
      stdout.pipe(process.stdout, { end: false });
      stderr.pipe(process.stderr, { end: false });
    },
    workers: [
      {
        ...config.worker,
        name: config.name,
        modules: [{ type: "ESModule", path: "index.js", contents }],
        unsafeDirectSockets: [{ host: listen.host, port: listen.port, entrypoint: "direct" }],
      } as WorkerOptions,
    ],
  });
}

/** Lets Miniflare start workerd through workerd.sh, which tells why. Windows has neither its shell nor its signals. */
function shieldFromTerminal(): void {
  if (process.platform === "win32") return;
  const wrapper = join(import.meta.dirname, "workerd.sh");
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  process.env["SERVICENET_WORKERD"] = process.env["MINIFLARE_WORKERD_PATH"] ?? (fromMiniflare("workerd") as { default: string }).default;
  process.env["MINIFLARE_WORKERD_PATH"] = wrapper;
}
