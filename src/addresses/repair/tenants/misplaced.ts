/**
 * Services whose addresses no longer fit the labels of their namespace: the labels changed, or the selector of a range did (topology/tenants.ts). No
 * address moves by itself, so that these are reported. Where no range is kept for the Services of some namespaces, nothing is read.
 */
import { referenceTo } from "../../../api/events/event-recorder";
import type { Namespace, Service } from "../../../api/meta/kubernetes";
import { readObject } from "../../../api/meta/read-object";
import { DEFAULT_NAME, DEFAULT_NAMESPACE } from "../../../api/registry/default-objects";
import { servicesDefinition } from "../../../api/registry/services/definition";
import { clusterIPTextsOf } from "../../../api/registry/services/held-by-service";
import { chunksOf } from "../../../core/base/chunks";
import type { Topology } from "../../rpc/topology";
import { refusalOf } from "../../topology/tenants";
import type { RepairPorts } from "../repair-ports";
import { readClusterIP } from "../rules";

const PAGE = 100;

export class MisplacedServices {
  constructor(private readonly ports: Pick<RepairPorts, "events" | "namespaces">) {}

  /**
   * Reports those of the Services.
   *
   * @param kept the Ready ranges; undefined = none of them is kept for the Services of some namespaces
   */
  async report(services: Iterable<Service>, kept: Topology | undefined): Promise<void> {
    const { events, namespaces } = this.ports;
    if (!kept || !namespaces) return;
    const judged = [...services].filter(({ metadata }) => metadata?.namespace !== DEFAULT_NAMESPACE || metadata.name !== DEFAULT_NAME);
    const names = [...new Set(judged.map(({ metadata }) => metadata?.namespace ?? ""))];
    const labelled = new Map<string, Readonly<Record<string, string>>>();
    for (const chunk of chunksOf(names, PAGE)) {
      const texts = await namespaces(chunk.map((name) => ({ namespace: "", name })));
      for (const [i, text] of texts.entries()) {
        // What is gone, or cannot be read, says nothing about its Services.
        const read = text === null ? undefined : readObject<Namespace>(text);
        if (read) labelled.set(chunk[i] ?? "", read.metadata?.labels ?? {});
      }
    }
    for (const service of judged) {
      const namespace = service.metadata?.namespace ?? "";
      const labels = labelled.get(namespace);
      if (!labels) continue;
      for (const text of clusterIPTextsOf(service)) {
        const ip = readClusterIP(text);
        const why = ip && refusalOf(kept, ip, { namespace, labels });
        if (ip && why !== undefined)
          events.report({ ...misplaced(ip, why), type: "Warning", regarding: referenceTo(servicesDefinition, service) });
      }
    }
  }
}

function misplaced(
  { family, address }: { family: string; address: string },
  why: string,
): { reason: string; action: string; note: string } {
  const note = `Cluster IP [${family}]: ${address} does not fit the labels of its namespace any more: ${why}; please recreate service`;
  return { reason: "ClusterIPNotForNamespace", action: "ClusterIPAllocation", note };
}
