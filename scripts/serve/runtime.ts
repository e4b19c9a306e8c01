/**
 * The Worker in workerd, on the wrangler configuration itself: bindings, variables and crons have one source.
 *
 * workerd reads its own documented configuration, and nothing stands between it and its clients: Miniflare's front makes a trivial request ten times
 * slower, and its Node side opens sockets that ask nobody who he is.
 */
import { mkdirSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { WorkerOptions } from "miniflare";
import { UserError } from "../terminal/user-error";
import { bundle } from "./bundle";
import { type LogFormat, printLog } from "./log-lines";
import { isLoopback } from "./loopback";
import { configText } from "./workerd/config-text";
import { makePrivateFolder, type PrivateFolder } from "./workerd/private-folder";
import { startWorkerd } from "./workerd/process";
import { fireScheduled } from "./workerd/scheduler";
import { type CertificateFiles, CLIENTS, dataFoldersIn, serverConfig } from "./workerd/server-config";
import { readWorkerConfig, type WorkerConfig } from "./worker-config";

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

interface Listen {
  host: string;
  port: number;
  /** names to which a server on loopback answers besides localhost and addresses */
  allowedHosts: readonly string[];
  /** the data folder */
  dataPath: string;
  /** in it, what the runtime keeps */
  statePath: string;
  /** undefined: plain HTTP, and no question who asks */
  secure: Security | undefined;
}

export interface Security extends CertificateFiles {
  /** what the server knows of the administrator's token */
  adminTokenHash: string;
  /** certificate of the authority that signs the server's, as PEM */
  ca: string;
}

interface RuntimeLog {
  format: LogFormat;
  isWanted: () => boolean;
  /** Called with each piece of the runtime's errors, before it is printed. */
  onError(text: string): void;
}

export interface LocalRuntime {
  /** The port, once workerd listens. Rejects with UserError when it ends before. */
  port: Promise<number>;
  /** Fires a scheduled event and waits for its end. Resolves to "ok", or to what went wrong; rejects when the runtime is gone. */
  fire(cron: string, scheduledTime?: number): Promise<string>;
  dispose(): Promise<void>;
}

/** Bundles the Worker and sets its runtime in motion. The port must be free. */
export function createRuntime(config: RuntimeConfig, listen: Listen, log: RuntimeLog): LocalRuntime {
  if (process.platform === "win32") throw new UserError("npm start needs Unix sockets, which workerd does not have on Windows; use WSL");
  const code = bundle(config);
  for (const folder of Object.values(dataFoldersIn(listen.statePath))) mkdirSync(folder, { recursive: true });
  const folder = makePrivateFolder(join(listen.dataPath, "runtime-folder"));
  try {
    return runtimeIn(folder, code, config, listen, log);
  } catch (error) {
    folder.remove();
    throw error;
  }
}

function runtimeIn(folder: PrivateFolder, code: string, config: RuntimeConfig, listen: Listen, log: RuntimeLog): LocalRuntime {
  const { host, port, statePath, secure } = listen;
  const schedulerPath = folder.file("scheduler");
  folder.write("index.js", code);
  const served = {
    codePath: folder.file("index.js"),
    statePath,
    address: `${isIPv6(host) ? `[${host}]` : host}:${String(port)}`,
    certificate: secure,
    schedulerPath,
  };
  folder.write("config.capnp", configText(serverConfig(withOwnVariables(config, listen), served)));
  const workerd = startWorkerd(folder.file("config.capnp"), [CLIENTS, "scheduler"]);
  workerd.stderr.on("data", (chunk: Buffer | string) => log.onError(String(chunk)));
  printLog(workerd.stdout, process.stdout, log);
  printLog(workerd.stderr, process.stderr, log);
  return {
    port: workerd.listening.then((ports) => {
      folder.remove(["config.capnp", "index.js"]);
      return ports.get(CLIENTS) ?? 0;
    }),
    fire: (cron, scheduledTime = Date.now()) => fireScheduled(schedulerPath, cron, scheduledTime),
    dispose: async () => {
      await workerd.kill();
      folder.remove();
    },
  };
}

/** The Worker with what only this server knows. */
function withOwnVariables(config: RuntimeConfig, { host, allowedHosts, secure }: Listen): RuntimeConfig {
  const bindings = {
    ...config.worker.bindings,
    LOOPBACK_ONLY: String(isLoopback(host)),
    ALLOWED_HOSTS: allowedHosts.join(","),
    SERVER_STARTED_AT: String(Date.now()),
    ...accessBindings(config, secure),
    ROOT_CA: secure?.ca ?? "",
  };
  return { ...config, worker: { ...config.worker, bindings } as Partial<WorkerOptions> };
}

/** The administrator's token is good beside those that the configuration has. Plain HTTP asks nobody, whatever the configuration says. */
function accessBindings({ vars }: RuntimeConfig, secure: Security | undefined): Record<string, string> {
  if (!secure) return { ADMIN_TOKEN_HASHES: "", AUTHORIZATION_MODE: "AlwaysAllow" };
  const { ADMIN_TOKEN_HASHES = "", AUTHORIZATION_MODE = "Node,RBAC" } = vars as Partial<Record<string, string>>;
  return { ADMIN_TOKEN_HASHES: [secure.adminTokenHash, ADMIN_TOKEN_HASHES].filter((text) => text !== "").join(","), AUTHORIZATION_MODE };
}
