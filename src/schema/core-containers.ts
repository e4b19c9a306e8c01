/**
 * core/v1 containers: what a Pod runs, with probes, resources and environment (k8s.io/api core/v1, v0.36).
 */
import { LocalObjectReference } from "./core-references";
import { ObjectFieldSelector, ResourceFieldSelector } from "./core-volumes";
import {
  bool,
  enumOf,
  inline,
  int32,
  int64,
  intOrString,
  keyedListOf,
  listOf,
  mapOf,
  message,
  plain,
  pointer,
  quantity,
  ref,
  required,
  string,
} from "./dsl";
import type { MessageSchema } from "./types";

const ContainerPort: MessageSchema = message("io.k8s.api.core.v1.ContainerPort", {
  name: plain(1, string),
  hostPort: plain(2, int32),
  containerPort: required(3, int32),
  protocol: plain(4, enumOf("TCP", "UDP", "SCTP"), "", { default: "TCP" }),
  hostIP: plain(5, string),
});

const ConfigMapEnvSource: MessageSchema = message("io.k8s.api.core.v1.ConfigMapEnvSource", {
  localObjectReference: inline(1, LocalObjectReference),
  optional: pointer(2, bool),
});

const SecretEnvSource: MessageSchema = message("io.k8s.api.core.v1.SecretEnvSource", {
  localObjectReference: inline(1, LocalObjectReference),
  optional: pointer(2, bool),
});

const EnvFromSource: MessageSchema = message("io.k8s.api.core.v1.EnvFromSource", {
  prefix: plain(1, string),
  configMapRef: pointer(2, ref(ConfigMapEnvSource)),
  secretRef: pointer(3, ref(SecretEnvSource)),
});

const ConfigMapKeySelector: MessageSchema = message(
  "io.k8s.api.core.v1.ConfigMapKeySelector",
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: required(2, string),
    optional: pointer(3, bool),
  },
  { atomic: true },
);

const SecretKeySelector: MessageSchema = message(
  "io.k8s.api.core.v1.SecretKeySelector",
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: required(2, string),
    optional: pointer(3, bool),
  },
  { atomic: true },
);

const FileKeySelector: MessageSchema = message(
  "io.k8s.api.core.v1.FileKeySelector",
  {
    volumeName: required(1, string),
    path: required(2, string),
    key: required(3, string),
    optional: pointer(4, bool, "", { default: false }),
  },
  { atomic: true },
);

const EnvVarSource: MessageSchema = message("io.k8s.api.core.v1.EnvVarSource", {
  fieldRef: pointer(1, ref(ObjectFieldSelector)),
  resourceFieldRef: pointer(2, ref(ResourceFieldSelector)),
  configMapKeyRef: pointer(3, ref(ConfigMapKeySelector)),
  secretKeyRef: pointer(4, ref(SecretKeySelector)),
  fileKeyRef: pointer(5, ref(FileKeySelector)),
});

const EnvVar: MessageSchema = message("io.k8s.api.core.v1.EnvVar", {
  name: required(1, string),
  value: plain(2, string),
  valueFrom: pointer(3, ref(EnvVarSource)),
});

const ResourceClaim: MessageSchema = message("io.k8s.api.core.v1.ResourceClaim", {
  name: required(1, string),
  request: plain(2, string),
});

export const ResourceRequirements: MessageSchema = message("io.k8s.api.core.v1.ResourceRequirements", {
  limits: plain(1, mapOf(quantity)),
  requests: plain(2, mapOf(quantity)),
  claims: plain(3, listOf(ref(ResourceClaim), { listType: "map", listMapKeys: ["name"] })),
});

const ContainerResizePolicy: MessageSchema = message("io.k8s.api.core.v1.ContainerResizePolicy", {
  resourceName: required(1, string),
  restartPolicy: required(2, string),
});

const ContainerRestartRuleOnExitCodes: MessageSchema = message("io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes", {
  operator: plain(1, string, "", { required: true }),
  values: plain(2, listOf(int32, { listType: "set" })),
});

const ContainerRestartRule: MessageSchema = message("io.k8s.api.core.v1.ContainerRestartRule", {
  action: plain(1, string, "", { required: true }),
  exitCodes: pointer(2, ref(ContainerRestartRuleOnExitCodes)),
});

