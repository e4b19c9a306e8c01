/**
 * core/v1 Pod: scheduling, security and status around its containers (k8s.io/api core/v1, v0.36).
 */
import {
  AppArmorProfile,
  Container,
  EphemeralContainer,
  ResourceRequirements,
  SELinuxOptions,
  SIGNAL,
  SeccompProfile,
  WindowsSecurityContextOptions,
} from "./core-containers";
import { LocalObjectReference, NodeSelector, NodeSelectorTerm } from "./core-references";
import { Volume } from "./core-volumes";
import { LabelSelector, ObjectMeta } from "../meta";
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
} from "../dsl";
import type { MessageSchema } from "../types";

const Sysctl: MessageSchema = message(
  "io.k8s.api.core.v1.Sysctl",
  {
    name: required(1, string, "Name of the parameter."),
    value: required(2, string, "Its value."),
  },
  { description: "A kernel parameter." },
);

const PodSecurityContext: MessageSchema = message(
  "io.k8s.api.core.v1.PodSecurityContext",
  {
    seLinuxOptions: pointer(1, ref(SELinuxOptions), "SELinux label of the containers."),
    windowsOptions: pointer(8, ref(WindowsSecurityContextOptions), "Settings of Windows."),
    runAsUser: pointer(2, int64, "UID that runs the containers."),
    runAsGroup: pointer(6, int64, "GID that runs the containers."),
    runAsNonRoot: pointer(3, bool, "Whether containers that would run as root are refused."),
    supplementalGroups: plain(4, listOf(int64), "More groups of the first process of each container."),
    supplementalGroupsPolicy: pointer(
      12,
      enumOf("Merge", "Strict"),
      "Whether groups of the image are added: Merge (unless set) or Strict.",
    ),
    fsGroup: pointer(5, int64, "Group that owns the files of volumes."),
    sysctls: plain(7, listOf(ref(Sysctl)), "Kernel parameters of the Pod."),
    fsGroupChangePolicy: pointer(
      9,
      enumOf("OnRootMismatch", "Always"),
      "When the owner of files is changed: OnRootMismatch or Always (unless set).",
    ),
    seccompProfile: pointer(10, ref(SeccompProfile), "Which system calls are allowed."),
    appArmorProfile: pointer(11, ref(AppArmorProfile), "AppArmor profile of the containers."),
    seLinuxChangePolicy: pointer(13, string, "How the label is put on volumes: Recursive or MountOption."),
  },
  { description: "Security settings of all containers of a Pod." },
);

const PreferredSchedulingTerm: MessageSchema = message(
  "io.k8s.api.core.v1.PreferredSchedulingTerm",
  {
    weight: required(1, int32, "How strong the wish is, 1 to 100."),
    preference: required(2, ref(NodeSelectorTerm), "The nodes."),
  },
  { description: "A wish for certain nodes." },
);

const NodeAffinity: MessageSchema = message(
  "io.k8s.api.core.v1.NodeAffinity",
  {
    requiredDuringSchedulingIgnoredDuringExecution: pointer(1, ref(NodeSelector), "Nodes that the Pod may be put on."),
    preferredDuringSchedulingIgnoredDuringExecution: plain(
      2,
      listOf(ref(PreferredSchedulingTerm)),
      "Nodes that are liked better; their weights are added up.",
    ),
  },
  { description: "Which nodes a Pod may and would like to run on." },
);

const PodAffinityTerm: MessageSchema = message(
  "io.k8s.api.core.v1.PodAffinityTerm",
  {
    labelSelector: pointer(1, ref(LabelSelector), "Selects the Pods by their labels; unset = none."),
    namespaces: plain(2, listOf(string), "Namespaces of the Pods; with neither this nor namespaceSelector, the Pod's own."),
    topologyKey: required(3, string, "Label of nodes: nodes with the same value are near each other."),
    namespaceSelector: pointer(4, ref(LabelSelector), "Selects more namespaces by their labels; empty = all."),
    matchLabelKeys: plain(5, listOf(string), "Labels whose value must be that of the Pod."),
    mismatchLabelKeys: plain(6, listOf(string), "Labels whose value must not be that of the Pod."),
  },
  { description: "Other Pods, and how near is near." },
);

