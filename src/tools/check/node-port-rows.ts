/**
 * The rows of node ports against the Services. A row without its Service keeps a number for ever; a number without its row can be given out twice.
 * Two Services with one number are judged by what the API shows (I1).
 */
import { isInNodePortRange } from "../../core/net/node-port-range";
import type { NodePortRow } from "../../addresses/rpc/repaired-node-ports";
import { keyOf } from "../../api/meta/object-key";
import { nodePortsOf, nodePortText } from "../../api/registry/services/held-by-service";
import { labelled, suspect } from "./objects";
import type { ObservedCluster, ObservedService } from "./observed";
import type { Suspicion } from "./suspicion";

/** The body of `GET /check/nodeports`. */
export interface NodePortsView {
  rows: NodePortRow[];
}

export function wrongNodePortRows(
  { services, unreadable }: Pick<ObservedCluster, "services" | "unreadable">,
  rows: readonly NodePortRow[],
): Suspicion[] {
  const byKey = new Map(services.map((service) => [keyOf(service), service]));
  const found: Suspicion[] = [];
  const holders = new Map<string, string>();
  for (const { key, ...nodePort } of rows) {
    const text = nodePortText(nodePort);
    const service = byKey.get(key);
    if (isHeldBy(service, text) || unreadable?.has(`Service ${key}`)) {
      holders.set(text, key);
      continue;
    }
    const why = service ? "which does not hold it" : "which is not there";
    const holder = { label: `Service ${key}`, uid: service?.metadata?.uid ?? "" };
    found.push(suspect("row", [holder], `node port ${text} is taken for Service ${key}, ${why}: nobody can have it`));
  }
  for (const service of services) {
    for (const nodePort of nodePortsOf(service)) {
      const text = nodePortText(nodePort);
      // Outside the range nothing is given out. What another Service has, too, is judged by I1.
      if (!isInNodePortRange(nodePort.port) || holders.has(text)) continue;
      const message = `${keyOf(service)} holds node port ${text}, and there is no row of it: it can be given out again`;
      found.push(suspect("row", [labelled("Service", service)], message));
    }
  }
  return found;
}

function isHeldBy(service: ObservedService | undefined, nodePort: string): boolean {
  return service !== undefined && nodePortsOf(service).some((held) => nodePortText(held) === nodePort);
}
