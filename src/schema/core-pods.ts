/**
 * core/v1 Pod: scheduling, security and status around its containers (k8s.io/api core/v1, v0.36).
 */
import {
  AppArmorProfile,
  Container,
  EphemeralContainer,
  ResourceRequirements,
  SELinuxOptions,
  SeccompProfile,
  WindowsSecurityContextOptions,
} from "./core-containers";
import { LocalObjectReference, NodeSelector, NodeSelectorTerm } from "./core-references";
import { Volume } from "./core-volumes";
import { LabelSelector, ObjectMeta } from "./meta";
import {
  bool,
  enumOf,
  int32,
  int64,
  keyedListOf,
  kind,
  listOf,
  mapOf,
  message,
  plain,
  pointer,
  quantity,
  ref,
  required,
  string,
  time,
} from "./dsl";
import type { MessageSchema } from "./types";

const Sysctl: MessageSchema = message("io.k8s.api.core.v1.Sysctl", {
  name: required(1, string),
  value: required(2, string),
});

const PodSecurityContext: MessageSchema = message("io.k8s.api.core.v1.PodSecurityContext", {
  seLinuxOptions: pointer(1, ref(SELinuxOptions)),
  windowsOptions: pointer(8, ref(WindowsSecurityContextOptions)),
  runAsUser: pointer(2, int64),
  runAsGroup: pointer(6, int64),
  runAsNonRoot: pointer(3, bool),
  supplementalGroups: plain(4, listOf(int64)),
  supplementalGroupsPolicy: pointer(12, enumOf("Merge", "Strict")),
  fsGroup: pointer(5, int64),
  sysctls: plain(7, listOf(ref(Sysctl))),
  fsGroupChangePolicy: pointer(9, enumOf("OnRootMismatch", "Always")),
  seccompProfile: pointer(10, ref(SeccompProfile)),
  appArmorProfile: pointer(11, ref(AppArmorProfile)),
  seLinuxChangePolicy: pointer(13, string),
});

const PreferredSchedulingTerm: MessageSchema = message("io.k8s.api.core.v1.PreferredSchedulingTerm", {
  weight: required(1, int32),
  preference: required(2, ref(NodeSelectorTerm)),
});

const NodeAffinity: MessageSchema = message("io.k8s.api.core.v1.NodeAffinity", {
  requiredDuringSchedulingIgnoredDuringExecution: pointer(1, ref(NodeSelector)),
  preferredDuringSchedulingIgnoredDuringExecution: plain(2, listOf(ref(PreferredSchedulingTerm))),
});

const PodAffinityTerm: MessageSchema = message("io.k8s.api.core.v1.PodAffinityTerm", {
  labelSelector: pointer(1, ref(LabelSelector)),
  namespaces: plain(2, listOf(string)),
  topologyKey: required(3, string),
  namespaceSelector: pointer(4, ref(LabelSelector)),
  matchLabelKeys: plain(5, listOf(string)),
  mismatchLabelKeys: plain(6, listOf(string)),
});

const WeightedPodAffinityTerm: MessageSchema = message("io.k8s.api.core.v1.WeightedPodAffinityTerm", {
  weight: required(1, int32),
  podAffinityTerm: required(2, ref(PodAffinityTerm)),
});

const PodAffinity: MessageSchema = message("io.k8s.api.core.v1.PodAffinity", {
  requiredDuringSchedulingIgnoredDuringExecution: plain(1, listOf(ref(PodAffinityTerm))),
  preferredDuringSchedulingIgnoredDuringExecution: plain(2, listOf(ref(WeightedPodAffinityTerm))),
});

const PodAntiAffinity: MessageSchema = message("io.k8s.api.core.v1.PodAntiAffinity", {
  requiredDuringSchedulingIgnoredDuringExecution: plain(1, listOf(ref(PodAffinityTerm))),
  preferredDuringSchedulingIgnoredDuringExecution: plain(2, listOf(ref(WeightedPodAffinityTerm))),
});

const Affinity: MessageSchema = message("io.k8s.api.core.v1.Affinity", {
  nodeAffinity: pointer(1, ref(NodeAffinity)),
  podAffinity: pointer(2, ref(PodAffinity)),
  podAntiAffinity: pointer(3, ref(PodAntiAffinity)),
});

const Toleration: MessageSchema = message("io.k8s.api.core.v1.Toleration", {
  key: plain(1, string),
  operator: plain(2, enumOf("Exists", "Equal", "Lt", "Gt")),
  value: plain(3, string),
  effect: plain(4, enumOf("NoSchedule", "PreferNoSchedule", "NoExecute")),
  tolerationSeconds: pointer(5, int64),
});

