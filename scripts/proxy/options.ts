/** The command line of `npm run proxy`. */
import { parseAddress } from "../../src/core/net/address";
import type { Prefix } from "../../src/core/net/prefix";
import type { ListenPlaces } from "../../src/clients/proxy/index";
import { type Target, targetOf, targetOptions, targetUsage } from "../cluster/target";
import { beforeOptions, callOf } from "../terminal/call";
import { parseCommandLine, prefixOf, type ProgramOptions, wholeNumber } from "../terminal/command-line";
import { UserError } from "../terminal/user-error";

/** Where an HTTP server listens. */
export interface BindAddress {
  readonly address: string;
  /** 0 = any free one */
  readonly port: number;
}

export interface ProxyOptions {
  readonly target: Target;
  readonly node: string;
  readonly places: ListenPlaces;
  /** endpoints are reached at the addresses of this prefix that have their low bits; undefined = at their own */
  readonly dialPrefix: Prefix | undefined;
  /** added to a port below 1024 that the system refuses; 0 = such a port is not served */
  readonly lowPortOffset: number;
  /** after so long without a datagram a UDP client may get another endpoint */
  readonly udpTimeoutMs: number;
  /** undefined = none */
  readonly healthz: BindAddress | undefined;
  readonly metrics: BindAddress | undefined;
  /** Between two reports to the API server. A change that waits twice as long makes the proxy unhealthy. */
  readonly syncPeriodMs: number;
  /** The API server is told how the proxy is. */
  readonly reports: boolean;
}

const PORT_MAX = 65_535;
const OFFSET_MAX = 64_000;
const SECONDS_MAX = 86_400;
/** As the server's PROXY_SYNC_PERIOD_SECONDS. */
const SYNC_PERIOD_SECONDS_MAX = 3_600;

const COMMAND = callOf("proxy");

/** For `parseArgs`. */
export const options = {
  ...targetOptions,
  node: { type: "string" },
  "listen-prefix": { type: "string", default: "127.0.0.0/8" },
  "listen-prefix-ipv6": { type: "string", default: "127.6.0.0/16" },
  "node-port-address": { type: "string", multiple: true, default: ["127.0.0.1", "::1"] },
  "dial-prefix": { type: "string" },
  "low-port-offset": { type: "string", default: "10000" },
  "udp-timeout": { type: "string", default: "60" },
  "healthz-bind-address": { type: "string", default: "127.0.0.1:10256" },
  "metrics-bind-address": { type: "string", default: "127.0.0.1:10249" },
  "sync-period": { type: "string", default: "30" },
  "no-reports": { type: "boolean", default: false },
} satisfies ProgramOptions;

export const usage = `Usage: ${beforeOptions(COMMAND)} --node NAME [options]

Serves every ClusterIP and node port of a cluster on this machine's loopback addresses, TCP and UDP, without rights: for laptops, demonstrations
and tests (docs/proxy.md). For a real node run kube-proxy. Works with any Kubernetes API server.

  --node NAME         the Node that this machine stands for: its local endpoints and its zone
${targetUsage}
  --listen-prefix CIDR
                      where IPv4 ClusterIPs are served: 10.96.0.5 at 127.96.0.5 (127.0.0.0/8)
  --listen-prefix-ipv6 CIDR
                      where IPv6 ClusterIPs are served, by their low bits: fd00::5 at 127.6.0.5 (127.6.0.0/16)
  --node-port-address ADDRESS
                      where node ports are served, also for health checks; may be repeated (127.0.0.1 and ::1)
  --dial-prefix CIDR  endpoints are reached by their low bits, too: with 127.0.0.0/8, 10.1.0.2 at 127.1.0.2 (at their own addresses)
  --low-port-offset N what is added to a port below 1024 that needs rights; 0 = it is not served (10000)
  --udp-timeout SECONDS
                      after so long without a datagram a UDP client may get another endpoint (60)
  --healthz-bind-address ADDRESS:PORT
                      for /healthz and /livez; port 0 = any free one, none = nowhere (127.0.0.1:10256)
  --metrics-bind-address ADDRESS:PORT
                      for /metrics (127.0.0.1:10249)
  --sync-period SECONDS
                      how often Servicenet is told how the proxy is; a change that waits for two periods makes it unhealthy (30)
  --no-reports        nobody is told; for a node whose agent reports (docs/load-balancer-health-checks.md)
  --help              this text

Exit code: 0 stopped, 1 it did not work, 2 wrong options.`;

/** Options from the arguments, or "help". Throws UserError with one line. */
export async function parseOptions(args: string[]): Promise<ProxyOptions | "help"> {
  const parsed = parseCommandLine(COMMAND, {
    args,
    options,
  });
  if (parsed === "help") return "help";
  const { values } = parsed;
  if (!values.node) throw new UserError(`no --node NAME given (${beforeOptions(COMMAND)} --help shows the options)`);
  return {
    target: await targetOf(values),
    node: values.node,
    places: {
      clusterIPs: {
        IPv4: prefixOf("--listen-prefix", values["listen-prefix"]),
        IPv6: prefixOf("--listen-prefix-ipv6", values["listen-prefix-ipv6"]),
      },
      nodePorts: values["node-port-address"].map((text) => addressOf("--node-port-address", text)),
    },
    dialPrefix: prefixOf("--dial-prefix", values["dial-prefix"]),
    lowPortOffset: wholeNumber("--low-port-offset", values["low-port-offset"], 0, OFFSET_MAX),
    udpTimeoutMs: wholeNumber("--udp-timeout", values["udp-timeout"], 1, SECONDS_MAX) * 1_000,
    healthz: bindAddressOf("--healthz-bind-address", values["healthz-bind-address"]),
    metrics: bindAddressOf("--metrics-bind-address", values["metrics-bind-address"]),
    syncPeriodMs: wholeNumber("--sync-period", values["sync-period"], 1, SYNC_PERIOD_SECONDS_MAX) * 1_000,
    reports: !values["no-reports"],
  };
}

function addressOf(option: string, text: string, shown = text): string {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.value.canonical;
  throw new UserError(`${option} ${shown}: must be an IP address`);
}

function bindAddressOf(option: string, text: string): BindAddress | undefined {
  if (text === "none") return undefined;
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d+)$/.exec(text) ?? [];
  const address = bracketed ?? plain;
  if (address === undefined || port === undefined) throw new UserError(`${option} ${text}: must be ADDRESS:PORT or none`);
  if (Number(port) > PORT_MAX) throw new UserError(`${option} ${text}: the port must be a whole number from 0 to ${String(PORT_MAX)}`);
  return { address: addressOf(option, address, text), port: Number(port) };
}
