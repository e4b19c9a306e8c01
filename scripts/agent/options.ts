/** The command line of `npm run agent`. */
import { hostname, homedir } from "node:os";
import { join } from "node:path";
import { readEndpointFlag } from "../../src/clients/agent/index";
import { validateDNS1123Subdomain, validateLabelValue, validateQualifiedName } from "../../src/api/meta/names";
import { parseAddress } from "../../src/core/net/address";
import { specialAddressMessages } from "../../src/core/net/special-addresses";
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { userPath } from "../folders/user-path";
import { beforeOptions, callOf } from "../terminal/call";
import { parseCommandLine, type ProgramOptions, wholeNumber } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";
import { addressesFound } from "./addresses-found";

export interface AgentOptions {
  readonly target: Target;
  /** holds a bearer token and is read anew; undefined = the target's credentials alone */
  readonly tokenFile: string | undefined;
  readonly node: string;
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly stateFolder: string;
  readonly proxyHealth: string | undefined;
  /** path of the file of endpoints */
  readonly endpointsFile: string | undefined;
  /** values of --endpoint, each a good one */
  readonly endpoints: readonly string[];
  readonly syncPeriodMs: number;
  readonly isLeaving: boolean;
  readonly leaveAfterMs: number;
}

const SYNC_SECONDS_MAX = 3_600;
const LEAVE_SECONDS_MAX = 3_600;
const ZONE = "topology.kubernetes.io/zone";

const COMMAND = callOf("agent");

/** For `parseArgs`. */
export const options = {
  ...targetOptions,
  node: { type: "string" },
  address: { type: "string", multiple: true, default: [] },
  zone: { type: "string" },
  label: { type: "string", multiple: true, default: [] },
  state: { type: "string" },
  "proxy-health": { type: "string" },
  "sync-period": { type: "string", default: "30" },
  endpoints: { type: "string" },
  endpoint: { type: "string", multiple: true, default: [] },
  leave: { type: "boolean", default: false },
  "leave-after": { type: "string", default: "30" },
} satisfies ProgramOptions;

export const usage = `Usage: ${beforeOptions(COMMAND)} --node NAME [options]

Makes this machine a node of a cluster: its Node, its Lease and the health of its Service proxy. Run kube-proxy and CoreDNS beside it
(docs/services-without-kubernetes.md).

  --node NAME         name of the Node; made, or taken over
${targetUsage}
  --address ADDRESS   the node's address; may be repeated, the preferred one first (the machine's own, one for each family)
  --zone ZONE         the node's zone
  --label KEY=VALUE   a label of the Node; may be repeated
  --state FOLDER      what outlives a restart; a folder for each node (~/.local/state/servicenet-agent/NAME)
  --proxy-health URL  where kube-proxy tells of its health: http://127.0.0.1:10256/healthz (nobody is asked)
  --sync-period SECONDS
                      how often the health is reported, as the server's PROXY_SYNC_PERIOD_SECONDS; a change is reported at once (30)
  --endpoints FILE    the machine's endpoints; YAML, followed
  --endpoint SPEC     one more: web=8080,labels=app=web,check=http:/healthz; may be repeated
  --leave             at the end taint the Node, and delete it
  --leave-after SECONDS
                      how long load balancers have between the taint and the deletion (30)
  --help              this text

Exit code: 0 stopped, or the Node was deleted; 1 another agent has the node, or it did not work; 2 wrong options.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<AgentOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    options,
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  const { node, zone, "token-file": tokenFile, "proxy-health": proxyHealth } = values;
  if (!node) throw new UserError(`no --node NAME given (${beforeOptions(COMMAND)} --help shows the options)`);
  const [wrong] = validateDNS1123Subdomain(node);
  if (wrong !== undefined) throw new UserError(`--node ${node}: ${wrong}`);
  if (tokenFile !== undefined && values.token !== undefined) throw new UserError("--token-file: not beside --token");
  if (proxyHealth !== undefined && !isHttpUrl(proxyHealth)) throw new UserError(`--proxy-health ${proxyHealth}: must be an HTTP URL`);
  return {
    // The file of the token may come later.
    target: await targetOf({ ...values, "token-file": undefined }),
    tokenFile: tokenFile && userPath(tokenFile),
    node,
    hostname: hostname(),
    addresses: values.address.length > 0 ? addressesOf(values.address) : addressesFound(),
    labels: { ...labelsOf(values.label), ...(zone !== undefined && labelOf("--zone", zone, ZONE, zone)) },
    stateFolder:
      values.state !== undefined
        ? userPath(values.state)
        : join(process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state"), "servicenet-agent", node),
    proxyHealth,
    endpointsFile: values.endpoints && userPath(values.endpoints),
    endpoints: endpointsOf(values.endpoint),
    syncPeriodMs: wholeNumber("--sync-period", values["sync-period"], 1, SYNC_SECONDS_MAX) * 1_000,
    isLeaving: values.leave,
    leaveAfterMs: wholeNumber("--leave-after", values["leave-after"], 0, LEAVE_SECONDS_MAX) * 1_000,
  };
}

function addressesOf(texts: readonly string[]): string[] {
  const addresses = texts.map((text) => {
    const parsed = parseAddress(text);
    if (!parsed.ok) throw new UserError(`--address ${text}: must be an IP address`);
    const [wrong] = specialAddressMessages(parsed.value, text);
    if (wrong !== undefined) throw new UserError(`--address ${text}: ${wrong}, since endpoints are reached there`);
    return parsed.value.canonical;
  });
  return [...new Set(addresses)];
}

function endpointsOf(flags: readonly string[]): readonly string[] {
  for (const flag of flags) {
    const read = readEndpointFlag(flag);
    if (!read.ok) throw new UserError(`--endpoint ${flag}: ${read.error}`);
  }
  return flags;
}

function labelsOf(texts: readonly string[]): Record<string, string> {
  return Object.assign(
    {},
    ...texts.map((text) => {
      const end = text.indexOf("=");
      if (end < 0) throw new UserError(`--label ${text}: must be KEY=VALUE`);
      return labelOf("--label", text, text.slice(0, end), text.slice(end + 1));
    }),
  ) as Record<string, string>;
}

function labelOf(option: string, text: string, key: string, value: string): Record<string, string> {
  const [wrong] = [...validateQualifiedName(key), ...validateLabelValue(value)];
  if (wrong !== undefined) throw new UserError(`${option} ${text}: ${wrong}`);
  return { [key]: value };
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text);
}
