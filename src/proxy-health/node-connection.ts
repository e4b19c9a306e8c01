/**
 * Where a request to `nodes/{id}/proxy` would go. Source: upstream apimachinery util/net/port_split.go, pkg/registry/core/node/strategy.go (ResourceLocation)
 * and pkg/util/node/node.go. Nothing is reached from here: this server answers for the ports of the node's Service proxy, and no other port listens.
 */
import type { Node } from "../api/meta/kubernetes";
import { err, ok, type Result } from "../core/base/result";
import { hostAndPort } from "../core/net/host-and-port";

/** Where kube-proxy answers /healthz and /livez. */
export const PROXY_HEALTH_PORT = 10_256;
/** The kubelet's port where its Node names none. */
const KUBELET_PORT = 10_250;

/** In the order of kubeadm's `--kubelet-preferred-address-types`: names of hosts mean nothing to this server, so they come last. */
const PREFERRED_TYPES = ["InternalIP", "ExternalIP", "Hostname", "InternalDNS", "ExternalDNS"];

const SCHEMES = ["", "http", "https"] as const;
const PORT = /^[0-9]{1,5}$/;

export interface NodeId {
  scheme: (typeof SCHEMES)[number];
  name: string;
  /** undefined = the kubelet's */
  port: number | undefined;
}

/** The id `name`, `name:port` or `scheme:name:port`; undefined for any other text. Upstream takes names of ports, too, and then fails on them. */
export function parseNodeId(id: string): NodeId | undefined {
  const parts = id.split(":");
  if (parts.length > 3) return undefined;
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  const known = SCHEMES.find((one) => one === scheme);
  if (known === undefined || name === "" || (port !== "" && !PORT.test(port))) return undefined;
  return { scheme: known, name, port: port === "" ? undefined : Number(port) };
}

/** The port that the id names, or the kubelet's. */
export function portOf({ port }: NodeId, node: Node | undefined): number {
  return port ?? (node?.status?.daemonEndpoints?.kubeletEndpoint?.Port || KUBELET_PORT);
}

/** What the dial of a port where nothing listens says; the error is upstream's for a Node without an address. */
export function refusedDial({ status }: Node, port: number): Result<string, string> {
  const addresses = status?.addresses ?? [];
  for (const preferred of PREFERRED_TYPES) {
    const found = addresses.find(({ type }) => type === preferred);
    if (!found) continue;
    const place = hostAndPort(found.address, port);
    return ok(port > 65_535 ? `dial tcp: address ${port}: invalid port` : `dial tcp ${place}: connect: connection refused`);
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(" ");
  return err(`no preferred addresses found; known addresses: [${known}]`);
}
