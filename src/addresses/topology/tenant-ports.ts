/**
 * Node ports that are kept for the Services of some namespaces: a Ready ServiceCIDR with `servicenet.dev/node-port-range` beside its selector (tenants.ts).
 *
 * | the namespace of the Service                     | takes from, in this order      |
 * |--------------------------------------------------|--------------------------------|
 * | matches no ServiceCIDR that keeps node ports     | what no ServiceCIDR keeps      |
 * | matches some, one of them with `when-full: Fail` | their ports                    |
 * | matches some, all of them with `when-full: Any`  | their ports, then the unkept   |
 *
 * The same holds for a port that the client names. Two ServiceCIDRs with different selectors never keep the same port (coordinator/intents.ts).
 */
import { type ParsedSelector, parseLabelSelector } from "../../api/meta/selector";
import { isPortIn, type NodePortRange, nodePortRangeText } from "../../core/net/node-port-range";
import type { Topology } from "../rpc/topology";
import type { TenantLabels } from "./tenants";

/** Where the Services of a namespace take node ports. */
export interface NodePortPlaces {
  /** first from these; empty = from what is not kept */
  readonly own: readonly NodePortRange[];
  /** whether, behind its own, what nobody keeps is for it */
  readonly isOpen: boolean;
  /** all that is kept, for whomever */
  readonly kept: readonly NodePortRange[];
  /** why it may not have the port; undefined = it may */
  refusal(port: number): string | undefined;
  /** what is full, for the client */
  readonly fullText: string;
}

interface KeptPorts {
  readonly name: string;
  readonly text: string;
  readonly selector: ParsedSelector;
  readonly mayLeave: boolean;
  readonly ports: NodePortRange;
}

/** A topology is a value: it never changes. */
const keptIn = new WeakMap<Topology, readonly KeptPorts[]>();

/** Whether some node ports are kept. */
export function keepsNodePorts(topology: Topology): boolean {
  return topology.zoned === true && keptPorts(topology).length > 0;
}

/** `labels` undefined = the namespace is not known to have any. */
export function nodePortPlaces(topology: Topology, namespace: string, labels: TenantLabels | undefined): NodePortPlaces {
  const all = keptPorts(topology);
  const mine = labels ? all.filter(({ selector }) => selector.matches(labels)) : [];
  const own = mine.map(({ ports }) => ports);
  const isOpen = mine.every(({ mayLeave }) => mayLeave);
  const who = `the Services of namespace ${JSON.stringify(namespace)}`;
  const titles = mine.map(({ name, ports }) => `${nodePortRangeText(ports)} of ServiceCIDR ${JSON.stringify(name)}`).join(", ");
  return {
    own,
    isOpen,
    kept: all.map(({ ports }) => ports),
    refusal(port) {
      if (own.some((range) => isPortIn(range, port))) return undefined;
      const other = all.find(({ ports }) => isPortIn(ports, port));
      if (other) {
        const whose = `namespaces that match ${JSON.stringify(other.text)}`;
        return `ServiceCIDR ${JSON.stringify(other.name)} keeps ${nodePortRangeText(other.ports)} for ${whose}, and namespace ${JSON.stringify(namespace)} does not`;
      }
      return isOpen ? undefined : `${who} take node ports from ${titles} alone`;
    },
    fullText: own.length > 0 && !isOpen ? `range is full: ${titles}, from which ${who} take` : "range is full",
  };
}

function keptPorts(topology: Topology): readonly KeptPorts[] {
  let known = keptIn.get(topology);
  if (!known) keptIn.set(topology, (known = readKeptPorts(topology)));
  return known;
}

/** A ServiceCIDR has a row for each of its prefixes. */
function readKeptPorts({ ranges }: Topology): KeptPorts[] {
  const byName = new Map<string, KeptPorts>();
  for (const { name, selector: text, whenFull, nodePorts: ports } of ranges) {
    const parsed = text !== undefined && ports && !byName.has(name) ? parseLabelSelector(text) : undefined;
    // The store of ServiceCIDRs takes no other.
    if (text !== undefined && ports && parsed?.ok)
      byName.set(name, { name, text, selector: parsed.value, mayLeave: whenFull === "Any", ports });
  }
  return [...byName.values()].sort((a, b) => a.ports.first - b.ports.first || (a.name < b.name ? -1 : 1));
}
