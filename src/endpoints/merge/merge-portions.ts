/** Many slices of a Service as one list of endpoints for each port. */
import { endpointsOn, type MergedEndpoint, type SlicePortion } from "../../api/registry/endpoint-slices/slice-portion";

/** The endpoints of a Service by port (portKey), each list ascending by the text of its keys. */
export type MergedPorts = ReadonlyMap<string, readonly MergedEndpoint[]>;

/**
 * Endpoints of one Service over all of its ports: 20,000 on 50 ports. A slice of 1,000 endpoints may have 20,000 ports, and whoever writes a Service
 * with as many would take all memory. What is beyond is left out.
 */
const ENDPOINTS_MAX = 1_000_000;

/**
 * An endpoint on its way from one slice to another may stand in both, perhaps in different states. It counts once. One that is not terminating wins,
 * as in kube-proxy. Kube-proxy leaves further choices to chance; here ready wins over serving, serving over neither, then the slice that comes first.
 *
 * @param portions in an order that does not change by itself, such as by the names of the slices
 * @param ports of the Service, as portKey makes them: slices may have others, which nobody is sent to
 */
export function mergePortions(portions: Iterable<SlicePortion>, ports: readonly string[], endpointsMax = ENDPOINTS_MAX): MergedPorts {
  const byPort = new Map(ports.map((port) => [port, new Map<string, MergedEndpoint>()]));
  let count = 0;
  for (const portion of portions) {
    for (const port of portion.ports) {
      const merged = byPort.get(port.key);
      if (!merged || count + portion.endpoints.length > endpointsMax) continue;
      count += portion.endpoints.length;
      for (const endpoint of endpointsOn(portion, port)) {
        const other = merged.get(endpoint.key);
        if (!other || rankOf(endpoint) > rankOf(other)) merged.set(endpoint.key, endpoint);
      }
    }
  }
  const lists = new Map<string, readonly MergedEndpoint[]>();
  for (const [port, merged] of byPort) {
    if (merged.size > 0) lists.set(port, [...merged.values()].sort(byKey));
  }
  return lists;
}

/** The same endpoints on the same ports. */
export function samePorts(a: MergedPorts, b: MergedPorts): boolean {
  if (a.size !== b.size) return false;
  for (const [port, endpoints] of a) {
    const others = b.get(port);
    if (others?.length !== endpoints.length || !endpoints.every((endpoint, i) => sameEndpoint(endpoint, others[i]))) return false;
  }
  return true;
}

function rankOf({ ready, serving, terminating }: MergedEndpoint): number {
  return (terminating ? 0 : 4) + (ready ? 2 : 0) + (serving ? 1 : 0);
}

function byKey(a: MergedEndpoint, b: MergedEndpoint): number {
  return a.key < b.key ? -1 : 1;
}

function sameEndpoint(a: MergedEndpoint, b: MergedEndpoint | undefined): boolean {
  if (a === b) return true;
  return (
    b !== undefined &&
    a.key === b.key &&
    a.ready === b.ready &&
    a.serving === b.serving &&
    a.terminating === b.terminating &&
    a.nodeName === b.nodeName &&
    a.zone === b.zone &&
    sameTexts(a.zoneHints, b.zoneHints) &&
    sameTexts(a.nodeHints, b.nodeHints)
  );
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((text, i) => text === b[i]));
}
