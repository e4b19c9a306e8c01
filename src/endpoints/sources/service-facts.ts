import { ANNOTATION_TOPOLOGY_AWARE_HINTS, ANNOTATION_TOPOLOGY_MODE } from "../../api/meta/endpoint-keys";
import type { Service } from "../../api/meta/kubernetes";
import { specOf } from "../../api/registry/services/predicates";

const READ_ANNOTATIONS: readonly string[] = [ANNOTATION_TOPOLOGY_AWARE_HINTS, ANNOTATION_TOPOLOGY_MODE];

/** The Service with the members alone that endpoints depend on, to be kept for every Service of a cluster. Equal facts need no look. */
export function serviceFacts(service: Service): Service {
  const { namespace, name, uid, labels, annotations, creationTimestamp, deletionTimestamp } = service.metadata ?? {};
  const { type, selector, clusterIP, ipFamilies, ports, publishNotReadyAddresses, trafficDistribution } = specOf(service);
  const read = Object.entries(annotations ?? {}).filter(([key]) => READ_ANNOTATIONS.includes(key));
  return {
    metadata: {
      namespace,
      name,
      uid,
      labels,
      ...(read.length > 0 && { annotations: Object.fromEntries(read) }),
      creationTimestamp,
      deletionTimestamp,
    },
    spec: { type, selector, clusterIP, ipFamilies, ports, publishNotReadyAddresses, trafficDistribution },
  };
}