const WeightedPodAffinityTerm: MessageSchema = message(
  "io.k8s.api.core.v1.WeightedPodAffinityTerm",
  {
    weight: required(1, int32, "How strong the wish is, 1 to 100."),
    podAffinityTerm: required(2, ref(PodAffinityTerm), "The Pods."),
  },
  { description: "A wish to be near other Pods, or away from them." },
);

const PodAffinity: MessageSchema = message(
  "io.k8s.api.core.v1.PodAffinity",
  {
    requiredDuringSchedulingIgnoredDuringExecution: plain(1, listOf(ref(PodAffinityTerm)), "Pods that must be near; all terms hold."),
    preferredDuringSchedulingIgnoredDuringExecution: plain(
      2,
      listOf(ref(WeightedPodAffinityTerm)),
      "Pods that are liked near; their weights are added up.",
    ),
  },
  { description: "Which Pods a Pod must and would like to be near to." },
);

const PodAntiAffinity: MessageSchema = message(
  "io.k8s.api.core.v1.PodAntiAffinity",
  {
    requiredDuringSchedulingIgnoredDuringExecution: plain(1, listOf(ref(PodAffinityTerm)), "Pods that must not be near; all terms hold."),
    preferredDuringSchedulingIgnoredDuringExecution: plain(
      2,
      listOf(ref(WeightedPodAffinityTerm)),
      "Pods that are not liked near; their weights are added up.",
    ),
  },
  { description: "Which Pods a Pod must and would like to be away from." },
);

const Affinity: MessageSchema = message(
  "io.k8s.api.core.v1.Affinity",
  {
    nodeAffinity: pointer(1, ref(NodeAffinity), "Nodes."),
    podAffinity: pointer(2, ref(PodAffinity), "Pods to be near to."),
    podAntiAffinity: pointer(3, ref(PodAntiAffinity), "Pods to be away from."),
  },
  { description: "Where a Pod may and would like to run." },
);

const Toleration: MessageSchema = message(
  "io.k8s.api.core.v1.Toleration",
  {
    key: plain(1, string, "Key of the taint; empty with Exists = every taint."),
    operator: plain(2, enumOf("Exists", "Equal", "Lt", "Gt"), "How value is compared: Exists, Equal (unless set), Lt or Gt."),
    value: plain(3, string, "Value of the taint; empty for Exists."),
    effect: plain(4, enumOf("NoSchedule", "PreferNoSchedule", "NoExecute"), "Effect of the taint; empty = every effect."),
    tolerationSeconds: pointer(5, int64, "Seconds that a NoExecute taint is tolerated; unset = for ever."),
  },
  { description: "Lets a Pod run on nodes with certain taints." },
);

const HostAlias: MessageSchema = message(
  "io.k8s.api.core.v1.HostAlias",
  {
    ip: required(1, string, "The address."),
    hostnames: plain(2, listOf(string), "The names."),
  },
  { description: "Names for an address in the Pod's hosts file." },
);

const PodDNSConfigOption: MessageSchema = message(
  "io.k8s.api.core.v1.PodDNSConfigOption",
  {
    name: plain(1, string, "Name of the option."),
    value: pointer(2, string, "Its value, when it has one."),
  },
  { description: "An option of the resolver." },
);

const PodDNSConfig: MessageSchema = message(
  "io.k8s.api.core.v1.PodDNSConfig",
  {
    nameservers: plain(1, listOf(string), "Addresses of name servers."),
    searches: plain(2, listOf(string), "Domains in which short names are looked up."),
    options: plain(3, listOf(ref(PodDNSConfigOption)), "Options of the resolver."),
  },
  { description: "Settings of the resolver, besides those that dnsPolicy gives." },
);

const PodReadinessGate: MessageSchema = message(
  "io.k8s.api.core.v1.PodReadinessGate",
  {
    conditionType: required(1, string, "Type of the condition."),
  },
  { description: "A condition that a Pod needs for being ready." },
);

