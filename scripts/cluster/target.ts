/** Which cluster a program works on: the options and their meaning. */
import { readFileSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Official from "@kubernetes/client-node/dist/config.js";
import { parse } from "yaml";
import { validateDNS1123Label } from "../../src/api/meta/names";
import { PACKAGED_KUBECONFIG } from "../packaging/packaged";
import { isPackage, root } from "../running/root.mjs";
import { userPath } from "../folders/user-path";
import { ensureInstalled } from "../running/ensure-installed.mjs";
import { callOf } from "../terminal/call";
import { UserError } from "../terminal/user-error";

/** Options for `parseArgs`. */
export const targetOptions = {
  server: { type: "string" },
  cluster: { type: "string" },
  token: { type: "string" },
  "token-file": { type: "string" },
  "ca-file": { type: "string" },
  kubeconfig: { type: "string" },
  context: { type: "string" },
} as const;

export const targetUsage = `  --server URL        where the cluster answers (what the kubeconfig says)
  --cluster NAME      the cluster there (default)
  --kubeconfig FILE   server, certificates and credentials as kubectl has them (those that ${callOf("serve")} has written to .servicenet/kubeconfig, if they
                      are for that server)
  --context NAME      the context of the kubeconfig (its current one)
  --token TOKEN       bearer token; @FILE reads it from a file
  --token-file FILE   file of a bearer token; the agent reads it anew every few seconds
  --ca-file FILE      certificates (PEM) of the authorities that the server's certificate may come from`;

/** The same of a program that works on a server as a whole. */
export const serverUsage = targetUsage
  .split("\n")
  .filter((line) => !line.startsWith("  --cluster"))
  .join("\n");

export interface TargetValues {
  server?: string | undefined;
  cluster?: string | undefined;
  token?: string | undefined;
  "token-file"?: string | undefined;
  "ca-file"?: string | undefined;
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

const DEFAULT_SERVER = "https://127.0.0.1:8787";
/** What `npm start` writes in this folder. */
const LOCAL_KUBECONFIG = join(".servicenet", "kubeconfig");

/** Throws UserError with one line. */
export async function targetOf(values: TargetValues): Promise<Target> {
  const { server, cluster, kubeconfig, context } = values;
  if (context !== undefined && kubeconfig === undefined) throw new UserError("--context: goes with --kubeconfig");
  if (server !== undefined) checkUrl(server);
  if (cluster !== undefined && validateDNS1123Label(cluster).length > 0) throw new UserError(`--cluster ${cluster}: must be a DNS label`);
  const known = kubeconfig === undefined ? fromLocalServer(server) : await fromKubeconfig(kubeconfig, context);
  const base = (server ?? known?.url ?? DEFAULT_SERVER).replace(/\/+$/, "");
  return { url: cluster === undefined ? base : `${base}/clusters/${cluster}`, options: withGiven(known?.options, values) };
}

/** The server as a whole, also where the kubeconfig names one of its clusters. Throws UserError with one line. */
export async function serverOf(values: Omit<TargetValues, "cluster">): Promise<Target> {
  const target = await targetOf({ ...values, cluster: undefined });
  return { ...target, url: target.url.replace(/\/clusters\/[^/]+$/, "") };
}

function checkUrl(server: string): void {
  if (!/^https?:\/\//.test(server) || !URL.canParse(server)) throw new UserError(`--server ${server}: must be a URL`);
}

/** What the command line says goes before what the kubeconfig says. */
function withGiven(known: RequestOptions | undefined, { token, "token-file": tokenFile, "ca-file": caFile }: TargetValues): RequestOptions {
  if (token !== undefined && tokenFile !== undefined) throw new UserError("--token-file: not beside --token");
  const options = { ...known };
  if (caFile !== undefined) options.ca = readOption("--ca-file", caFile);
  const given = token ?? (tokenFile === undefined ? undefined : readOption("--token-file", tokenFile).trim());
  if (given !== undefined) options.headers = { ...(options.headers as Record<string, string>), ...bearer(given) };
  return options;
}

/** The local server as its kubeconfig says, where there is one, and it is for `server` or none is given. */
function fromLocalServer(server: string | undefined): Target | undefined {
  const known = readLocalKubeconfig();
  if (!known) return undefined;
  return server === undefined || new URL(server).origin === new URL(known.url).origin ? known : undefined;
}

/** Those that `npm start` writes are read without the official client. Undefined: there is none. */
function readLocalKubeconfig(): Target | undefined {
  let config: LocalKubeconfig;
  try {
    config = parse(readFileSync(LOCAL_KUBECONFIG, "utf8")) as LocalKubeconfig;
  } catch {
    return undefined;
  }
  const { server, "certificate-authority-data": ca } = config.clusters?.[0]?.cluster ?? {};
  const token = config.users?.[0]?.user?.token;
  if (server === undefined || !URL.canParse(server)) return undefined;
  const options: RequestOptions = ca === undefined ? {} : { ca: Buffer.from(ca, "base64").toString() };
  return { url: server, options: token === undefined ? options : { ...options, headers: bearer(token) } };
}

interface LocalKubeconfig {
  clusters?: { cluster?: { server?: string; "certificate-authority-data"?: string } }[];
  users?: { user?: { token?: string } }[];
}

/** The header of `--token`; `@FILE` stands for what the file holds. */
export function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token.startsWith("@") ? readOption("--token", token, token.slice(1)).trim() : token}` };
}

/** The text of a file that an option names. Throws UserError with the option as it was given. */
export function readOption(option: string, value: string, file = value): string {
  try {
    return readFileSync(userPath(file), "utf8");
  } catch (error) {
    throw new UserError(`${option} ${value}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The official client reads it, because credentials come in many forms. */
async function fromKubeconfig(file: string, context: string | undefined): Promise<Target> {
  const config = new (await officialKubeConfig())();
  try {
    config.loadFromFile(userPath(file));
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

/**
 * A package for development: it is large, and only this option needs it. So it is installed when the option is given, and stays out of the bundles of
 * programs. Of its files the one is loaded that is needed; an installed package has that one.
 */
async function officialKubeConfig(): Promise<typeof Official.KubeConfig> {
  if (isPackage) return ((await import(pathToFileURL(PACKAGED_KUBECONFIG).href)) as typeof Official).KubeConfig;
  await ensureInstalled({ development: true });
  const file = pathToFileURL(join(root, "node_modules", "@kubernetes", "client-node", "dist", "config.js"));
  return ((await import(file.href)) as typeof Official).KubeConfig;
}