const VolumeMount: MessageSchema = message("io.k8s.api.core.v1.VolumeMount", {
  name: required(1, string),
  readOnly: plain(2, bool),
  recursiveReadOnly: pointer(7, string),
  mountPath: required(3, string),
  subPath: plain(4, string),
  mountPropagation: pointer(5, enumOf("None", "HostToContainer", "Bidirectional")),
  subPathExpr: plain(6, string),
});

const VolumeDevice: MessageSchema = message("io.k8s.api.core.v1.VolumeDevice", {
  name: required(1, string),
  devicePath: required(2, string),
});

const ExecAction: MessageSchema = message("io.k8s.api.core.v1.ExecAction", {
  command: plain(1, listOf(string)),
});

const HTTPHeader: MessageSchema = message("io.k8s.api.core.v1.HTTPHeader", {
  name: required(1, string),
  value: required(2, string),
});

const HTTPGetAction: MessageSchema = message("io.k8s.api.core.v1.HTTPGetAction", {
  path: plain(1, string),
  port: required(2, intOrString),
  host: plain(3, string),
  scheme: plain(4, enumOf("HTTP", "HTTPS")),
  httpHeaders: plain(5, listOf(ref(HTTPHeader))),
});

const TCPSocketAction: MessageSchema = message("io.k8s.api.core.v1.TCPSocketAction", {
  port: required(1, intOrString),
  host: plain(2, string),
});

const GRPCAction: MessageSchema = message("io.k8s.api.core.v1.GRPCAction", {
  port: required(1, int32),
  service: pointer(2, string, "", { default: "" }),
});

const ProbeHandler: MessageSchema = message("io.k8s.api.core.v1.ProbeHandler", {
  exec: pointer(1, ref(ExecAction)),
  httpGet: pointer(2, ref(HTTPGetAction)),
  tcpSocket: pointer(3, ref(TCPSocketAction)),
  grpc: pointer(4, ref(GRPCAction)),
});

const Probe: MessageSchema = message("io.k8s.api.core.v1.Probe", {
  handler: inline(1, ProbeHandler),
  initialDelaySeconds: plain(2, int32),
  timeoutSeconds: plain(3, int32),
  periodSeconds: plain(4, int32),
  successThreshold: plain(5, int32),
  failureThreshold: plain(6, int32),
  terminationGracePeriodSeconds: pointer(7, int64),
});

const SleepAction: MessageSchema = message("io.k8s.api.core.v1.SleepAction", {
  seconds: required(1, int64),
});

const LifecycleHandler: MessageSchema = message("io.k8s.api.core.v1.LifecycleHandler", {
  exec: pointer(1, ref(ExecAction)),
  httpGet: pointer(2, ref(HTTPGetAction)),
  tcpSocket: pointer(3, ref(TCPSocketAction)),
  sleep: pointer(4, ref(SleepAction)),
});

