/**
 * Services whose addresses or node ports no longer fit the labels of their namespace: the labels changed, or the selector of a range did
 * (topology/tenants.ts, tenant-ports.ts). Nothing moves by itself, so that these are reported. Where no range is kept for the Services of some namespaces, nothing is read.
 */
import { referenceTo } from "../../../api/events/event-recorder";
import type { Namespace, Service } from "../../../api/meta/kubernetes";
import { readObject } from "../../../api/meta/read-object";
import { DEFAULT_NAME, DEFAULT_NAMESPACE } from "../../../api/registry/default-objects";
import { servicesDefinition } from "../../../api/registry/services/definition";
import { clusterIPTextsOf } from "../../../api/registry/services/held-by-service";
import { chunksOf } from "../../../core/base/chunks";
import type { Topology } from "../../rpc/topology";
import { heldNodePorts } from "../../node-ports/node-port-plan";
import { keepsNodePorts, nodePortPlaces } from "../../topology/tenant-ports";
import { refusalOf, type TenantLabels } from "../../topology/tenants";
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
      const labels = labelled.get(service.metadata?.namespace ?? "");
      if (!labels) continue;
      const found = [...misplacedAddresses(service, labels, kept), ...misplacedPorts(service, labels, kept)];
      for (const one of found) events.report({ ...one, type: "Warning", regarding: referenceTo(servicesDefinition, service) });
    }
  }
}

interface Misplaced {
  reason: string;
  action: string;
  note: string;
}

function misplacedAddresses(service: Service, labels: TenantLabels, kept: Topology): Misplaced[] {
  const namespace = service.metadata?.namespace ?? "";
  return clusterIPTextsOf(service).flatMap((text) => {
    const ip = readClusterIP(text);
    const why = ip && refusalOf(kept, ip, { namespace, labels });
    return ip && why !== undefined ? [misplaced(ip, why)] : [];
  });
}

/** A number that two protocols share is one. */
function misplacedPorts(service: Service, labels: TenantLabels, kept: Topology): Misplaced[] {
  const held = keepsNodePorts(kept) ? [...new Set(heldNodePorts(service).map(({ port }) => port))] : [];
  if (held.length === 0) return [];
  const places = nodePortPlaces(kept, service.metadata?.namespace ?? "", labels);
  return held.flatMap((port) => {
    const why = places.refusal(port);
    const note = `NodePort ${String(port)} does not fit the labels of its namespace any more: ${String(why)}; please recreate service`;
    return why === undefined ? [] : [{ reason: "NodePortNotForNamespace", action: "NodePortAllocation", note }];
  });
}

function misplaced({ family, address }: { family: string; address: string }, why: string): Misplaced {
  const note = `Cluster IP [${family}]: ${address} does not fit the labels of its namespace any more: ${why}; please recreate service`;
  return { reason: "ClusterIPNotForNamespace", action: "ClusterIPAllocation", note };
}
