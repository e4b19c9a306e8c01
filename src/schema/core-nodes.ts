/**
 * core/v1 Node (k8s.io/api core/v1, v0.36).
 */
import { ObjectMeta } from "./meta";
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
} from "./dsl";
import type { MessageSchema } from "./types";

const Taint: MessageSchema = message("io.k8s.api.core.v1.Taint", {
  key: required(1, string),
  value: plain(2, string),
  effect: required(3, enumOf("NoSchedule", "PreferNoSchedule", "NoExecute")),
  timeAdded: pointer(4, time),
});

const ConfigMapNodeConfigSource: MessageSchema = message("io.k8s.api.core.v1.ConfigMapNodeConfigSource", {
  namespace: required(1, string),
  name: required(2, string),
  uid: plain(3, string),
  resourceVersion: plain(4, string),
  kubeletConfigKey: required(5, string),
});

const NodeConfigSource: MessageSchema = message("io.k8s.api.core.v1.NodeConfigSource", {
  configMap: pointer(2, ref(ConfigMapNodeConfigSource)),
});

const NodeSpec: MessageSchema = message("io.k8s.api.core.v1.NodeSpec", {
  podCIDR: plain(1, string),
  podCIDRs: plain(7, listOf(string, { mergeKey: "set", listType: "set" })),
  providerID: plain(3, string),
  unschedulable: plain(4, bool),
  taints: plain(5, listOf(ref(Taint))),
  configSource: pointer(6, ref(NodeConfigSource)),
  externalID: plain(2, string),
});

const NodeCondition: MessageSchema = message("io.k8s.api.core.v1.NodeCondition", {
  type: required(1, string),
  status: required(2, string),
  lastHeartbeatTime: plain(3, time),
  lastTransitionTime: plain(4, time),
  reason: plain(5, string),
  message: plain(6, string),
});

const NodeAddress: MessageSchema = message("io.k8s.api.core.v1.NodeAddress", {
  type: required(1, string),
  address: required(2, string),
});

const DaemonEndpoint: MessageSchema = message("io.k8s.api.core.v1.DaemonEndpoint", {
  Port: required(1, int32),
});

const NodeDaemonEndpoints: MessageSchema = message("io.k8s.api.core.v1.NodeDaemonEndpoints", {
  kubeletEndpoint: plain(1, ref(DaemonEndpoint)),
});

const NodeSwapStatus: MessageSchema = message("io.k8s.api.core.v1.NodeSwapStatus", {
  capacity: pointer(1, int64),
});

const NodeSystemInfo: MessageSchema = message("io.k8s.api.core.v1.NodeSystemInfo", {
  machineID: required(1, string),
  systemUUID: required(2, string),
  bootID: required(3, string),
  kernelVersion: required(4, string),
  osImage: required(5, string),
  containerRuntimeVersion: required(6, string),
  kubeletVersion: required(7, string),
  kubeProxyVersion: required(8, string),
  operatingSystem: required(9, string),
  architecture: required(10, string),
  swap: pointer(11, ref(NodeSwapStatus)),
});

const ContainerImage: MessageSchema = message("io.k8s.api.core.v1.ContainerImage", {
  names: always(1, listOf(string)),
  sizeBytes: plain(2, int64),
});

const AttachedVolume: MessageSchema = message("io.k8s.api.core.v1.AttachedVolume", {
  name: required(1, string),
  devicePath: required(2, string),
});

const NodeConfigStatus: MessageSchema = message("io.k8s.api.core.v1.NodeConfigStatus", {
  assigned: pointer(1, ref(NodeConfigSource)),
  active: pointer(2, ref(NodeConfigSource)),
  lastKnownGood: pointer(3, ref(NodeConfigSource)),
  error: plain(4, string),
});

const NodeRuntimeHandlerFeatures: MessageSchema = message("io.k8s.api.core.v1.NodeRuntimeHandlerFeatures", {
  recursiveReadOnlyMounts: pointer(1, bool),
  userNamespaces: pointer(2, bool),
});

const NodeRuntimeHandler: MessageSchema = message("io.k8s.api.core.v1.NodeRuntimeHandler", {
  name: always(1, string),
  features: pointer(2, ref(NodeRuntimeHandlerFeatures)),
});

const NodeFeatures: MessageSchema = message("io.k8s.api.core.v1.NodeFeatures", {
  supplementalGroupsPolicy: pointer(1, bool),
});

const NodeStatus: MessageSchema = message("io.k8s.api.core.v1.NodeStatus", {
  capacity: plain(1, mapOf(quantity)),
  allocatable: plain(2, mapOf(quantity)),
  phase: plain(3, enumOf("Pending", "Running", "Terminated")),
  conditions: plain(4, keyedListOf(NodeCondition, "type")),
  addresses: plain(5, keyedListOf(NodeAddress, "type")),
  daemonEndpoints: plain(6, ref(NodeDaemonEndpoints)),
  nodeInfo: plain(7, ref(NodeSystemInfo)),
  images: plain(8, listOf(ref(ContainerImage))),
  volumesInUse: plain(9, listOf(string)),
  volumesAttached: plain(10, listOf(ref(AttachedVolume))),
  config: pointer(11, ref(NodeConfigStatus)),
  runtimeHandlers: plain(12, listOf(ref(NodeRuntimeHandler))),
  features: pointer(13, ref(NodeFeatures)),
  declaredFeatures: plain(14, listOf(string)),
});

export const NodeSchema: MessageSchema = kind("io.k8s.api.core.v1.Node", "A machine that runs Pods.", {
  metadata: plain(1, ref(ObjectMeta)),
  spec: plain(2, ref(NodeSpec)),
  status: plain(3, ref(NodeStatus)),
});