const Lifecycle: MessageSchema = message("io.k8s.api.core.v1.Lifecycle", {
  postStart: pointer(1, ref(LifecycleHandler)),
  preStop: pointer(2, ref(LifecycleHandler)),
  stopSignal: pointer(
    3,
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

const Capabilities: MessageSchema = message("io.k8s.api.core.v1.Capabilities", {
  add: plain(1, listOf(string)),
  drop: plain(2, listOf(string)),
});

export const SELinuxOptions: MessageSchema = message("io.k8s.api.core.v1.SELinuxOptions", {
  user: plain(1, string),
  role: plain(2, string),
  type: plain(3, string),
  level: plain(4, string),
});

export const WindowsSecurityContextOptions: MessageSchema = message("io.k8s.api.core.v1.WindowsSecurityContextOptions", {
  gmsaCredentialSpecName: pointer(1, string),
  gmsaCredentialSpec: pointer(2, string),
  runAsUserName: pointer(3, string),
  hostProcess: pointer(4, bool),
});

export const SeccompProfile: MessageSchema = message("io.k8s.api.core.v1.SeccompProfile", {
  type: required(1, enumOf("Unconfined", "RuntimeDefault", "Localhost")),
  localhostProfile: pointer(2, string),
});

export const AppArmorProfile: MessageSchema = message("io.k8s.api.core.v1.AppArmorProfile", {
  type: required(1, enumOf("Unconfined", "RuntimeDefault", "Localhost")),
  localhostProfile: pointer(2, string),
});

const SecurityContext: MessageSchema = message("io.k8s.api.core.v1.SecurityContext", {
  capabilities: pointer(1, ref(Capabilities)),
  privileged: pointer(2, bool),
  seLinuxOptions: pointer(3, ref(SELinuxOptions)),
  windowsOptions: pointer(10, ref(WindowsSecurityContextOptions)),
  runAsUser: pointer(4, int64),
  runAsGroup: pointer(8, int64),
  runAsNonRoot: pointer(5, bool),
  readOnlyRootFilesystem: pointer(6, bool),
  allowPrivilegeEscalation: pointer(7, bool),
  procMount: pointer(9, enumOf("Default", "Unmasked")),
  seccompProfile: pointer(11, ref(SeccompProfile)),
  appArmorProfile: pointer(12, ref(AppArmorProfile)),
});

export const Container: MessageSchema = message("io.k8s.api.core.v1.Container", {
  name: required(1, string),
  image: plain(2, string),
  command: plain(3, listOf(string)),
  args: plain(4, listOf(string)),
  workingDir: plain(5, string),
  ports: plain(6, listOf(ref(ContainerPort), { mergeKey: "containerPort", listType: "map", listMapKeys: ["containerPort", "protocol"] })),
  envFrom: plain(19, listOf(ref(EnvFromSource))),
  env: plain(7, keyedListOf(EnvVar, "name")),
  resources: plain(8, ref(ResourceRequirements)),
  resizePolicy: plain(23, listOf(ref(ContainerResizePolicy))),
  restartPolicy: pointer(24, string),
  restartPolicyRules: plain(25, listOf(ref(ContainerRestartRule))),
  volumeMounts: plain(9, keyedListOf(VolumeMount, "mountPath")),
  volumeDevices: plain(21, keyedListOf(VolumeDevice, "devicePath")),
  livenessProbe: pointer(10, ref(Probe)),
  readinessProbe: pointer(11, ref(Probe)),
  startupProbe: pointer(22, ref(Probe)),
  lifecycle: pointer(12, ref(Lifecycle)),
  terminationMessagePath: plain(13, string),
  terminationMessagePolicy: plain(20, enumOf("File", "FallbackToLogsOnError")),
  imagePullPolicy: plain(14, enumOf("Always", "Never", "IfNotPresent")),
  securityContext: pointer(15, ref(SecurityContext)),
  stdin: plain(16, bool),
  stdinOnce: plain(17, bool),
  tty: plain(18, bool),
});

const EphemeralContainerCommon: MessageSchema = message("io.k8s.api.core.v1.EphemeralContainerCommon", {
  name: required(1, string),
  image: plain(2, string),
  command: plain(3, listOf(string)),
  args: plain(4, listOf(string)),
  workingDir: plain(5, string),
  ports: plain(6, listOf(ref(ContainerPort), { mergeKey: "containerPort", listType: "map", listMapKeys: ["containerPort", "protocol"] })),
  envFrom: plain(19, listOf(ref(EnvFromSource))),
  env: plain(7, keyedListOf(EnvVar, "name")),
  resources: plain(8, ref(ResourceRequirements)),
  resizePolicy: plain(23, listOf(ref(ContainerResizePolicy))),
  restartPolicy: pointer(24, string),
  restartPolicyRules: plain(25, listOf(ref(ContainerRestartRule))),
  volumeMounts: plain(9, keyedListOf(VolumeMount, "mountPath")),
  volumeDevices: plain(21, keyedListOf(VolumeDevice, "devicePath")),
  livenessProbe: pointer(10, ref(Probe)),
  readinessProbe: pointer(11, ref(Probe)),
  startupProbe: pointer(22, ref(Probe)),
  lifecycle: pointer(12, ref(Lifecycle)),
  terminationMessagePath: plain(13, string),
  terminationMessagePolicy: plain(20, enumOf("File", "FallbackToLogsOnError")),
  imagePullPolicy: plain(14, enumOf("Always", "Never", "IfNotPresent")),
  securityContext: pointer(15, ref(SecurityContext)),
  stdin: plain(16, bool),
  stdinOnce: plain(17, bool),
  tty: plain(18, bool),
});

export const EphemeralContainer: MessageSchema = message("io.k8s.api.core.v1.EphemeralContainer", {
  ephemeralContainerCommon: inline(1, EphemeralContainerCommon),
  targetContainerName: plain(2, string),
});
