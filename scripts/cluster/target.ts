/** Which cluster a program works on: the options and their meaning. */
import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { validateDNS1123Label } from "../../src/api/meta/names";
import { UserError } from "../terminal/user-error";

/** Options for `parseArgs`. */
export const targetOptions = {
  server: { type: "string" },
  cluster: { type: "string" },
  token: { type: "string" },
  kubeconfig: { type: "string" },
  context: { type: "string" },
} as const;

export const targetUsage = `  --server URL        where the cluster answers (http://127.0.0.1:8787, or what the kubeconfig says)
  --cluster NAME      the cluster there (default)
  --kubeconfig FILE   server, certificates and credentials as kubectl has them
  --context NAME      the context of the kubeconfig (its current one)
  --token TOKEN       bearer token; @FILE reads it from a file`;

export interface TargetValues {
  server?: string | undefined;
  cluster?: string | undefined;
  token?: string | undefined;
  kubeconfig?: string | undefined;
  context?: string | undefined;
}

/** The address of the cluster, and the credentials of the requests. */
export interface Target {
  /** of the cluster, without a slash at its end */
  url: string;
  /** certificates and headers for every request */
  options: RequestOptions;
}

const DEFAULT_SERVER = "http://127.0.0.1:8787";

/** Throws UserError with one line. */
export async function targetOf({ server, cluster, token, kubeconfig, context }: TargetValues): Promise<Target> {
  if (context !== undefined && kubeconfig === undefined) throw new UserError("--context: goes with --kubeconfig");
  const known = kubeconfig === undefined ? undefined : await fromKubeconfig(kubeconfig, context);
  const base = (server ?? known?.url ?? DEFAULT_SERVER).replace(/\/+$/, "");
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) throw new UserError(`--server ${base}: must be a URL`);
  if (cluster !== undefined && validateDNS1123Label(cluster).length > 0) throw new UserError(`--cluster ${cluster}: must be a DNS label`);
  const options = { ...known?.options };
  if (token !== undefined) options.headers = { ...(options.headers as Record<string, string>), ...bearer(token) };
  return { url: cluster === undefined ? base : `${base}/clusters/${cluster}`, options };
}

/** The header of `--token`; `@FILE` stands for what the file holds. */
export function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token.startsWith("@") ? readOption("--token", token, token.slice(1)).trim() : token}` };
}

/** The text of a file that an option names. Throws UserError with the option as it was given. */
export function readOption(option: string, value: string, file = value): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(`${option} ${value}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * The official client reads it, because credentials come in many forms. Loaded only when needed, because it is large. Loaded by its file, because
 * the loader of these programs loses some of the names that its index exports again.
 */
async function fromKubeconfig(file: string, context: string | undefined): Promise<Target> {
  const { KubeConfig } = await import("@kubernetes/client-node/dist/config.js");
  const config = new KubeConfig();
  try {
    config.loadFromFile(file);
    if (context !== undefined) config.setCurrentContext(context);
    const current = config.getCurrentCluster();
    if (!current) throw new Error(`it has no context ${context ?? config.getCurrentContext()}`);
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    return { url: current.server, options };
  } catch (error) {
    throw new UserError(`--kubeconfig ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