const TopologySpreadConstraint: MessageSchema = message(
  "io.k8s.api.core.v1.TopologySpreadConstraint",
  {
    maxSkew: required(1, int32, "By how many Pods two parts may differ."),
    topologyKey: required(2, string, "Label of nodes: those with the same value are one part."),
    whenUnsatisfiable: required(
      3,
      enumOf("DoNotSchedule", "ScheduleAnyway"),
      "What to do when it cannot be kept: DoNotSchedule or ScheduleAnyway.",
    ),
    labelSelector: pointer(4, ref(LabelSelector), "Selects the Pods that are counted."),
    minDomains: pointer(5, int32, "How many parts there should be at least."),
    nodeAffinityPolicy: pointer(
      6,
      enumOf("Ignore", "Honor"),
      "Whether nodes that the Pod may not run on are left out: Honor (unless set) or Ignore.",
    ),
    nodeTaintsPolicy: pointer(
      7,
      enumOf("Ignore", "Honor"),
      "Whether nodes whose taints are not tolerated are left out: Honor or Ignore (unless set).",
    ),
    matchLabelKeys: plain(8, listOf(string), "Labels whose value must be that of the Pod for others to be counted."),
  },
  { description: "How Pods are spread over parts of the cluster." },
);

const PodOS: MessageSchema = message(
  "io.k8s.api.core.v1.PodOS",
  {
    name: required(1, string, "linux or windows."),
  },
  { description: "Operating system of a Pod." },
);

const PodSchedulingGate: MessageSchema = message(
  "io.k8s.api.core.v1.PodSchedulingGate",
  {
    name: required(1, string, "Name of the gate."),
  },
  { description: "Holds a Pod back from scheduling." },
);

const PodResourceClaim: MessageSchema = message(
  "io.k8s.api.core.v1.PodResourceClaim",
  {
    name: required(1, string, "Name of the claim inside the Pod."),
    resourceClaimName: pointer(3, string, "Name of a ResourceClaim; excludes resourceClaimTemplateName."),
    resourceClaimTemplateName: pointer(4, string, "Name of a template from which a claim is made for the Pod."),
  },
  { description: "A claim for devices that containers of a Pod can refer to." },
);

const PodSchedulingGroup: MessageSchema = message(
  "io.k8s.api.core.v1.PodSchedulingGroup",
  {
    podGroupName: pointer(1, string, "Name of the PodGroup."),
  },
  { description: "Group of Pods that are scheduled together." },
);

