/**
 * core/v1 containers: what a Pod runs, with probes, resources and environment (k8s.io/api core/v1, v0.36).
 */
import { LocalObjectReference } from "./core-references";
import { ObjectFieldSelector, ResourceFieldSelector } from "./core-volumes";
import {
  bool,
  enumOf,
  type FieldSpec,
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
} from "../dsl";
import type { MessageSchema } from "../types";

const ContainerPort: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerPort",
  {
    name: plain(1, string, "Name of the port, unique in the Pod; Services can refer to it."),
    hostPort: plain(2, int32, "Port of the node that leads to this one."),
    containerPort: required(3, int32, "Number of the port in the container."),
    protocol: plain(4, enumOf("TCP", "UDP", "SCTP"), "Protocol of the port: TCP (unless set), UDP or SCTP.", { default: "TCP" }),
    hostIP: plain(5, string, "Address of the node to which hostPort is bound."),
  },
  { description: "A port on which a container listens. Informative: ports that are not listed can be reached too." },
);

const ConfigMapEnvSource: MessageSchema = message(
  "io.k8s.api.core.v1.ConfigMapEnvSource",
  {
    localObjectReference: inline(1, LocalObjectReference),
    optional: pointer(2, bool, "Whether the ConfigMap may be missing."),
  },
  { description: "A ConfigMap whose keys become environment variables." },
);

const SecretEnvSource: MessageSchema = message(
  "io.k8s.api.core.v1.SecretEnvSource",
  {
    localObjectReference: inline(1, LocalObjectReference),
    optional: pointer(2, bool, "Whether the Secret may be missing."),
  },
  { description: "A Secret whose keys become environment variables." },
);

const EnvFromSource: MessageSchema = message(
  "io.k8s.api.core.v1.EnvFromSource",
  {
    prefix: plain(1, string, "Stands in front of each variable's name."),
    configMapRef: pointer(2, ref(ConfigMapEnvSource), "The ConfigMap."),
    secretRef: pointer(3, ref(SecretEnvSource), "The Secret."),
  },
  { description: "Keys of an object that become environment variables." },
);

const ConfigMapKeySelector: MessageSchema = message(
  "io.k8s.api.core.v1.ConfigMapKeySelector",
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: required(2, string, "The key."),
    optional: pointer(3, bool, "Whether the ConfigMap or its key may be missing."),
  },
  { description: "One key of a ConfigMap.", atomic: true },
);

const SecretKeySelector: MessageSchema = message(
  "io.k8s.api.core.v1.SecretKeySelector",
  {
    localObjectReference: inline(1, LocalObjectReference),
    key: required(2, string, "The key."),
    optional: pointer(3, bool, "Whether the Secret or its key may be missing."),
  },
  { description: "One key of a Secret.", atomic: true },
);

const FileKeySelector: MessageSchema = message(
  "io.k8s.api.core.v1.FileKeySelector",
  {
    volumeName: required(1, string, "Name of the volume, an emptyDir."),
    path: required(2, string, "Path of the file in the volume."),
    key: required(3, string, "Name of the variable in the file."),
    optional: pointer(4, bool, "Whether the file or the variable may be missing.", { default: false }),
  },
  { description: "One variable of a file in a volume.", atomic: true },
);

const EnvVarSource: MessageSchema = message(
  "io.k8s.api.core.v1.EnvVarSource",
  {
    fieldRef: pointer(1, ref(ObjectFieldSelector), "A field of the Pod."),
    resourceFieldRef: pointer(2, ref(ResourceFieldSelector), "A resource of the container."),
    configMapKeyRef: pointer(3, ref(ConfigMapKeySelector), "A key of a ConfigMap."),
    secretKeyRef: pointer(4, ref(SecretKeySelector), "A key of a Secret."),
    fileKeyRef: pointer(5, ref(FileKeySelector), "A variable of a file in a volume."),
  },
  { description: "Where the value of an environment variable comes from; exactly one member is set." },
);

const EnvVar: MessageSchema = message(
  "io.k8s.api.core.v1.EnvVar",
  {
    name: required(1, string, "Name of the variable."),
    value: plain(2, string, "Its value; $(NAME) stands for the value of another variable, $$ for a dollar sign."),
    valueFrom: pointer(3, ref(EnvVarSource), "Where the value comes from, in place of value."),
  },
  { description: "One environment variable." },
);

const ResourceClaim: MessageSchema = message(
  "io.k8s.api.core.v1.ResourceClaim",
  {
    name: required(1, string, "Name of one of the Pod's resourceClaims."),
    request: plain(2, string, "One request of the claim; unset = all of them."),
  },
  { description: "A claim of the Pod that a container uses." },
);

