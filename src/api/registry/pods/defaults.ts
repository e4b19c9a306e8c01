/**
 * Static defaulting of pods and pod templates: upstream pkg/apis/core/v1/defaults.go. Tolerations (default-tolerations.ts) are the only additions of
 * admission plugins that are made.
 */
import type { Container, Pod, PodSpec, PodTemplate, Probe, Volume } from "../../meta/kubernetes";
import { compareQuantities } from "../../schema/quantity";

type References = Pick<NonNullable<NonNullable<Container["env"]>[number]["valueFrom"]>, "fieldRef" | "resourceFieldRef">;

const FILE_MODE = 0o644;

/** Always for the tag `latest`, and for an image without tag and digest; IfNotPresent for all others. */
function defaultPullPolicy(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const tag = image.slice(image.lastIndexOf("/") + 1).split(":")[1] ?? "latest";
  return tag === "latest" ? "Always" : "IfNotPresent";
}

function defaultProbe(probe: Probe | undefined): void {
  if (!probe) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  if (probe.httpGet) {
    probe.httpGet.path ||= "/";
    probe.httpGet.scheme ||= "HTTP";
  }
  if (probe.grpc) probe.grpc.service ??= "";
}

function defaultContainer(container: Container): void {
  container.imagePullPolicy ||= defaultPullPolicy(container.image ?? "");
  container.terminationMessagePath ||= "/dev/termination-log";
  container.terminationMessagePolicy ||= "File";
  for (const port of container.ports ?? []) {
    port.protocol ||= "TCP";
  }
  container.resources ??= {};
  defaultProbe(container.livenessProbe);
  defaultProbe(container.readinessProbe);
  defaultProbe(container.startupProbe);
  for (const hook of [container.lifecycle?.postStart, container.lifecycle?.preStop]) {
    if (!hook?.httpGet) continue;
    hook.httpGet.path ||= "/";
    hook.httpGet.scheme ||= "HTTP";
  }
  for (const variable of container.env ?? []) {
    if (variable.valueFrom) defaultReferences(variable.valueFrom);
  }
}

/** A divisor stands in every answer: to Go a quantity is a struct. */
function defaultReferences({ fieldRef, resourceFieldRef }: References): void {
  if (fieldRef) fieldRef.apiVersion ||= "v1";
  if (resourceFieldRef) resourceFieldRef.divisor ??= "0";
}

function defaultVolume(volume: Volume): void {
  const projected = (volume.projected?.sources ?? []).flatMap(({ downwardAPI }) => downwardAPI?.items ?? []);
  for (const item of [...(volume.downwardAPI?.items ?? []), ...projected]) defaultReferences(item);
  if (Object.keys(volume).every((key) => key === "name")) volume.emptyDir = {};
  if (volume.secret) volume.secret.defaultMode ??= FILE_MODE;
  if (volume.configMap) volume.configMap.defaultMode ??= FILE_MODE;
  if (volume.projected) volume.projected.defaultMode ??= FILE_MODE;
  if (volume.downwardAPI) volume.downwardAPI.defaultMode ??= FILE_MODE;
  if (volume.hostPath) volume.hostPath.type ??= "";
}

/** podIP is the first of podIPs. Where a client sends both and they differ, podIP counts: older kubelets know no other (pkg/apis/core/v1/conversion.go). */
function defaultPodStatus({ status }: Pod): void {
  if (!status) return;
  const first = status.podIPs?.[0]?.ip;
  if (status.podIP && status.podIP !== first) status.podIPs = [{ ip: status.podIP }];
  else if (first) status.podIP = first;
}

/** What SetDefaults_PodSpec and the defaults of its parts add, to Pods and to templates of Pods. */
function defaultPodSpec(spec: PodSpec): void {
  spec.restartPolicy ||= "Always";
  spec.dnsPolicy ||= "ClusterFirst";
  spec.terminationGracePeriodSeconds ??= 30;
  spec.securityContext ??= {};
  spec.schedulerName ||= "default-scheduler";
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
  else if (spec.serviceAccount) spec.serviceAccountName = spec.serviceAccount;
  for (const container of spec.containers ?? []) defaultContainer(container);
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
}

/** What SetDefaults_Pod adds to a container, and no template of Pods has. */
function defaultContainerOfPod({ ports, resources }: Container, hostNetwork: boolean): void {
  for (const port of ports ?? []) if (hostNetwork) port.hostPort ||= port.containerPort;
  if (resources?.limits) resources.requests = { ...resources.limits, ...resources.requests };
}

/** A Pod always has a spec, which is a struct to Go. A grace period below zero is one second (upstream pkg/apis/core/v1/conversion.go). */
export function defaultPod(pod: Pod): void {
  defaultPodStatus(pod);
  const spec = (pod.spec ??= { containers: [] });
  defaultPodSpec(spec);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  spec.enableServiceLinks ??= true;
  const hostNetwork = spec.hostNetwork === true;
  for (const container of spec.containers ?? []) defaultContainerOfPod(container, hostNetwork);
  for (const container of spec.initContainers ?? []) defaultContainerOfPod(container, hostNetwork);
}

/** A template always has metadata and a spec: to Go they are structs. */
export function defaultPodTemplate(object: PodTemplate): void {
  const template = (object.template ??= {});
  template.metadata ??= {};
  defaultPodSpec((template.spec ??= { containers: [] }));
}

/** Guaranteed: cpu and memory limited and requested alike everywhere. BestEffort: nothing anywhere. Upstream pkg/apis/core/helper/qos. */
export function qosClassOf(spec: PodSpec): string {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const computed = ["cpu", "memory"];
  // nothing asked for is no wish
  const amount = (quantities: Readonly<Record<string, string>> | undefined, name: string): string => quantities?.[name] ?? "0";
  const asks = ({ resources }: Container): boolean =>
    computed.some((name) =>
      [resources?.requests, resources?.limits].some((quantities) => compareQuantities(amount(quantities, name), "0") > 0),
    );
  if (!containers.some(asks)) return "BestEffort";
  const guaranteed = containers.every(({ resources }) =>
    computed.every((name) => {
      const limit = amount(resources?.limits, name);
      return compareQuantities(limit, "0") > 0 && compareQuantities(amount(resources?.requests, name), limit) === 0;
    }),
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}