export const PodSpec: MessageSchema = message(
  "io.k8s.api.core.v1.PodSpec",
  {
    volumes: plain(
      1,
      listOf(ref(Volume), { mergeKey: "name", retainKeys: true, listType: "map", listMapKeys: ["name"] }),
      "Volumes that the containers can mount.",
    ),
    initContainers: plain(20, keyedListOf(Container, "name"), "Containers that run one after another before the others start."),
    containers: required(2, keyedListOf(Container, "name"), "The containers; at least one. They cannot be added or removed later."),
    ephemeralContainers: plain(34, keyedListOf(EphemeralContainer, "name"), "Containers that were added to the running Pod."),
    restartPolicy: plain(
      3,
      enumOf("Always", "OnFailure", "Never"),
      "When containers are restarted: Always (unless set), OnFailure or Never.",
    ),
    terminationGracePeriodSeconds: pointer(4, int64, "Seconds that the Pod gets to end; 30 unless set."),
    activeDeadlineSeconds: pointer(5, int64, "Seconds after which the Pod counts as failed."),
    dnsPolicy: plain(
      6,
      enumOf("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
      "How names are resolved: ClusterFirst (unless set), ClusterFirstWithHostNet, Default or None.",
    ),
    nodeSelector: plain(7, mapOf(string, { atomic: true }), "Labels that the node must have."),
    serviceAccountName: plain(8, string, "Name of the service account that runs the Pod."),
    serviceAccount: plain(9, string, "Deprecated: the same as serviceAccountName."),
    automountServiceAccountToken: pointer(21, bool, "Whether a token of the service account is mounted."),
    nodeName: plain(10, string, "Node that the Pod is bound to; empty until it is scheduled."),
    hostNetwork: plain(11, bool, "Whether the Pod uses the network of the node."),
    hostPID: plain(12, bool, "Whether the Pod sees the processes of the node."),
    hostIPC: plain(13, bool, "Whether the Pod uses the IPC of the node."),
    shareProcessNamespace: pointer(27, bool, "Whether the containers see each other's processes."),
    securityContext: pointer(14, ref(PodSecurityContext), "Security settings of all containers."),
    imagePullSecrets: plain(15, keyedListOf(LocalObjectReference, "name"), "Secrets to pull images with."),
    hostname: plain(16, string, "Host name of the Pod; unset = its name."),
    subdomain: plain(17, string, "Puts the host name into a domain of its own: hostname.subdomain.namespace.svc and the cluster's domain."),
    affinity: pointer(18, ref(Affinity), "Where the Pod may and would like to run."),
    schedulerName: plain(19, string, "Scheduler that places the Pod; default-scheduler unless set."),
    tolerations: plain(22, listOf(ref(Toleration)), "Taints that the Pod tolerates."),
    hostAliases: plain(23, keyedListOf(HostAlias, "ip"), "Lines for the hosts file."),
    priorityClassName: plain(24, string, "Name of the priority class."),
    priority: pointer(25, int32, "Priority of the Pod; higher goes first."),
    dnsConfig: pointer(26, ref(PodDNSConfig), "Settings of the resolver."),
    readinessGates: plain(28, listOf(ref(PodReadinessGate)), "Conditions that the Pod needs besides for being ready."),
    runtimeClassName: pointer(29, string, "Name of the RuntimeClass."),
    enableServiceLinks: pointer(30, bool, "Whether Services show as environment variables; true unless set."),
    preemptionPolicy: pointer(
      31,
      enumOf("PreemptLowerPriority", "Never"),
      "Whether Pods of lower priority make room: PreemptLowerPriority (unless set) or Never.",
    ),
    overhead: plain(32, mapOf(quantity), "Resources that the runtime needs besides the containers, by name."),
    topologySpreadConstraints: plain(
      33,
      listOf(ref(TopologySpreadConstraint), {
        mergeKey: "topologyKey",
        listType: "map",
        listMapKeys: ["topologyKey", "whenUnsatisfiable"],
      }),
      "How Pods are spread over parts of the cluster.",
    ),
    setHostnameAsFQDN: pointer(35, bool, "Whether the host name is the full domain name."),
    os: pointer(36, ref(PodOS), "Operating system that the Pod needs."),
    hostUsers: pointer(37, bool, "Whether the Pod uses the user namespace of the node; true unless set."),
    schedulingGates: plain(
      38,
      keyedListOf(PodSchedulingGate, "name"),
      "What holds the Pod back from scheduling. Gates can only be taken away.",
    ),
    resourceClaims: plain(
      39,
      listOf(ref(PodResourceClaim), { mergeKey: "name", retainKeys: true, listType: "map", listMapKeys: ["name"] }),
      "Claims for devices that the containers can refer to.",
    ),
    resources: pointer(40, ref(ResourceRequirements), "Resources that all containers together need and may use."),
    hostnameOverride: pointer(41, string, "Host name exactly as given, in place of hostname and the Pod's name."),
    schedulingGroup: pointer(43, ref(PodSchedulingGroup), "Group of Pods that are scheduled together."),
  },
  { description: "What a Pod is to be." },
);

const PodCondition: MessageSchema = message(
  "io.k8s.api.core.v1.PodCondition",
  {
    type: required(1, string, "What the condition speaks of, for example Ready."),
    observedGeneration: plain(7, int64, "Generation of the Pod that the condition was set for."),
    status: required(2, string, "Whether it holds: True, False or Unknown."),
    lastProbeTime: plain(3, time, "When the condition was last checked."),
    lastTransitionTime: plain(4, time, "When the status last changed."),
    reason: plain(5, string, "One word in CamelCase for why it changed."),
    message: plain(6, string, "The same for a human reader."),
  },
  { description: "One aspect of the state of a Pod." },
);

const HostIP: MessageSchema = message(
  "io.k8s.api.core.v1.HostIP",
  {
    ip: required(1, string, "The address."),
  },
  { description: "An address of the Pod's node." },
);

const PodIP: MessageSchema = message(
  "io.k8s.api.core.v1.PodIP",
  {
    ip: required(1, string, "The address."),
  },
  { description: "An address of a Pod." },
);

const ContainerStateWaiting: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerStateWaiting",
  {
    reason: plain(1, string, "One word for why it waits."),
    message: plain(2, string, "The same for a human reader."),
  },
  { description: "Why a container has not started yet." },
);

const ContainerStateRunning: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerStateRunning",
  {
    startedAt: plain(1, time, "When it was started."),
  },
  { description: "A container that runs." },
);

const ContainerStateTerminated: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerStateTerminated",
  {
    exitCode: required(1, int32, "Exit status of its last run."),
    signal: plain(2, int32, "Signal that ended it."),
    reason: plain(3, string, "One word for why it ended."),
    message: plain(4, string, "Last words of the container."),
    startedAt: plain(5, time, "When it was started."),
    finishedAt: plain(6, time, "When it ended."),
    containerID: plain(7, string, "Identifier of the container, in the form runtime://id."),
  },
  { description: "A container that has ended." },
);