export const ResourceRequirements: MessageSchema = message(
  "io.k8s.api.core.v1.ResourceRequirements",
  {
    limits: plain(1, mapOf(quantity), "The most that may be used, by resource."),
    requests: plain(2, mapOf(quantity), "The least that is needed, by resource; unset = the limits."),
    claims: plain(3, listOf(ref(ResourceClaim), { listType: "map", listMapKeys: ["name"] }), "Claims of the Pod that the container uses."),
  },
  { description: "Resources that a container needs and may use." },
);

const ContainerResizePolicy: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerResizePolicy",
  {
    resourceName: required(1, string, "The resource: cpu or memory."),
    restartPolicy: required(2, string, "NotRequired or RestartContainer."),
  },
  { description: "What a change of a resource does to a running container." },
);

const ContainerRestartRuleOnExitCodes: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerRestartRuleOnExitCodes",
  {
    operator: plain(1, string, "In or NotIn.", { required: true }),
    values: plain(2, listOf(int32, { listType: "set" }), "The codes."),
  },
  { description: "Selects exits by their code." },
);

const ContainerRestartRule: MessageSchema = message(
  "io.k8s.api.core.v1.ContainerRestartRule",
  {
    action: plain(1, string, "What is done, for example Restart.", { required: true }),
    exitCodes: pointer(2, ref(ContainerRestartRuleOnExitCodes), "The exits that are meant."),
  },
  { description: "What is done after certain exits of a container." },
);

const VolumeMount: MessageSchema = message(
  "io.k8s.api.core.v1.VolumeMount",
  {
    name: required(1, string, "Name of one of the Pod's volumes."),
    readOnly: plain(2, bool, "Whether the mount is read-only."),
    recursiveReadOnly: pointer(7, string, "Whether mounts below it are read-only too: Disabled (unless set), IfPossible or Enabled."),
    mountPath: required(3, string, "Path in the container; without : in it."),
    subPath: plain(4, string, "Path in the volume that is mounted; unset = its root."),
    mountPropagation: pointer(
      5,
      enumOf("None", "HostToContainer", "Bidirectional"),
      "How mounts spread between node and container: None (unless set), HostToContainer or Bidirectional.",
    ),
    subPathExpr: plain(6, string, "A subPath in which $(NAME) stands for environment variables."),
  },
  { description: "Where a container mounts a volume." },
);

const VolumeDevice: MessageSchema = message(
  "io.k8s.api.core.v1.VolumeDevice",
  {
    name: required(1, string, "Name of a claim of the Pod, as in its volumes."),
    devicePath: required(2, string, "Path of the device in the container."),
  },
  { description: "A block device of a container." },
);

const ExecAction: MessageSchema = message(
  "io.k8s.api.core.v1.ExecAction",
  {
    command: plain(1, listOf(string), "The command and its arguments, without a shell; exit status 0 is success."),
  },
  { description: "A command that is run in the container." },
);

const HTTPHeader: MessageSchema = message(
  "io.k8s.api.core.v1.HTTPHeader",
  {
    name: required(1, string, "Name of the header."),
    value: required(2, string, "Value of the header."),
  },
  { description: "One header of a request." },
);

const HTTPGetAction: MessageSchema = message(
  "io.k8s.api.core.v1.HTTPGetAction",
  {
    path: plain(1, string, "Path to ask for."),
    port: required(2, intOrString, "Number or name of the container's port."),
    host: plain(3, string, "Host to connect to; unset = the Pod's address."),
    scheme: plain(4, enumOf("HTTP", "HTTPS"), "HTTP (unless set) or HTTPS."),
    httpHeaders: plain(5, listOf(ref(HTTPHeader)), "Headers to send."),
  },
  { description: "An HTTP request to the container." },
);

const TCPSocketAction: MessageSchema = message(
  "io.k8s.api.core.v1.TCPSocketAction",
  {
    port: required(1, intOrString, "Number or name of the container's port."),
    host: plain(2, string, "Host to connect to; unset = the Pod's address."),
  },
  { description: "A TCP connection to the container." },
);

const GRPCAction: MessageSchema = message(
  "io.k8s.api.core.v1.GRPCAction",
  {
    port: required(1, int32, "Number of the port."),
    service: pointer(2, string, "Name of the service that is asked for.", { default: "" }),
  },
  { description: "A call of the gRPC health service in the container." },
);

const ProbeHandler: MessageSchema = message(
  "io.k8s.api.core.v1.ProbeHandler",
  {
    exec: pointer(1, ref(ExecAction), "Runs a command in the container."),
    httpGet: pointer(2, ref(HTTPGetAction), "Sends an HTTP request."),
    tcpSocket: pointer(3, ref(TCPSocketAction), "Opens a TCP connection."),
    grpc: pointer(4, ref(GRPCAction), "Calls the gRPC health service."),
  },
  { description: "How a probe asks; exactly one member is set." },
);