const HostAlias: MessageSchema = message("io.k8s.api.core.v1.HostAlias", {
  ip: required(1, string),
  hostnames: plain(2, listOf(string)),
});

const PodDNSConfigOption: MessageSchema = message("io.k8s.api.core.v1.PodDNSConfigOption", {
  name: plain(1, string),
  value: pointer(2, string),
});

const PodDNSConfig: MessageSchema = message("io.k8s.api.core.v1.PodDNSConfig", {
  nameservers: plain(1, listOf(string)),
  searches: plain(2, listOf(string)),
  options: plain(3, listOf(ref(PodDNSConfigOption))),
});

const PodReadinessGate: MessageSchema = message("io.k8s.api.core.v1.PodReadinessGate", {
  conditionType: required(1, string),
});

const TopologySpreadConstraint: MessageSchema = message("io.k8s.api.core.v1.TopologySpreadConstraint", {
  maxSkew: required(1, int32),
  topologyKey: required(2, string),
  whenUnsatisfiable: required(3, enumOf("DoNotSchedule", "ScheduleAnyway")),
  labelSelector: pointer(4, ref(LabelSelector)),
  minDomains: pointer(5, int32),
  nodeAffinityPolicy: pointer(6, enumOf("Ignore", "Honor")),
  nodeTaintsPolicy: pointer(7, enumOf("Ignore", "Honor")),
  matchLabelKeys: plain(8, listOf(string)),
});

const PodOS: MessageSchema = message("io.k8s.api.core.v1.PodOS", {
  name: required(1, string),
});

const PodSchedulingGate: MessageSchema = message("io.k8s.api.core.v1.PodSchedulingGate", {
  name: required(1, string),
});

const PodResourceClaim: MessageSchema = message("io.k8s.api.core.v1.PodResourceClaim", {
  name: required(1, string),
  resourceClaimName: pointer(3, string),
  resourceClaimTemplateName: pointer(4, string),
});

const PodSchedulingGroup: MessageSchema = message("io.k8s.api.core.v1.PodSchedulingGroup", {
  podGroupName: pointer(1, string),
});

const PodSpec: MessageSchema = message("io.k8s.api.core.v1.PodSpec", {
  volumes: plain(1, listOf(ref(Volume), { mergeKey: "name", retainKeys: true, listType: "map", listMapKeys: ["name"] })),
  initContainers: plain(20, keyedListOf(Container, "name")),
  containers: required(2, keyedListOf(Container, "name")),
  ephemeralContainers: plain(34, keyedListOf(EphemeralContainer, "name")),
  restartPolicy: plain(3, enumOf("Always", "OnFailure", "Never")),
  terminationGracePeriodSeconds: pointer(4, int64),
  activeDeadlineSeconds: pointer(5, int64),
  dnsPolicy: plain(6, enumOf("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")),
  nodeSelector: plain(7, mapOf(string, { atomic: true })),
  serviceAccountName: plain(8, string),
  serviceAccount: plain(9, string),
  automountServiceAccountToken: pointer(21, bool),
  nodeName: plain(10, string),
  hostNetwork: plain(11, bool),
  hostPID: plain(12, bool),
  hostIPC: plain(13, bool),
  shareProcessNamespace: pointer(27, bool),
  securityContext: pointer(14, ref(PodSecurityContext)),
  imagePullSecrets: plain(15, keyedListOf(LocalObjectReference, "name")),
  hostname: plain(16, string),
  subdomain: plain(17, string),
  affinity: pointer(18, ref(Affinity)),
  schedulerName: plain(19, string),
  tolerations: plain(22, listOf(ref(Toleration))),
  hostAliases: plain(23, keyedListOf(HostAlias, "ip")),
  priorityClassName: plain(24, string),
  priority: pointer(25, int32),
  dnsConfig: pointer(26, ref(PodDNSConfig)),
  readinessGates: plain(28, listOf(ref(PodReadinessGate))),
  runtimeClassName: pointer(29, string),
  enableServiceLinks: pointer(30, bool),
  preemptionPolicy: pointer(31, enumOf("PreemptLowerPriority", "Never")),
  overhead: plain(32, mapOf(quantity)),
  topologySpreadConstraints: plain(
    33,
    listOf(ref(TopologySpreadConstraint), { mergeKey: "topologyKey", listType: "map", listMapKeys: ["topologyKey", "whenUnsatisfiable"] }),
  ),
  setHostnameAsFQDN: pointer(35, bool),
  os: pointer(36, ref(PodOS)),
  hostUsers: pointer(37, bool),
  schedulingGates: plain(38, keyedListOf(PodSchedulingGate, "name")),
  resourceClaims: plain(39, listOf(ref(PodResourceClaim), { mergeKey: "name", retainKeys: true, listType: "map", listMapKeys: ["name"] })),
  resources: pointer(40, ref(ResourceRequirements)),
  hostnameOverride: pointer(41, string),
  schedulingGroup: pointer(43, ref(PodSchedulingGroup)),
});

