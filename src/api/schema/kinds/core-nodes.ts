/**
 * core/v1 Node (k8s.io/api core/v1, v0.36).
 */
import { ObjectMeta } from "../meta";
import {
  always,
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

const Taint: MessageSchema = message(
  "io.k8s.api.core.v1.Taint",
  {
    key: required(1, string, "Key of the taint, a label key."),
    value: plain(2, string, "Value that belongs to the key."),
    effect: required(
      3,
      enumOf("NoSchedule", "PreferNoSchedule", "NoExecute"),
      "What happens to Pods that do not tolerate it: NoSchedule, PreferNoSchedule or NoExecute.",
    ),
    timeAdded: pointer(4, time, "When the taint was added."),
  },
  { description: "Keeps Pods off a node unless they tolerate it." },
);

const ConfigMapNodeConfigSource: MessageSchema = message(
  "io.k8s.api.core.v1.ConfigMapNodeConfigSource",
  {
    namespace: required(1, string, "Namespace of the ConfigMap."),
    name: required(2, string, "Name of the ConfigMap."),
    uid: plain(3, string, "UID of the ConfigMap; shows in the status only."),
    resourceVersion: plain(4, string, "Revision of the ConfigMap; shows in the status only."),
    kubeletConfigKey: required(5, string, "Key under which the ConfigMap holds the configuration."),
  },
  { description: "A ConfigMap as the source of a kubelet's configuration. Kept for old clients; nothing reads it." },
);

const NodeConfigSource: MessageSchema = message(
  "io.k8s.api.core.v1.NodeConfigSource",
  {
    configMap: pointer(2, ref(ConfigMapNodeConfigSource), "The ConfigMap that holds the configuration."),
  },
  { description: "A source of a kubelet's configuration. Kept for old clients; nothing reads it." },
);

const NodeSpec: MessageSchema = message(
  "io.k8s.api.core.v1.NodeSpec",
  {
    podCIDR: plain(1, string, "First address range for Pods of the node; the same as podCIDRs[0]."),
    podCIDRs: plain(
      7,
      listOf(string, { mergeKey: "set", listType: "set" }),
      "Address ranges for Pods of the node, at most one per family.",
    ),
    providerID: plain(3, string, "Identifier of the machine at its cloud provider, in the form provider://id."),
    unschedulable: plain(4, bool, "Whether new Pods stay off the node; kubectl cordon sets it."),
    taints: plain(5, listOf(ref(Taint)), "Taints of the node."),
    configSource: pointer(6, ref(NodeConfigSource), "Deprecated: where the kubelet took its configuration from. Nothing reads it."),
    externalID: plain(2, string, "Deprecated: name of the machine outside the cluster. Nothing reads it."),
  },
  { description: "What is wanted of a node." },
);

const NodeCondition: MessageSchema = message(
  "io.k8s.api.core.v1.NodeCondition",
  {
    type: required(1, string, "What the condition speaks of, for example Ready."),
    status: required(2, string, "Whether it holds: True, False or Unknown."),
    lastHeartbeatTime: plain(3, time, "When the kubelet last reported the condition."),
    lastTransitionTime: plain(4, time, "When the status last changed."),
    reason: plain(5, string, "One word in CamelCase for why it changed."),
    message: plain(6, string, "The same for a human reader."),
  },
  { description: "One aspect of the state of a node." },
);

const NodeAddress: MessageSchema = message(
  "io.k8s.api.core.v1.NodeAddress",
  {
    type: required(1, string, "Kind of the address: Hostname, InternalIP, ExternalIP, InternalDNS or ExternalDNS."),
    address: required(2, string, "The address itself."),
  },
  { description: "One address of a node." },
);

const DaemonEndpoint: MessageSchema = message(
  "io.k8s.api.core.v1.DaemonEndpoint",
  {
    Port: required(1, int32, "Number of the port."),
  },
  { description: "Where a daemon of the node listens." },
);

const NodeDaemonEndpoints: MessageSchema = message(
  "io.k8s.api.core.v1.NodeDaemonEndpoints",
  {
    kubeletEndpoint: plain(1, ref(DaemonEndpoint), "Where the kubelet listens."),
  },
  { description: "Ports of the daemons of a node." },
);

const NodeSwapStatus: MessageSchema = message(
  "io.k8s.api.core.v1.NodeSwapStatus",
  {
    capacity: pointer(1, int64, "Bytes of swap that the node has."),
  },
  { description: "Swap of a node." },
);

const NodeSystemInfo: MessageSchema = message(
  "io.k8s.api.core.v1.NodeSystemInfo",
  {
    machineID: required(1, string, "Identifier that the operating system has for the machine."),
    systemUUID: required(2, string, "Identifier that the hardware has for the machine."),
    bootID: required(3, string, "Identifier of the present boot."),
    kernelVersion: required(4, string, "Version of the kernel."),
    osImage: required(5, string, "Name of the operating system's distribution."),
    containerRuntimeVersion: required(6, string, "Container runtime and its version, in the form runtime://version."),
    kubeletVersion: required(7, string, "Version of the kubelet."),
    kubeProxyVersion: required(8, string, "Deprecated: version of kube-proxy."),
    operatingSystem: required(9, string, "Operating system, for example linux."),
    architecture: required(10, string, "Architecture of the processor, for example amd64."),
    swap: pointer(11, ref(NodeSwapStatus), "Swap of the node."),
  },
  { description: "Identifiers and versions of a node." },
);

const ContainerImage: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerImage",
  {
    names: always(1, listOf(string), "Names under which the image is known."),
    sizeBytes: plain(2, int64, "Size of the image in bytes."),
  },
  { description: "An image that a node has." },
);