const Probe: MessageSchema = message(
  "io.k8s.api.core.v1.Probe",
  {
    handler: inline(1, ProbeHandler),
    initialDelaySeconds: plain(2, int32, "Seconds between the container's start and the first check."),
    timeoutSeconds: plain(3, int32, "Seconds after which a check has failed; 1 unless set."),
    periodSeconds: plain(4, int32, "Seconds between checks; 10 unless set."),
    successThreshold: plain(5, int32, "Successes in a row after which the check passes again; 1 unless set."),
    failureThreshold: plain(6, int32, "Failures in a row after which the check has failed; 3 unless set."),
    terminationGracePeriodSeconds: pointer(
      7,
      int64,
      "Seconds that the container gets to end after a failed check; unset = those of the Pod.",
    ),
  },
  { description: "A check of a container that is repeated." },
);

const SleepAction: MessageSchema = message(
  "io.k8s.api.core.v1.SleepAction",
  {
    seconds: required(1, int64, "Length of the pause in seconds."),
  },
  { description: "A pause." },
);

const LifecycleHandler: MessageSchema = message(
  "io.k8s.api.core.v1.LifecycleHandler",
  {
    exec: pointer(1, ref(ExecAction), "Runs a command in the container."),
    httpGet: pointer(2, ref(HTTPGetAction), "Sends an HTTP request."),
    tcpSocket: pointer(3, ref(TCPSocketAction), "Deprecated: not supported, refused when it runs."),
    sleep: pointer(4, ref(SleepAction), "Pauses."),
  },
  { description: "What is done at a point of a container's life; exactly one member is set." },
);

/** Names of the signals that may end a container. */
export const SIGNAL = enumOf(
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
);

const Lifecycle: MessageSchema = message(
  "io.k8s.api.core.v1.Lifecycle",
  {
    postStart: pointer(1, ref(LifecycleHandler), "Done right after the start; the container is ended when it fails."),
    preStop: pointer(2, ref(LifecycleHandler), "Done before the container is told to end."),
    stopSignal: pointer(3, SIGNAL, "Signal that tells the container to end; unset = that of the image."),
  },
  { description: "What is done when a container starts and before it ends." },
);

const Capabilities: MessageSchema = message(
  "io.k8s.api.core.v1.Capabilities",
  {
    add: plain(1, listOf(string), "Capabilities that the container gets besides."),
    drop: plain(2, listOf(string), "Capabilities that are taken away."),
  },
  { description: "Linux capabilities to add and to drop." },
);

export const SELinuxOptions: MessageSchema = message(
  "io.k8s.api.core.v1.SELinuxOptions",
  {
    user: plain(1, string, "User part of the label."),
    role: plain(2, string, "Role part of the label."),
    type: plain(3, string, "Type part of the label."),
    level: plain(4, string, "Level part of the label."),
  },
  { description: "SELinux label." },
);

export const WindowsSecurityContextOptions: MessageSchema = message(
  "io.k8s.api.core.v1.WindowsSecurityContextOptions",
  {
    gmsaCredentialSpecName: pointer(1, string, "Name of the group managed service account's credential spec."),
    gmsaCredentialSpec: pointer(2, string, "The credential spec itself."),
    runAsUserName: pointer(3, string, "User that runs the processes."),
    hostProcess: pointer(4, bool, "Whether it runs as a process of the host."),
  },
  { description: "Security settings of Windows." },
);

export const SeccompProfile: MessageSchema = message(
  "io.k8s.api.core.v1.SeccompProfile",
  {
    type: required(1, enumOf("Unconfined", "RuntimeDefault", "Localhost"), "Unconfined, RuntimeDefault or Localhost."),
    localhostProfile: pointer(2, string, "File on the node with the profile; set exactly for Localhost."),
  },
  { description: "Which system calls are allowed." },
);

export const AppArmorProfile: MessageSchema = message(
  "io.k8s.api.core.v1.AppArmorProfile",
  {
    type: required(1, enumOf("Unconfined", "RuntimeDefault", "Localhost"), "Unconfined, RuntimeDefault or Localhost."),
    localhostProfile: pointer(2, string, "Profile that is loaded on the node; set exactly for Localhost."),
  },
  { description: "AppArmor profile." },
);