const PodCondition: MessageSchema = message("io.k8s.api.core.v1.PodCondition", {
  type: required(1, string),
  observedGeneration: plain(7, int64),
  status: required(2, string),
  lastProbeTime: plain(3, time),
  lastTransitionTime: plain(4, time),
  reason: plain(5, string),
  message: plain(6, string),
});

const HostIP: MessageSchema = message("io.k8s.api.core.v1.HostIP", {
  ip: required(1, string),
});

const PodIP: MessageSchema = message("io.k8s.api.core.v1.PodIP", {
  ip: required(1, string),
});

const ContainerStateWaiting: MessageSchema = message("io.k8s.api.core.v1.ContainerStateWaiting", {
  reason: plain(1, string),
  message: plain(2, string),
});

const ContainerStateRunning: MessageSchema = message("io.k8s.api.core.v1.ContainerStateRunning", {
  startedAt: plain(1, time),
});

const ContainerStateTerminated: MessageSchema = message("io.k8s.api.core.v1.ContainerStateTerminated", {
  exitCode: required(1, int32),
  signal: plain(2, int32),
  reason: plain(3, string),
  message: plain(4, string),
  startedAt: plain(5, time),
  finishedAt: plain(6, time),
  containerID: plain(7, string),
});

const ContainerState: MessageSchema = message("io.k8s.api.core.v1.ContainerState", {
  waiting: pointer(1, ref(ContainerStateWaiting)),
  running: pointer(2, ref(ContainerStateRunning)),
  terminated: pointer(3, ref(ContainerStateTerminated)),
});

const ImageVolumeStatus: MessageSchema = message("io.k8s.api.core.v1.ImageVolumeStatus", {
  imageRef: plain(1, string, "", { required: true }),
});

const VolumeStatus: MessageSchema = message("io.k8s.api.core.v1.VolumeStatus", {
  image: pointer(1, ref(ImageVolumeStatus)),
});

const VolumeMountStatus: MessageSchema = message("io.k8s.api.core.v1.VolumeMountStatus", {
  name: required(1, string),
  mountPath: required(2, string),
  readOnly: plain(3, bool),
  recursiveReadOnly: pointer(4, string),
  volumeStatus: pointer(5, ref(VolumeStatus)),
});

const LinuxContainerUser: MessageSchema = message("io.k8s.api.core.v1.LinuxContainerUser", {
  uid: required(1, int64),
  gid: required(2, int64),
  supplementalGroups: plain(3, listOf(int64)),
});

const ContainerUser: MessageSchema = message("io.k8s.api.core.v1.ContainerUser", {
  linux: pointer(1, ref(LinuxContainerUser)),
});

const ResourceHealth: MessageSchema = message("io.k8s.api.core.v1.ResourceHealth", {
  resourceID: required(1, string),
  health: plain(2, string),
  message: pointer(6, string),
});

const ResourceStatus: MessageSchema = message("io.k8s.api.core.v1.ResourceStatus", {
  name: required(1, string),
  resources: plain(2, listOf(ref(ResourceHealth), { listType: "map", listMapKeys: ["resourceID"] })),
});

