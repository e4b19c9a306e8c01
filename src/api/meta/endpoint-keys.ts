/** Labels and annotations of the objects that say where a Service's traffic goes, and the names that their controllers sign with. */

/** on a slice: the Service that it belongs to; consumers group by it */
export const LABEL_SERVICE_NAME = "kubernetes.io/service-name";
/** on a slice: the controller that alone changes it */
export const LABEL_MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
/** on slices and Endpoints of a Service without a cluster IP: kube-proxy does not watch them */
export const LABEL_HEADLESS = "service.kubernetes.io/headless";
/** on Nodes */
export const LABEL_ZONE = "topology.kubernetes.io/zone";

/** on slices and Endpoints: when the change happened that led to the write */
export const ANNOTATION_TRIGGER_TIME = "endpoints.kubernetes.io/last-change-trigger-time";

/** value of LABEL_MANAGED_BY */
export const SLICE_CONTROLLER = "endpointslice-controller.k8s.io";
/** value of LABEL_MANAGED_BY */
export const MIRRORING_CONTROLLER = "endpointslicemirroring-controller.k8s.io";

/** on a Service: whether its endpoints have hints by the CPU of zones */
export const ANNOTATION_TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";
/** the older name of ANNOTATION_TOPOLOGY_MODE */
export const ANNOTATION_TOPOLOGY_AWARE_HINTS = "service.kubernetes.io/topology-aware-hints";

/** on Endpoints: who writes them */
export const LABEL_ENDPOINTS_MANAGED_BY = "endpoints.kubernetes.io/managed-by";
/** value of LABEL_ENDPOINTS_MANAGED_BY */
export const ENDPOINTS_CONTROLLER = "endpoint-controller";
/** on Endpoints: "true" = no slices are made of them */
export const LABEL_SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror";
/** on Endpoints: "truncated" = the Service has more addresses than the object */
export const ANNOTATION_OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
/** on Endpoints that are a lock of leader election, not addresses */
export const ANNOTATION_LEADER = "control-plane.alpha.kubernetes.io/leader";
