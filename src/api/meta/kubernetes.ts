/**
 * Kubernetes object types as they travel in JSON, derived from the types of the official JavaScript client. Nothing of the client is
 * bundled. The client types times as Date; on the wire they are strings.
 */
import type {
  AuthenticationV1TokenRequest,
  CoreV1Event,
  EventsV1Event,
  RbacV1Subject,
  V1Binding,
  V1ClusterRole,
  V1ClusterRoleBinding,
  V1Condition,
  V1ConfigMap,
  V1DeleteOptions,
  V1EndpointSlice,
  V1Endpoints,
  V1Eviction,
  V1IPAddress,
  V1LabelSelector,
  V1Lease,
  V1Namespace,
  V1Node,
  V1ObjectMeta,
  V1OwnerReference,
  V1Pod,
  V1PodTemplate,
  V1PolicyRule,
  V1ResourceQuota,
  V1Role,
  V1RoleBinding,
  V1RoleRef,
  V1Secret,
  V1Service,
  V1ServiceAccount,
  V1ServiceCIDR,
  V1ServicePort,
} from "@kubernetes/client-node";

/** Integers of 64 bits that clients choose and the server's rules read. */
type Int64Member = "gracePeriodSeconds" | "deletionGracePeriodSeconds" | "terminationGracePeriodSeconds" | "activeDeadlineSeconds";

/** A client type with every Date replaced by its RFC 3339 text, and with the bigints that an Int64Member may be. */
export type Wire<T> = T extends Date
  ? string
  : T extends (infer U)[]
    ? Wire<U>[]
    : T extends object
      ? { [K in keyof T]: K extends Int64Member ? T[K] | bigint : Wire<T[K]> }
      : T;

export type ObjectMeta = Wire<V1ObjectMeta>;
export type OwnerReference = Wire<V1OwnerReference>;
export type Condition = Wire<V1Condition>;
export type LabelSelector = Wire<V1LabelSelector>;
export type DeleteOptions = Wire<V1DeleteOptions>;

/** Any API object: the members that generic code relies on. Stored objects carry neither kind nor apiVersion. */
export interface KubeObject {
  kind?: string;
  apiVersion?: string;
  metadata?: ObjectMeta;
}

export type Service = Wire<V1Service>;
export type ServicePort = Wire<V1ServicePort>;
export type ServiceCIDR = Wire<V1ServiceCIDR>;
export type IPAddress = Wire<V1IPAddress>;
export type Lease = Wire<V1Lease>;
export type EndpointSlice = Wire<V1EndpointSlice>;
export type Endpoint = EndpointSlice["endpoints"][number];
export type Endpoints = Wire<V1Endpoints>;
export type Namespace = Wire<V1Namespace>;
export type Node = Wire<V1Node>;
export type Taint = NonNullable<NonNullable<Node["spec"]>["taints"]>[number];
export type Pod = Wire<V1Pod>;
export type PodSpec = NonNullable<Pod["spec"]>;
export type Container = PodSpec["containers"][number];
export type ContainerStatus = NonNullable<NonNullable<Pod["status"]>["containerStatuses"]>[number];
export type NodeSelectorTerm = NonNullable<
  NonNullable<NonNullable<PodSpec["affinity"]>["nodeAffinity"]>["requiredDuringSchedulingIgnoredDuringExecution"]
>["nodeSelectorTerms"][number];
export type Probe = NonNullable<Container["livenessProbe"]>;
export type Toleration = NonNullable<PodSpec["tolerations"]>[number];
export type Volume = NonNullable<PodSpec["volumes"]>[number];
export type PodTemplate = Wire<V1PodTemplate>;
export type ResourceQuota = Wire<V1ResourceQuota>;
export type ConfigMap = Wire<V1ConfigMap>;
export type Secret = Wire<V1Secret>;
export type ServiceAccount = Wire<V1ServiceAccount>;
export type TokenRequest = Wire<AuthenticationV1TokenRequest>;
export type Binding = Wire<V1Binding>;
export type Eviction = Wire<V1Eviction>;
export type CoreEvent = Wire<CoreV1Event>;
export type EventsEvent = Wire<EventsV1Event>;
export type PolicyRule = Wire<V1PolicyRule>;
export type Role = Wire<V1Role>;
export type ClusterRole = Wire<V1ClusterRole>;
export type RoleBinding = Wire<V1RoleBinding>;
export type ClusterRoleBinding = Wire<V1ClusterRoleBinding>;
export type RoleRef = Wire<V1RoleRef>;
export type RbacSubject = Wire<RbacV1Subject>;
