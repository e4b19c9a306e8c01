/** The endpoints that a Service should have, and those that slices show: the model of the check (src/tools/check). */
import type { EndpointSlice, Node, Pod, Service } from "../../src/api/meta/kubernetes";
import { selectionOf } from "../../src/tools/check/observed";
import { WantedEndpoints } from "../../src/tools/check/wanted-endpoints";

/** One text for each endpoint: family, ports, and everything that the endpoint says but hints. Sorted; a family without endpoints has none. */
export function naiveEndpoints(service: Service, pods: readonly Pod[], nodes: readonly Node[]): string[] {
  const selection = selectionOf(service);
  if (!selection) return [];
  const zones = new Map(nodes.map(({ metadata }) => [metadata?.name ?? "", metadata?.labels?.["topology.kubernetes.io/zone"] ?? ""]));
  const model = new WantedEndpoints([{ metadata: service.metadata, selection }], zones, true);
  return pods.flatMap((pod) => model.of(pod).map(({ text }) => text)).sort();
}

/** The texts of naiveEndpoints, read from the slices. */
export function sliceLines(slices: readonly EndpointSlice[]): string[] {
  const model = new WantedEndpoints([], new Map(), true);
  return slices.flatMap((slice) => model.textsOf(slice)).sort();
}
