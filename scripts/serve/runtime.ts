/**
 * The Worker in Miniflare, on the wrangler configuration itself: bindings, variables and crons have one source.
 *
 * Requests reach the Worker by a direct socket on its entrypoint "direct". Miniflare's own front (request log, routing, a copy of every request and
 * response) makes a trivial request ten times slower. workerd speaks TLS there, too.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as MiniflarePackage from "miniflare";
import type { Miniflare, WorkerOptions } from "miniflare";
import { requirePackage, root } from "../root.mjs";
import { UserError } from "../terminal/user-error";
import { bundle } from "./bundle";
import { type LogFormat, printLog } from "./log-lines";
import { isLoopback } from "./loopback";
import { type KeyPair, withSecureSocket } from "./tls/secure-socket";
import { readWorkerConfig, type WorkerConfig } from "./worker-config";

const { Log, LogLevel, Miniflare: Emulator, Runtime } = requirePackage("miniflare") as typeof MiniflarePackage;

export type RuntimeConfig = WorkerConfig;

/** Reads the wrangler configuration and puts `vars` over its variables. Throws UserError for a variable that it does not have. */
export function readRuntimeConfig(configPath: string, vars: Record<string, string>): RuntimeConfig {
  const config = readWorkerConfig(configPath);
  for (const name of Object.keys(vars)) {
    if (!(name in config.vars))
      throw new UserError(`--var ${name}: ${configPath} has no such variable (it has ${Object.keys(config.vars).join(", ")})`);
  }
  const { worker } = config;
  return {
    ...config,
    vars: { ...config.vars, ...vars },
    worker: { ...worker, bindings: { ...worker.bindings, ...vars } } as Partial<WorkerOptions>,
  };
}

/** What Miniflare itself has to say. Once the data are removed, its errors are of their absence, which the runner tells in one line. */
class WantedLog extends Log {
  constructor(private readonly isWanted: () => boolean) {
    super(LogLevel.WARN);
  }

  override logWithLevel(level: MiniflarePackage.LogLevel, message: string): void {
    if (this.isWanted()) super.logWithLevel(level, message);
  }
}

interface Listen {
  host: string;
  port: number;
  /** names to which a server on loopback answers besides localhost and addresses */
  allowedHosts: readonly string[];
  statePath: string;
  /** undefined: plain HTTP, and no question who asks */
  secure: Security | undefined;
}

export interface Security extends KeyPair {
  /** what the server knows of the administrator's token */
  adminTokenHash: string;
  /** certificate of the authority that signs the server's, as PEM */
  ca: string;
}

const ENTRYPOINT = "direct";
/** Miniflare's name for the direct socket of the first Worker. */
const SOCKET = `direct:0:${ENTRYPOINT}`;

interface RuntimeLog {
  format: LogFormat;
  isWanted: () => boolean;
  /** Called with each piece of the runtime's errors, before it is printed. */
  onError(text: string): void;
}

/** Bundles the Worker and sets its runtime in motion; `ready` of the result says when it listens. The port must be free. */
export function createRuntime(config: RuntimeConfig, listen: Listen, log: RuntimeLog): Miniflare {
  // As bytes: Miniflare keeps them as long as it lives, and a string takes two bytes per character.
  const contents = new TextEncoder().encode(bundle(config));
  const { secure } = listen;
  shieldFromTerminal();
  if (secure) secureSocket(secure);
  return new Emulator({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    log: new WantedLog(log.isWanted),
    defaultPersistRoot: listen.statePath,
    handleRuntimeStdio: (stdout, stderr) => {
      stderr.on("data", (chunk: Buffer | string) => log.onError(String(chunk)));
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
          SERVER_STARTED_AT: String(Date.now()),
          ...accessBindings(config, secure),
          ROOT_CA: secure?.ca ?? "",
        },
        modules: [{ type: "ESModule", path: "index.js", contents }],
        // "proxy" passes the request target as it was sent; otherwise every target but a path is an exception of the runtime.
        unsafeDirectSockets: [{ host: listen.host, port: listen.port, entrypoint: ENTRYPOINT, proxy: true }],
      } as WorkerOptions,
    ],
  });
}

/** The administrator's token is good beside those that the configuration has. Plain HTTP asks nobody, whatever the configuration says. */
function accessBindings({ vars }: RuntimeConfig, secure: Security | undefined): Record<string, string> {
  if (!secure) return { ADMIN_TOKEN_HASHES: "", AUTHORIZATION_MODE: "AlwaysAllow" };
  const { ADMIN_TOKEN_HASHES = "", AUTHORIZATION_MODE = "Node,RBAC" } = vars as Partial<Record<string, string>>;
  return { ADMIN_TOKEN_HASHES: [secure.adminTokenHash, ADMIN_TOKEN_HASHES].filter((text) => text !== "").join(","), AUTHORIZATION_MODE };
}

/** Where the Worker of this configuration listens. */
export async function portOf(runtime: Miniflare, { name }: RuntimeConfig): Promise<number> {
  return Number((await runtime.unsafeGetDirectURL(name, ENTRYPOINT)).port);
}

/** Has Miniflare start workerd with HTTPS on the direct socket. */
function secureSocket(pair: KeyPair): void {
  const { updateConfig } = Runtime.prototype;
  Runtime.prototype.updateConfig = function (this: MiniflarePackage.Runtime, config, ...rest) {
    return updateConfig.call(this, withSecureSocket(config, SOCKET, pair), ...rest);
  };
}

/** Makes Miniflare start workerd through workerd.sh, which says why. Windows has neither the shell nor the signals. */
function shieldFromTerminal(): void {
  if (process.platform === "win32") return;
  const wrapper = join(root, "scripts", "serve", "workerd.sh");
  const fromMiniflare = createRequire(requirePackage.resolve("miniflare"));
  process.env["SERVICENET_WORKERD"] = process.env["MINIFLARE_WORKERD_PATH"] ?? (fromMiniflare("workerd") as { default: string }).default;
  process.env["MINIFLARE_WORKERD_PATH"] = wrapper;
}
