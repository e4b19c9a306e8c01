/** The command line of `npm run dns`. */
import { validateDNS1123Subdomain } from "../../src/api/meta/names";
import type { Prefix } from "../../src/core/net/prefix";
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { userPath } from "../folders/user-path";
import { beforeOptions, callOf } from "../terminal/call";
import { parseCommandLine, prefixOf, type ProgramOptions } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";

export interface DnsOptions {
  readonly target: Target;
  readonly file: string;
  readonly domain: string;
  /** addresses stand for those of these prefixes that have their low bits, as with npm run proxy; undefined = for themselves */
  readonly listenPrefix: Prefix | undefined;
  readonly listenPrefixIPv6: Prefix | undefined;
  readonly dialPrefix: Prefix | undefined;
}

const COMMAND = callOf("dns");

/** For `parseArgs`. */
export const options = {
  ...targetOptions,
  file: { type: "string" },
  domain: { type: "string", default: "cluster.local" },
  "listen-prefix": { type: "string" },
  "listen-prefix-ipv6": { type: "string" },
  "dial-prefix": { type: "string" },
} satisfies ProgramOptions;

export const usage = `Usage: ${beforeOptions(COMMAND)} --file FILE [options]

Keeps a file of hosts with the names of a cluster's Services, for dnsmasq on a laptop (docs/dns.md). The file is replaced at each change. For every
kind of record run CoreDNS. Works with any Kubernetes API server.

  --file FILE         the file, in a folder of its own, which dnsmasq reads (--hostsdir); one of somebody else is left alone
${targetUsage}
  --domain DOMAIN     the cluster's domain (cluster.local)
  --listen-prefix CIDR, --listen-prefix-ipv6 CIDR, --dial-prefix CIDR
                      where ${callOf("proxy")} with these options has ClusterIPs and endpoints: with 127.0.0.0/8 the name of 10.96.0.5 stands
                      for 127.96.0.5 (each for its own address)
  --help              this text

Exit code: 0 stopped, 1 it did not work, 2 wrong options.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<DnsOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    options,
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  if (!values.file) throw new UserError(`no --file FILE given (${beforeOptions(COMMAND)} --help shows the options)`);
  const [wrong] = validateDNS1123Subdomain(values.domain);
  if (wrong !== undefined) throw new UserError(`--domain ${values.domain}: must be a DNS domain in lower case`);
  return {
    target: await targetOf(values),
    file: userPath(values.file),
    domain: values.domain,
    listenPrefix: prefixOf("--listen-prefix", values["listen-prefix"]),
    listenPrefixIPv6: prefixOf("--listen-prefix-ipv6", values["listen-prefix-ipv6"]),
    dialPrefix: prefixOf("--dial-prefix", values["dial-prefix"]),
  };
}
