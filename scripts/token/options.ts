/** The command line of `npm run token`. */
import { validateDNS1123Subdomain } from "../../src/api/meta/names";
import { AGENT_PREFIX, AGENTS, NODE_PREFIX, NODES } from "../../src/access/identity/user";
import { serverOf, serverUsage, type Target, targetOptions } from "../cluster/target";
import { beforeOptions, callOf } from "../terminal/call";
import { isJson, parseCommandLine, type ProgramOptions } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";

export interface CreateTask {
  kind: "create";
  user: string;
  groups: string[];
  /** undefined = all */
  clusters: string[] | undefined;
  /** of an agent: namespaces of its Pods; undefined = all */
  agentNamespaces: string[] | undefined;
  /** of an agent: labels of its Pods, KEY or KEY=VALUE; undefined = all */
  agentLabels: string[] | undefined;
  /** ms since the epoch; undefined = never */
  expiresAt: number | undefined;
  description: string;
}

export type TokenTask =
  CreateTask | { kind: "list" } | { kind: "rotate"; id: string; graceSeconds: number } | { kind: "revoke"; id: string };

export type TokenOptions = { kind: "new-admin" } | { kind: "dev-vars" } | { kind: "ask"; target: Target; task: TokenTask; json: boolean };

const COMMAND = callOf("token");
const CALL = beforeOptions(COMMAND);
/** the year 10000 */
const TIME_MAX_MS = 253_402_300_800_000;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** For `parseArgs`. */
export const options = {
  ...targetOptions,
  cluster: { type: "string", multiple: true },
  group: { type: "string", multiple: true },
  namespaces: { type: "string" },
  labels: { type: "string" },
  expires: { type: "string" },
  grace: { type: "string" },
  description: { type: "string" },
  output: { type: "string", default: "text" },
} satisfies ProgramOptions;

/** What it does. */
export const TOKEN_COMMANDS = ["create", "list", "rotate", "revoke", "new-admin", "dev-vars"];