const SecurityContext: MessageSchema = message(
  "io.k8s.api.core.v1.SecurityContext",
  {
    capabilities: pointer(1, ref(Capabilities), "Linux capabilities to add and to drop."),
    privileged: pointer(2, bool, "Whether the container may do what root on the node may."),
    seLinuxOptions: pointer(3, ref(SELinuxOptions), "SELinux label of the container."),
    windowsOptions: pointer(10, ref(WindowsSecurityContextOptions), "Settings of Windows."),
    runAsUser: pointer(4, int64, "UID that runs the container."),
    runAsGroup: pointer(8, int64, "GID that runs the container."),
    runAsNonRoot: pointer(5, bool, "Whether a container that would run as root is refused."),
    readOnlyRootFilesystem: pointer(6, bool, "Whether the root file system is read-only."),
    allowPrivilegeEscalation: pointer(7, bool, "Whether a process can gain more privileges than its parent."),
    procMount: pointer(9, enumOf("Default", "Unmasked"), "How /proc is mounted: Default (unless set) or Unmasked."),
    seccompProfile: pointer(11, ref(SeccompProfile), "Which system calls are allowed."),
    appArmorProfile: pointer(12, ref(AppArmorProfile), "AppArmor profile of the container."),
  },
  { description: "Security settings of one container; they go before those of the Pod." },
);

/** Ephemeral containers have the same fields under the same numbers. */
const CONTAINER_FIELDS: Record<string, FieldSpec> = {
  name: required(1, string, "Name of the container, a DNS label that is unique in the Pod. It cannot be changed."),
  image: plain(2, string, "Name of the image."),
  command: plain(3, listOf(string), "Entry point; unset = that of the image. $(NAME) stands for environment variables."),
  args: plain(4, listOf(string), "Arguments of the entry point; unset = those of the image. $(NAME) stands for environment variables."),
  workingDir: plain(5, string, "Working directory; unset = that of the image."),
  ports: plain(
    6,
    listOf(ref(ContainerPort), { mergeKey: "containerPort", listType: "map", listMapKeys: ["containerPort", "protocol"] }),
    "Ports on which the container listens.",
  ),
  envFrom: plain(19, listOf(ref(EnvFromSource)), "Objects whose keys become environment variables."),
  env: plain(7, keyedListOf(EnvVar, "name"), "Environment variables."),
  resources: plain(8, ref(ResourceRequirements), "Resources that the container needs and may use."),
  resizePolicy: plain(23, listOf(ref(ContainerResizePolicy)), "What changes of resources do to the running container."),
  restartPolicy: pointer(
    24,
    string,
    "When the container is restarted, in place of the Pod's policy; Always makes an init container a sidecar.",
  ),
  restartPolicyRules: plain(25, listOf(ref(ContainerRestartRule)), "What is done after certain exits, in place of restartPolicy."),
  volumeMounts: plain(9, keyedListOf(VolumeMount, "mountPath"), "Where volumes of the Pod are mounted."),
  volumeDevices: plain(21, keyedListOf(VolumeDevice, "devicePath"), "Block devices of the container."),
  livenessProbe: pointer(10, ref(Probe), "Check after whose failure the container is restarted."),
  readinessProbe: pointer(11, ref(Probe), "Check that must pass for the container to count as ready."),
  startupProbe: pointer(22, ref(Probe), "Check that must pass before the others begin."),
  lifecycle: pointer(12, ref(Lifecycle), "What is done when the container starts and before it ends."),
  terminationMessagePath: plain(13, string, "File in the container with its last words; /dev/termination-log unless set."),
  terminationMessagePolicy: plain(
    20,
    enumOf("File", "FallbackToLogsOnError"),
    "File (unless set), or FallbackToLogsOnError to take the end of the log after an error.",
  ),
  imagePullPolicy: plain(14, enumOf("Always", "Never", "IfNotPresent"), "When the image is pulled: Always, Never or IfNotPresent."),
  securityContext: pointer(15, ref(SecurityContext), "Security settings of the container."),
  stdin: plain(16, bool, "Whether standard input is kept open."),
  stdinOnce: plain(17, bool, "Whether standard input closes after the first client."),
  tty: plain(18, bool, "Whether the container has a terminal; needs stdin."),
};

export const Container: MessageSchema = message("io.k8s.api.core.v1.Container", CONTAINER_FIELDS, {
  description: "A container of a Pod.",
  stored: {
    imagePullPolicy: "Always",
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    resources: {},
  },
});

const EphemeralContainerCommon: MessageSchema = message("io.k8s.api.core.v1.EphemeralContainerCommon", CONTAINER_FIELDS, {
  description: "What an ephemeral container shares with others.",
});

export const EphemeralContainer: MessageSchema = message(
  "io.k8s.api.core.v1.EphemeralContainer",
  {
    ephemeralContainerCommon: inline(1, EphemeralContainerCommon),
    targetContainerName: plain(2, string, "Container whose processes it sees."),
  },
  { description: "A container that is added to a running Pod, to look into it." },
);
