/**
 * The Worker in workerd, on the wrangler configuration itself: bindings, variables and crons have one source.
 *
 * workerd reads its own documented configuration, and nothing stands between it and its clients. Miniflare's front makes a trivial request ten times
 * slower, and its Node side opens sockets that do not authenticate.
 */
import { mkdirSync, rmSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import type { WorkerOptions } from "miniflare";
import { diskFaultIn } from "../../src/core/base/disk-fault";
import { callOf } from "../terminal/call";
import { UserError } from "../terminal/user-error";
import { bundle } from "./bundle";
import { type LogFormat, printLog, ToldFaults } from "./log-lines";
import { isLoopback } from "./loopback";
import { writePrivate } from "./private-file";
import { configText } from "./workerd/config-text";
import { startWorkerd, type WorkerdProcess } from "./workerd/process";
import { fireScheduled, SCHEDULER } from "./workerd/scheduler";
import { makeSocketFolder, type SocketFolder } from "./workerd/socket-folder";
import { type CertificateFiles, CLIENTS, dataFoldersIn, serverConfig } from "./workerd/server-config";
import { readWorkerConfig, type WorkerConfig } from "./worker-config";

export type RuntimeConfig = WorkerConfig;

/** Files of the data folder that the runtime reads at its start alone. */
const READ_ONCE = ["runtime.capnp", "runtime.js"] as const;

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
  /** path of the folder of its run */
  folder: string;
  dispose(): Promise<void>;
}

/** Bundles the Worker and sets its runtime in motion. The port must be free. Throws UserError where a disk refuses a file. */
export function createRuntime(config: RuntimeConfig, listen: Listen, log: RuntimeLog): LocalRuntime {
  if (process.platform === "win32")
    throw new UserError(`${callOf("serve")} needs Unix sockets, which workerd does not have on Windows; use WSL`);
  const code = bundle(config);
  const files = new RuntimeFiles(listen.dataPath);
  try {
    for (const folder of Object.values(dataFoldersIn(listen.statePath))) mkdirSync(folder, { recursive: true });
    const folder = files.socketFolder();
    const served = {
      codePath: code.path ?? files.write("runtime.js", code.text),
      statePath: listen.statePath,
      address: `${isIPv6(listen.host) ? `[${listen.host}]` : listen.host}:${String(listen.port)}`,
      certificate: listen.secure,
      schedulerPath: folder.socketPath,
    };
    const configPath = files.write("runtime.capnp", configText(serverConfig(withOwnVariables(config, listen), served)));
    return runtimeOf(startWorkerd(configPath, [CLIENTS, SCHEDULER]), folder, files, log);
  } catch (error) {
    files.remove();
    const fault = diskFaultIn(String(error));
    throw fault === undefined ? error : new UserError(`the data folder ${listen.dataPath} cannot be used: ${fault}`);
  }
}

/** What a run writes besides its data. */
class RuntimeFiles {
  #folder: SocketFolder | undefined;

  constructor(private readonly dataPath: string) {}

  socketFolder(): SocketFolder {
    return (this.#folder = makeSocketFolder(join(this.dataPath, "runtime-folder")));
  }

  /** Variables may be secrets. */
  write(name: (typeof READ_ONCE)[number], text: string): string {
    const path = join(this.dataPath, name);
    writePrivate(path, text);
    return path;
  }

  /** What the runtime has read. */
  removeRead(): void {
    for (const name of READ_ONCE) for (const ending of ["", ".new"]) rmSync(join(this.dataPath, name + ending), { force: true });
  }

  remove(): void {
    this.#folder?.remove();
    this.removeRead();
  }
}

function runtimeOf(workerd: WorkerdProcess, folder: SocketFolder, files: RuntimeFiles, log: RuntimeLog): LocalRuntime {
  workerd.stderr.on("data", (chunk: Buffer | string) => log.onError(String(chunk)));
  const faults = new ToldFaults();
  printLog(workerd.stdout, process.stdout, { ...log, faults });
  printLog(workerd.stderr, process.stderr, { ...log, faults });
  return {
    port: workerd.listening.then((ports) => {
      files.removeRead();
      return ports.get(CLIENTS) ?? 0;
    }),
    folder: folder.path,
    fire: (cron, scheduledTime = Date.now()) => fireScheduled(folder.socketPath, cron, scheduledTime),
    dispose: async () => {
      await workerd.kill();
      files.remove();
    },
  };
}

/** The Worker with what only this server knows. */
function withOwnVariables(config: RuntimeConfig, { host, allowedHosts, secure }: Listen): RuntimeConfig {
  const bindings = {
    ...config.worker.bindings,
    LOOPBACK_ONLY: String(isLoopback(host)),
    ALLOWED_HOSTS: allowedHosts.join(","),
    IMPLICIT_DEFAULT_CLUSTER: "true",
    SERVER_STARTED_AT: String(Date.now()),
    ...accessBindings(config, secure),
    ROOT_CA: secure?.ca ?? "",
  };
  return { ...config, worker: { ...config.worker, bindings } as Partial<WorkerOptions> };
}

/** The administrator's token is good beside those that the configuration has. Plain HTTP does not authenticate, whatever the configuration says. */
function accessBindings({ vars }: RuntimeConfig, secure: Security | undefined): Record<string, string> {
  if (!secure) return { ADMIN_TOKEN_HASHES: "", AUTHORIZATION_MODE: "AlwaysAllow" };
  const { ADMIN_TOKEN_HASHES = "", AUTHORIZATION_MODE = "Node,RBAC" } = vars as Partial<Record<string, string>>;
  return { ADMIN_TOKEN_HASHES: [secure.adminTokenHash, ADMIN_TOKEN_HASHES].filter((text) => text !== "").join(","), AUTHORIZATION_MODE };
}