export const usage = `Usage: ${CALL} create USER [options]
       ${CALL} create agent NAME | create node NAME [options]
       ${CALL} list | rotate ID | revoke ID [options]
       ${CALL} new-admin | dev-vars

Tokens of this server's own users. The text of a token is printed once, on the standard output: the server keeps a salted hash of it.

  create USER         a token for this user
  create agent NAME   for the agent of a machine: user ${AGENT_PREFIX}NAME, group ${AGENTS}
  create node NAME    for the kubelet or kube-proxy of a node: user ${NODE_PREFIX}NAME, group ${NODES}
    --group NAME        a group of the user; may be given several times
    --cluster NAME      a cluster that it is good for; may be given several times (all, and the server as a whole)
    --namespaces A,B    of an agent: the namespaces where it may write Pods (all)
    --labels A=B,C      of an agent: the labels that its Pods may have, with this value or any (all)
    --expires TIME      30d, 12h, or a time as 2030-01-02T15:04:05Z (never)
    --description TEXT  what it is for
  list                all tokens, without their texts
  rotate ID           prints a new text for the token
    --grace DURATION    how long the old one is good, too: 10m, 7d at most (not at all)
  revoke ID           ends the token, within 30 s everywhere
  new-admin           prints a token of system:masters, and the line for \`wrangler secret put ADMIN_TOKEN_HASHES\`; asks no server
  dev-vars            makes .dev.vars with an administrator, and .servicenet-dev, for \`npx wrangler dev\` (docs/deploy.md); asks no server

${serverUsage}
  --output FORMAT     text or json
  --help              this text

Exit code: 0 done, 1 it did not work, 2 wrong options.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<TokenOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    allowPositionals: true,
    options,
  });
  if (parsed === "help") return "help";
  const { values, positionals } = parsed;
  const [command, ...names] = positionals;
  const json = isJson(values.output);
  refuseOptionsOf("create", command, values, ["group", "cluster", "namespaces", "labels", "expires", "description"]);
  refuseOptionsOf("rotate", command, values, ["grace"]);
  if (command === "new-admin" || command === "dev-vars") {
    if (names.length > 0) throw new UserError(`${command} takes no ${names[0] ?? ""}`);
    return { kind: command };
  }
  const task = taskOf(command, names, values);
  return { kind: "ask", target: await serverOf(values), task, json };
}

interface TaskValues {
  cluster?: string[] | undefined;
  group?: string[] | undefined;
  namespaces?: string | undefined;
  labels?: string | undefined;
  expires?: string | undefined;
  grace?: string | undefined;
  description?: string | undefined;
}

function refuseOptionsOf(owner: string, command: string | undefined, values: TaskValues, options: readonly (keyof TaskValues)[]): void {
  const given = command === owner ? undefined : options.find((option) => values[option] !== undefined);
  if (given !== undefined) throw new UserError(`--${given}: goes with ${owner}`);
}

function taskOf(command: string | undefined, names: readonly string[], values: TaskValues): TokenTask {
  switch (command) {
    case "create":
      return createTask(names, values);
    case "list":
      if (names.length > 0) throw new UserError(`list takes no ${names[0] ?? ""}`);
      return { kind: "list" };
    case "rotate": {
      const graceMs = values.grace === undefined ? 0 : durationMs("--grace", values.grace);
      return { kind: "rotate", id: onlyOf(command, names), graceSeconds: Math.round(graceMs / 1_000) };
    }
    case "revoke":
      return { kind: "revoke", id: onlyOf(command, names) };
    default:
      throw new UserError(`${command ?? "no command given"}: must be one of ${TOKEN_COMMANDS.join(", ")}`);
  }
}

function onlyOf(command: string, names: readonly string[]): string {
  const [id, more] = names;
  if (id === undefined || more !== undefined) throw new UserError(`${command}: needs one ID`);
  return id;
}

function createTask(names: readonly string[], values: TaskValues): CreateTask {
  const { group = [], cluster, namespaces, labels, expires, description = "" } = values;
  const [first, second, more] = names;
  if (first === undefined || more !== undefined) throw new UserError("create: needs a USER, agent NAME or node NAME");
  const { user, groups } = second === undefined ? { user: first, groups: [] } : machineUser(first, second);
  const limit = Object.entries({ namespaces, labels }).find(([, value]) => value !== undefined);
  if (limit && !groups.includes(AGENTS)) throw new UserError(`--${limit[0]}: goes with create agent NAME`);
  const expiresAt = expires === undefined ? undefined : timeOf(expires);
  const limits = { agentNamespaces: listOf(namespaces), agentLabels: listOf(labels) };
  return { kind: "create", user, groups: [...groups, ...group], clusters: cluster, ...limits, expiresAt, description };
}

function listOf(text: string | undefined): string[] | undefined {
  return text?.split(",").map((part) => part.trim());
}

function machineUser(kind: string, name: string): { user: string; groups: string[] } {
  if (kind !== "agent" && kind !== "node")
    throw new UserError(`create ${kind} ${name}: must be create USER, create agent NAME or create node NAME`);
  const [problem] = validateDNS1123Subdomain(name);
  if (problem !== undefined) throw new UserError(`create ${kind} ${name}: ${problem}`);
  return kind === "agent" ? { user: `${AGENT_PREFIX}${name}`, groups: [AGENTS] } : { user: `${NODE_PREFIX}${name}`, groups: [NODES] };
}

function timeOf(text: string): number {
  const at = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Date.now() + durationMs("--expires", text);
  if (!(at < TIME_MAX_MS)) throw new UserError(`--expires ${text}: must be a time before the year 10000, as 2030-01-02T15:04:05Z`);
  return at;
}

function durationMs(option: string, text: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new UserError(`${option} ${text}: must be a duration, as 30d, 12h or 10m`);
  return Number(count) * (UNIT_MS[unit] ?? 0);
}