const AttachedVolume: MessageSchema = message(
  "io.k8s.api.core.v1.AttachedVolume",
  {
    name: required(1, string, "Name of the volume."),
    devicePath: required(2, string, "Path of the device under which the volume is found."),
  },
  { description: "A volume that is attached to a node." },
);

const NodeConfigStatus: MessageSchema = message(
  "io.k8s.api.core.v1.NodeConfigStatus",
  {
    assigned: pointer(1, ref(NodeConfigSource), "Configuration that the kubelet is to use."),
    active: pointer(2, ref(NodeConfigSource), "Configuration that the kubelet uses."),
    lastKnownGood: pointer(3, ref(NodeConfigSource), "Configuration to which the kubelet falls back."),
    error: plain(4, string, "Why the assigned configuration is not in use."),
  },
  { description: "State of the kubelet's configuration. Kept for old clients; nothing reads it." },
);

const NodeRuntimeHandlerFeatures: MessageSchema = message(
  "io.k8s.api.core.v1.NodeRuntimeHandlerFeatures",
  {
    recursiveReadOnlyMounts: pointer(1, bool, "Whether read-only mounts can be recursive."),
    userNamespaces: pointer(2, bool, "Whether Pods can have user namespaces, UIDs mapped."),
  },
  { description: "What a runtime handler is able to do." },
);

const NodeRuntimeHandler: MessageSchema = message(
  "io.k8s.api.core.v1.NodeRuntimeHandler",
  {
    name: always(1, string, "Name of the handler; empty for the default one."),
    features: pointer(2, ref(NodeRuntimeHandlerFeatures), "What the handler is able to do."),
  },
  { description: "A handler of the container runtime." },
);

const NodeFeatures: MessageSchema = message(
  "io.k8s.api.core.v1.NodeFeatures",
  {
    supplementalGroupsPolicy: pointer(1, bool, "Whether the runtime knows supplementalGroupsPolicy."),
  },
  { description: "What the container runtime of a node is able to do, whatever the handler." },
);

const NodeStatus: MessageSchema = message(
  "io.k8s.api.core.v1.NodeStatus",
  {
    capacity: plain(1, mapOf(quantity), "All resources of the node, by name."),
    allocatable: plain(2, mapOf(quantity), "Resources that Pods may use, by name."),
    phase: plain(3, enumOf("Pending", "Running", "Terminated"), "Deprecated: phase of the node. Nothing sets it."),
    conditions: plain(4, keyedListOf(NodeCondition, "type"), "Aspects of the node's state."),
    addresses: plain(5, keyedListOf(NodeAddress, "type"), "Addresses under which the node is reached."),
    daemonEndpoints: plain(6, ref(NodeDaemonEndpoints), "Ports of the node's daemons."),
    nodeInfo: plain(7, ref(NodeSystemInfo), "Identifiers and versions of the node."),
    images: plain(8, listOf(ref(ContainerImage)), "Images that the node has."),
    volumesInUse: plain(9, listOf(string), "Names of the attached volumes that are in use, mounted."),
    volumesAttached: plain(10, listOf(ref(AttachedVolume)), "Volumes that are attached to the node."),
    config: pointer(11, ref(NodeConfigStatus), "Deprecated: state of the kubelet's configuration."),
    runtimeHandlers: plain(12, listOf(ref(NodeRuntimeHandler)), "Handlers of the node's container runtime."),
    features: pointer(13, ref(NodeFeatures), "What the node's container runtime is able to do."),
    declaredFeatures: plain(14, listOf(string), "Names of features that the node says it has."),
  },
  { description: "What is known of a node." },
);

export const NodeSchema: MessageSchema = kind("io.k8s.api.core.v1.Node", "A machine that runs Pods.", {
  metadata: plain(1, ref(ObjectMeta), "Metadata of the node."),
  spec: plain(2, ref(NodeSpec), "What is wanted of the node."),
  status: plain(3, ref(NodeStatus), "What is known of the node."),
});