const ContainerState: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerState",
  {
    waiting: pointer(1, ref(ContainerStateWaiting), "It has not started yet."),
    running: pointer(2, ref(ContainerStateRunning), "It runs."),
    terminated: pointer(3, ref(ContainerStateTerminated), "It has ended."),
  },
  { description: "State of a container; one member at most is set, and none means waiting." },
);

const ImageVolumeStatus: MessageSchema = message(
  "io.k8s.api.core.v1.ImageVolumeStatus",
  {
    imageRef: plain(1, string, "Digest of the image that is mounted.", { required: true }),
  },
  { description: "State of an image volume." },
);

const VolumeStatus: MessageSchema = message(
  "io.k8s.api.core.v1.VolumeStatus",
  {
    image: pointer(1, ref(ImageVolumeStatus), "State of an image volume."),
  },
  { description: "State of a mounted volume." },
);

const VolumeMountStatus: MessageSchema = message(
  "io.k8s.api.core.v1.VolumeMountStatus",
  {
    name: required(1, string, "Name of the volume."),
    mountPath: required(2, string, "Path in the container."),
    readOnly: plain(3, bool, "Whether the mount is read-only."),
    recursiveReadOnly: pointer(4, string, "Whether mounts below it are read-only too: Disabled or Enabled."),
    volumeStatus: pointer(5, ref(VolumeStatus), "State of the volume."),
  },
  { description: "State of a mount." },
);

const LinuxContainerUser: MessageSchema = message(
  "io.k8s.api.core.v1.LinuxContainerUser",
  {
    uid: required(1, int64, "UID of the process."),
    gid: required(2, int64, "GID of the process."),
    supplementalGroups: plain(3, listOf(int64), "More groups of the process."),
  },
  { description: "User of a container's first process on Linux." },
);

const ContainerUser: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerUser",
  {
    linux: pointer(1, ref(LinuxContainerUser), "The user on Linux."),
  },
  { description: "User of a container's first process." },
);

const ResourceHealth: MessageSchema = message(
  "io.k8s.api.core.v1.ResourceHealth",
  {
    resourceID: required(1, string, "Identifier of the device."),
    health: plain(2, string, "Healthy, Unhealthy or Unknown."),
    message: pointer(6, string, "The same for a human reader."),
  },
  { description: "State of a device." },
);

const ResourceStatus: MessageSchema = message(
  "io.k8s.api.core.v1.ResourceStatus",
  {
    name: required(1, string, "Name of the resource."),
    resources: plain(2, listOf(ref(ResourceHealth), { listType: "map", listMapKeys: ["resourceID"] }), "The devices."),
  },
  { description: "State of the devices of one resource." },
);

const ContainerStatus: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerStatus",
  {
    name: required(1, string, "Name of the container."),
    state: plain(2, ref(ContainerState), "State of the container."),
    lastState: plain(3, ref(ContainerState), "State in which its last run ended."),
    ready: required(4, bool, "Whether it is ready for traffic."),
    restartCount: required(5, int32, "How often it was restarted."),
    image: required(6, string, "Name of the image that runs."),
    imageID: required(7, string, "Identifier of the image that runs."),
    containerID: plain(8, string, "Identifier of the container, in the form runtime://id."),
    started: pointer(9, bool, "Whether the startup probe has passed and postStart has run."),
    allocatedResources: plain(10, mapOf(quantity), "Resources that the node has set aside, by name."),
    resources: pointer(11, ref(ResourceRequirements), "Resources with which the container runs."),
    volumeMounts: plain(12, keyedListOf(VolumeMountStatus, "mountPath"), "State of its mounts."),
    user: pointer(13, ref(ContainerUser), "User of its first process."),
    allocatedResourcesStatus: plain(14, keyedListOf(ResourceStatus, "name"), "State of its devices."),
    stopSignal: pointer(15, SIGNAL, "Signal that tells it to end."),
  },
  { description: "What is known of a container." },
);

const PodResourceClaimStatus: MessageSchema = message(
  "io.k8s.api.core.v1.PodResourceClaimStatus",
  {
    name: required(1, string, "Name of the entry."),
    resourceClaimName: pointer(2, string, "Name of the ResourceClaim; unset = none was needed."),
  },
  { description: "The claim that stands behind an entry of resourceClaims." },
);

