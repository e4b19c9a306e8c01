/** Annotations of a Service that the API itself reads (upstream pkg/apis/core/annotation_key_constants.go). */

export const TOPOLOGY_ANNOTATION = "service.kubernetes.io/topology-mode";
export const DEPRECATED_TOPOLOGY_ANNOTATION = "service.kubernetes.io/topology-aware-hints";
/** comma-separated form of spec.loadBalancerSourceRanges, used when that field is empty */
export const SOURCE_RANGES_ANNOTATION = "service.beta.kubernetes.io/load-balancer-source-ranges";
