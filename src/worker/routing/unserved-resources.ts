/**
 * The resources of Kubernetes v1.36 that this server does not have. The 404 for one names it. Other unknown resources are answered as upstream
 * answers them. Source: upstream pkg/controlplane/instance.go and the registries below pkg/registry (rest/storage_*.go).
 */
import { type Status, unknownResource } from "../../api/meta/status";

/** By group: the resources, and the subresources of resources that are served. Secrets are served where no other machine reaches the server. */
const UNSERVED: Readonly<Record<string, string>> = {
  "":
    "componentstatuses limitranges persistentvolumeclaims persistentvolumes replicationcontrollers " +
    "secrets pods/attach pods/ephemeralcontainers pods/exec pods/log pods/portforward pods/proxy " +
    "pods/resize services/proxy",
  "admissionregistration.k8s.io":
    "mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations validatingadmissionpolicies " +
    "validatingadmissionpolicybindings validatingwebhookconfigurations",
  "apiextensions.k8s.io": "customresourcedefinitions",
  "apiregistration.k8s.io": "apiservices",
  apps: "controllerrevisions daemonsets deployments replicasets statefulsets",
  autoscaling: "horizontalpodautoscalers",
  batch: "cronjobs jobs",
  "certificates.k8s.io": "certificatesigningrequests clustertrustbundles podcertificaterequests",
  "coordination.k8s.io": "leasecandidates",
  "flowcontrol.apiserver.k8s.io": "flowschemas prioritylevelconfigurations",
  "internal.apiserver.k8s.io": "storageversions",
  "networking.k8s.io": "ingressclasses ingresses networkpolicies",
  "node.k8s.io": "runtimeclasses",
  policy: "poddisruptionbudgets",
  "resource.k8s.io": "deviceclasses devicetaintrules resourceclaims resourceclaimtemplates resourceslices",
  "scheduling.k8s.io": "priorityclasses workloads",
  "storage.k8s.io": "csidrivers csinodes csistoragecapacities storageclasses volumeattachments volumeattributesclasses",
  "storagemigration.k8s.io": "storageversionmigrations",
};

const names = new Map(Object.entries(UNSERVED).map(([group, text]) => [group, new Set(text.split(" "))]));

/**
 * The 404 of an unserved path [resource, name?, subresource?, …] of a group; undefined for a resource that Kubernetes does not have. `isServed`: the
 * resource itself is, on this server.
 */
export function unservedResource(group: string, [resource = "", , subresource]: readonly string[], isServed = false): Status | undefined {
  const known = names.get(group);
  const own = known?.has(resource) && !isServed ? resource : `${resource}/${subresource}`;
  if (!known?.has(own)) return undefined;
  const status = unknownResource();
  const named = group === "" ? own : `${own}.${group}`;
  return {
    ...status,
    message: `${status.message}: ${named} is not served; see kubectl api-resources and docs/compatibility.md for what is`,
  };
}