const ContainerExtendedResourceRequest: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerExtendedResourceRequest",
  {
    containerName: required(1, string, "Name of the container."),
    resourceName: required(2, string, "Name of the extended resource."),
    requestName: required(3, string, "Name of the request in the claim."),
  },
  { description: "Request of a claim that stands behind an extended resource of a container." },
);

const PodExtendedResourceClaimStatus: MessageSchema = message(
  "io.k8s.api.core.v1.PodExtendedResourceClaimStatus",
  {
    requestMappings: required(1, listOf(ref(ContainerExtendedResourceRequest)), "Which request stands behind which resource."),
    resourceClaimName: required(2, string, "Name of the ResourceClaim."),
  },
  { description: "The claim that stands behind the extended resources of a Pod." },
);

const NodeAllocatableResourceClaimStatus: MessageSchema = message(
  "io.k8s.api.core.v1.NodeAllocatableResourceClaimStatus",
  {
    resourceClaimName: required(1, string, "Name of the ResourceClaim."),
    containers: plain(2, listOf(string, { listType: "set" }), "Names of the containers that use the claim."),
    resources: required(3, mapOf(quantity), "The resources, by name."),
  },
  { description: "Resources of the node that a claim uses." },
);

const PodStatus: MessageSchema = message(
  "io.k8s.api.core.v1.PodStatus",
  {
    observedGeneration: plain(17, int64, "Generation of the Pod that the status was set for."),
    phase: plain(1, enumOf("Pending", "Running", "Succeeded", "Failed", "Unknown"), "Pending, Running, Succeeded, Failed or Unknown."),
    conditions: plain(2, keyedListOf(PodCondition, "type"), "Aspects of the Pod's state."),
    message: plain(3, string, "Why the Pod is in this state, for a human reader."),
    reason: plain(4, string, "The same as one word in CamelCase."),
    nominatedNodeName: plain(11, string, "Node on which others make room for the Pod."),
    hostIP: plain(5, string, "Primary address of the Pod's node."),
    hostIPs: plain(16, listOf(ref(HostIP), { mergeKey: "ip", listType: "atomic" }), "Addresses of the Pod's node, hostIP first."),
    podIP: plain(6, string, "Primary address of the Pod."),
    podIPs: plain(12, keyedListOf(PodIP, "ip"), "Addresses of the Pod, podIP first; at most one per family."),
    startTime: pointer(7, time, "When the kubelet took the Pod over."),
    initContainerStatuses: plain(10, listOf(ref(ContainerStatus)), "What is known of the init containers."),
    containerStatuses: plain(8, listOf(ref(ContainerStatus)), "What is known of the containers."),
    qosClass: plain(
      9,
      enumOf("Guaranteed", "Burstable", "BestEffort"),
      "Quality of service that follows from the resources: Guaranteed, Burstable or BestEffort.",
    ),
    ephemeralContainerStatuses: plain(13, listOf(ref(ContainerStatus)), "What is known of the ephemeral containers."),
    resize: plain(14, string, "Deprecated: how a change of resources goes. Conditions tell it now."),
    resourceClaimStatuses: plain(
      15,
      listOf(ref(PodResourceClaimStatus), { mergeKey: "name", retainKeys: true, listType: "map", listMapKeys: ["name"] }),
      "Claims that stand behind resourceClaims.",
    ),
    extendedResourceClaimStatus: pointer(18, ref(PodExtendedResourceClaimStatus), "Claim that stands behind extended resources."),
    allocatedResources: plain(19, mapOf(quantity), "Resources that the node has set aside for the Pod, by name."),
    resources: pointer(20, ref(ResourceRequirements), "Resources with which the Pod runs."),
    nodeAllocatableResourceClaimStatuses: plain(
      21,
      listOf(ref(NodeAllocatableResourceClaimStatus)),
      "Resources of the node that claims use.",
    ),
  },
  { description: "What is known of a Pod." },
);

export const PodSchema: MessageSchema = kind("io.k8s.api.core.v1.Pod", "Containers that run together on one node.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the Pod."),
  spec: plain(2, ref(PodSpec), "What the Pod is to be."),
  status: plain(3, ref(PodStatus), "What is known of the Pod."),
});