const ContainerStatus: MessageSchema = message("io.k8s.api.core.v1.ContainerStatus", {
  name: required(1, string),
  state: plain(2, ref(ContainerState)),
  lastState: plain(3, ref(ContainerState)),
  ready: required(4, bool),
  restartCount: required(5, int32),
  image: required(6, string),
  imageID: required(7, string),
  containerID: plain(8, string),
  started: pointer(9, bool),
  allocatedResources: plain(10, mapOf(quantity)),
  resources: pointer(11, ref(ResourceRequirements)),
  volumeMounts: plain(12, keyedListOf(VolumeMountStatus, "mountPath")),
  user: pointer(13, ref(ContainerUser)),
  allocatedResourcesStatus: plain(14, keyedListOf(ResourceStatus, "name")),
  stopSignal: pointer(
    15,
    enumOf(
      "SIGABRT",
      "SIGALRM",
      "SIGBUS",
      "SIGCHLD",
      "SIGCLD",
      "SIGCONT",
      "SIGFPE",
      "SIGHUP",
      "SIGILL",
      "SIGINT",
      "SIGIO",
      "SIGIOT",
      "SIGKILL",
      "SIGPIPE",
      "SIGPOLL",
      "SIGPROF",
      "SIGPWR",
      "SIGQUIT",
      "SIGSEGV",
      "SIGSTKFLT",
      "SIGSTOP",
      "SIGSYS",
      "SIGTERM",
      "SIGTRAP",
      "SIGTSTP",
      "SIGTTIN",
      "SIGTTOU",
      "SIGURG",
      "SIGUSR1",
      "SIGUSR2",
      "SIGVTALRM",
      "SIGWINCH",
      "SIGXCPU",
      "SIGXFSZ",
      "SIGRTMIN",
      "SIGRTMIN+1",
      "SIGRTMIN+2",
      "SIGRTMIN+3",
      "SIGRTMIN+4",
      "SIGRTMIN+5",
      "SIGRTMIN+6",
      "SIGRTMIN+7",
      "SIGRTMIN+8",
      "SIGRTMIN+9",
      "SIGRTMIN+10",
      "SIGRTMIN+11",
      "SIGRTMIN+12",
      "SIGRTMIN+13",
      "SIGRTMIN+14",
      "SIGRTMIN+15",
      "SIGRTMAX-14",
      "SIGRTMAX-13",
      "SIGRTMAX-12",
      "SIGRTMAX-11",
      "SIGRTMAX-10",
      "SIGRTMAX-9",
      "SIGRTMAX-8",
      "SIGRTMAX-7",
      "SIGRTMAX-6",
      "SIGRTMAX-5",
      "SIGRTMAX-4",
      "SIGRTMAX-3",
      "SIGRTMAX-2",
      "SIGRTMAX-1",
      "SIGRTMAX",
    ),
  ),
});

const PodResourceClaimStatus: MessageSchema = message("io.k8s.api.core.v1.PodResourceClaimStatus", {
  name: required(1, string),
  resourceClaimName: pointer(2, string),
});

const ContainerExtendedResourceRequest: MessageSchema = message("io.k8s.api.core.v1.ContainerExtendedResourceRequest", {
  containerName: required(1, string),
  resourceName: required(2, string),
  requestName: required(3, string),
});

const PodExtendedResourceClaimStatus: MessageSchema = message("io.k8s.api.core.v1.PodExtendedResourceClaimStatus", {
  requestMappings: required(1, listOf(ref(ContainerExtendedResourceRequest))),
  resourceClaimName: required(2, string),
});

const NodeAllocatableResourceClaimStatus: MessageSchema = message("io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus", {
  resourceClaimName: required(1, string),
  containers: plain(2, listOf(string, { listType: "set" })),
  resources: required(3, mapOf(quantity)),
});

const PodStatus: MessageSchema = message("io.k8s.api.core.v1.PodStatus", {
  observedGeneration: plain(17, int64),
  phase: plain(1, enumOf("Pending", "Running", "Succeeded", "Failed", "Unknown")),
  conditions: plain(2, keyedListOf(PodCondition, "type")),
  message: plain(3, string),
  reason: plain(4, string),
  nominatedNodeName: plain(11, string),
  hostIP: plain(5, string),
  hostIPs: plain(16, listOf(ref(HostIP), { mergeKey: "ip", listType: "atomic" })),
  podIP: plain(6, string),
  podIPs: plain(12, keyedListOf(PodIP, "ip")),
  startTime: pointer(7, time),
  initContainerStatuses: plain(10, listOf(ref(ContainerStatus))),
  containerStatuses: plain(8, listOf(ref(ContainerStatus))),
  qosClass: plain(9, enumOf("Guaranteed", "Burstable", "BestEffort")),
  ephemeralContainerStatuses: plain(13, listOf(ref(ContainerStatus))),
  resize: plain(14, string),
  resourceClaimStatuses: plain(
    15,
    listOf(ref(PodResourceClaimStatus), { mergeKey: "name", retainKeys: true, listType: "map", listMapKeys: ["name"] }),
  ),
  extendedResourceClaimStatus: pointer(18, ref(PodExtendedResourceClaimStatus)),
  allocatedResources: plain(19, mapOf(quantity)),
  resources: pointer(20, ref(ResourceRequirements)),
  nodeAllocatableResourceClaimStatuses: plain(21, listOf(ref(NodeAllocatableResourceClaimStatus))),
});

export const PodSchema: MessageSchema = kind("io.k8s.api.core.v1.Pod", "Containers that run together on one node.", {
  metadata: plain(1, ref(ObjectMeta)),
  spec: plain(2, ref(PodSpec)),
  status: plain(3, ref(PodStatus)),
});
