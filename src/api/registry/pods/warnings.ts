/**
 * Texts of Warning headers for the create of a Pod and for the templates of Pods. Source: upstream pkg/api/pod/warnings.go and
 * pkg/registry/core/pod/strategy.go.
 */
import { semanticEqual } from "../../meta/equality";
import type { Container, NodeSelectorTerm, Pod, PodSpec } from "../../meta/kubernetes";
import { validateDNS1123Label, validateLabelValue } from "../../meta/names";
import { isFractional } from "../../schema/quantity";
import { warnOfAddress } from "../address-warnings";
import { overlappingPaths } from "./overlapping-paths";

type ContainerPort = NonNullable<Container["ports"]>[number];
type AppArmorProfile = NonNullable<NonNullable<PodSpec["securityContext"]>["appArmorProfile"]>;
type PodAffinity = NonNullable<NonNullable<PodSpec["affinity"]>["podAffinity"]>;

const DEPRECATED_LABELS: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
};

const DEPRECATED_ANNOTATIONS: readonly (readonly [string, string])[] = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
];

const DEPRECATED_VOLUMES = {
  photonPersistentDisk: "deprecated in v1.11, non-functional in v1.16+",
  gitRepo: "deprecated in v1.11, and disabled by default in v1.33+",
  scaleIO: "deprecated in v1.16, non-functional in v1.22+",
  flocker: "deprecated in v1.22, non-functional in v1.25+",
  storageos: "deprecated in v1.22, non-functional in v1.25+",
  quobyte: "deprecated in v1.22, non-functional in v1.25+",
  glusterfs: "deprecated in v1.25, non-functional in v1.26+",
  cephfs: "deprecated in v1.28, non-functional in v1.31+",
  rbd: "deprecated in v1.28, non-functional in v1.31+",
} as const;

/** More do not fit the headers of an answer. A hostile Pod could have very many. */
const WARNINGS_MAX = 100;

/** Definitions of one port that later ones are compared with: the work stays linear. */
const COMPARED_MAX = 100;

/** Upstream's path names the field of its internal type. */
const INTERNAL_NAMES: Readonly<Record<string, string>> = { storageos: "storageOS" };

const SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_CONTAINER = "container.apparmor.security.beta.kubernetes.io/";
const APP_ARMOR_LOCALHOST = "localhost/";
const USE_SECCOMP_PROFILE = 'non-functional in v1.27+; use the "seccompProfile" field instead';

/** What both have. */
type PodLike = Pick<Pod, "metadata" | "spec">;

/** In upstream's order; empty for a plain Pod. */
export function podWarnings(pod: Pod): string[] {
  const warnings: string[] = [];
  const problems = validateDNS1123Label(pod.metadata?.name ?? "");
  if (problems.length > 0) {
    const why = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
    warnings.push(`metadata.name: ${why}: [${problems.join(" ")}]`);
  }
  // The profile of a Pod's annotation becomes its field.
  warnOfSpecAndMetadata("", pod, () => undefined, warnings);
  return warnings.slice(0, WARNINGS_MAX);
}

/** The same of a template, whose name means nothing. `field` is its path. */
export function podTemplateWarnings(field: string, template: PodLike): string[] {
  const warnings: string[] = [];
  const annotations = template.metadata?.annotations ?? {};
  const profile = template.spec?.securityContext?.appArmorProfile;
  const warnOfProfile = (container: Container): void => {
    const key = APP_ARMOR_CONTAINER + container.name;
    if (container.securityContext?.appArmorProfile || !Object.hasOwn(annotations, key)) return;
    if (profile && semanticEqual(profile, profileOf(annotations[key] ?? ""))) return;
    warnings.push(`${field}.metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  };
  warnOfSpecAndMetadata(`${field}.`, template, warnOfProfile, warnings);
  return warnings.slice(0, WARNINGS_MAX);
}

function warnOfSpecAndMetadata(
  root: string,
  { metadata, spec }: PodLike,
  warnOfProfile: (container: Container) => void,
  warnings: string[],
): void {
  if (!spec) return;
  const annotations = metadata?.annotations ?? {};
  const at = `${root}spec`;
  const metadataAt = `${root}metadata`;
  warnOfPlacement(at, spec, warnings);
  for (const [key, text] of DEPRECATED_ANNOTATIONS) {
    if (Object.hasOwn(annotations, key)) warnings.push(`${metadataAt}.annotations[${key}]: ${text}`);
  }
  warnOfVolumes(at, spec, warnings);
  warnOfDuplicates(at, spec, warnings);
  warnOfFractions(`${at}.overhead`, spec.overhead, warnings);
  if (!spec.securityContext?.seccompProfile && Object.hasOwn(annotations, SECCOMP_POD)) {
    warnings.push(`${metadataAt}.annotations[${SECCOMP_POD}]: ${USE_SECCOMP_PROFILE}`);
  }
  const containers = containersOf(at, spec);
  for (const [field, container] of containers) {
    const key = SECCOMP_CONTAINER + container.name;
    if (!container.securityContext?.seccompProfile && Object.hasOwn(annotations, key)) {
      warnings.push(`${metadataAt}.annotations[${key}]: ${USE_SECCOMP_PROFILE}`);
    }
    warnOfProfile(container);
    warnOfContainer(field, container, warnings);
  }
  warnOfPorts(containers, warnings);
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warnings.push(`${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`);
  }
  warnOfPodAffinity(`${at}.affinity.podAffinity`, spec.affinity?.podAffinity, warnings);
  warnOfPodAffinity(`${at}.affinity.podAntiAffinity`, spec.affinity?.podAntiAffinity, warnings);
  (spec.dnsConfig?.nameservers ?? []).forEach((address, i) => warnOfAddress(`${at}.dnsConfig.nameservers[${i}]`, address, warnings));
  (spec.hostAliases ?? []).forEach(({ ip }, i) => warnOfAddress(`${at}.hostAliases[${i}].ip`, ip, warnings));
}

/** The profile that an annotation of AppArmor names; undefined = none that is known (upstream pkg/api/pod/util.go, ApparmorFieldForAnnotation). */
function profileOf(annotation: string): AppArmorProfile | undefined {
  if (annotation === "unconfined") return { type: "Unconfined" };
  if (annotation === "runtime/default") return { type: "RuntimeDefault" };
  const localhostProfile = annotation.startsWith(APP_ARMOR_LOCALHOST) ? annotation.slice(APP_ARMOR_LOCALHOST.length) : "";
  return localhostProfile === "" ? undefined : { type: "Localhost", localhostProfile };
}

/** In upstream's order (pods.VisitContainersWithPath). */
function containersOf(at: string, spec: PodSpec): (readonly [string, Container])[] {
  return [
    ...(spec.initContainers ?? []).map((container, i) => [`${at}.initContainers[${i}]`, container] as const),
    ...(spec.containers ?? []).map((container, i) => [`${at}.containers[${i}]`, container] as const),
  ];
}

function warnOfPlacement(at: string, spec: PodSpec, warnings: string[]): void {
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const text = DEPRECATED_LABELS[key];
    if (text !== undefined) warnings.push(`${at}.nodeSelector[${key}]: ${text}`);
  }
  const { nodeAffinity } = spec.affinity ?? {};
  const requiredField = `${at}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  (nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []).forEach((term, i) =>
    warnOfTerm(`${requiredField}[${i}]`, term, false, warnings),
  );
  const preferredField = `${at}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution`;
  (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).forEach(({ preference }, i) =>
    warnOfTerm(`${preferredField}[${i}].preference`, preference, true, warnings),
  );
  (spec.topologySpreadConstraints ?? []).forEach(({ topologyKey, labelSelector }, i) => {
    const field = `${at}.topologySpreadConstraints[${i}]`;
    const text = DEPRECATED_LABELS[topologyKey];
    if (text !== undefined) warnings.push(`${field}.topologyKey: ${topologyKey} is ${text}`);
    if (!labelSelector) warnings.push(`${field}.labelSelector: a null labelSelector results in matching no pod`);
  });
}

function warnOfTerm(field: string, term: NodeSelectorTerm | undefined, checksValues: boolean, warnings: string[]): void {
  (term?.matchExpressions ?? []).forEach(({ key, values }, i) => {
    const at = `${field}.matchExpressions[${i}]`;
    const text = DEPRECATED_LABELS[key];
    if (text !== undefined) warnings.push(`${at}.key: ${key} is ${text}`);
    if (!checksValues) return;
    (values ?? []).forEach((value, j) => {
      for (const message of validateLabelValue(value)) warnings.push(`${at}.values[${j}]: ${value} is invalid, ${message}`);
    });
  });
}

function warnOfPodAffinity(field: string, affinity: PodAffinity | undefined, warnings: string[]): void {
  const text = "a null labelSelector results in matching no pod";
  (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).forEach((term, i) => {
    if (!term.labelSelector) warnings.push(`${field}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector: ${text}`);
  });
  (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).forEach(({ podAffinityTerm: term }, i) => {
    const at = `${field}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm`;
    if (!term?.labelSelector) warnings.push(`${at}.labelSelector: ${text}`);
  });
}

function warnOfVolumes(at: string, spec: PodSpec, warnings: string[]): void {
  (spec.volumes ?? []).forEach((volume, i) => {
    const sources = volume as unknown as Record<string, unknown>;
    for (const [source, text] of Object.entries(DEPRECATED_VOLUMES)) {
      if (sources[source]) warnings.push(`${at}.volumes[${i}].${INTERNAL_NAMES[source] ?? source}: ${text}`);
    }
  });
  for (const volume of spec.volumes ?? []) for (const text of overlappingPaths(volume)) warnings.push(text);
}

function warnOfDuplicates(at: string, spec: PodSpec, warnings: string[]): void {
  const addresses = new Set<string>();
  (spec.hostAliases ?? []).forEach(({ ip }, i) => {
    if (addresses.has(ip)) warnings.push(`${at}.hostAliases[${i}].ip: duplicate ip ${JSON.stringify(ip)}`);
    addresses.add(ip);
  });
  const names = new Set<string>();
  const secrets = (spec.imagePullSecrets ?? []).map(({ name = "" }) => name);
  secrets.forEach((name, i) => {
    if (names.has(name)) warnings.push(`${at}.imagePullSecrets[${i}].name: duplicate name ${JSON.stringify(name)}`);
    names.add(name);
  });
  secrets.forEach((name, i) => {
    if (name === "") warnings.push(`${at}.imagePullSecrets[${i}].name: invalid empty name ""`);
  });
}

function warnOfContainer(field: string, container: Container, warnings: string[]): void {
  const { limits, requests } = container.resources ?? {};
  for (const resource of FRACTIONAL) {
    warnOfFraction(`${field}.resources.limits`, resource, limits, warnings);
    warnOfFraction(`${field}.resources.requests`, resource, requests, warnings);
  }
  const names = new Set<string>();
  (container.env ?? []).forEach(({ name, value = "", valueFrom }, i) => {
    if (!names.has(name)) {
      names.add(name);
      return;
    }
    // A value that builds on the earlier one hides nothing.
    const reference = `$(${name})`;
    if (valueFrom || value === reference || !value.includes(reference)) {
      const text = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
      warnings.push(`${field}.env[${i}]: ${text}`);
    }
  });
}

const FRACTIONAL = ["memory", "ephemeral-storage"] as const;

function warnOfFractions(field: string, quantities: Record<string, string> | undefined, warnings: string[]): void {
  for (const resource of FRACTIONAL) warnOfFraction(field, resource, quantities, warnings);
}

function warnOfFraction(field: string, resource: string, quantities: Record<string, string> | undefined, warnings: string[]): void {
  const quantity = quantities?.[resource];
  if (quantity === undefined || !isFractional(quantity)) return;
  warnings.push(`${field}[${resource}]: fractional byte value ${JSON.stringify(quantity)} is invalid, must be an integer`);
}

function warnOfPorts(containers: readonly (readonly [string, Container])[], warnings: string[]): void {
  const ports = containers.flatMap(([field, container]) =>
    (container.ports ?? []).map((port, i) => ({ field: `${field}.ports[${i}]`, port })),
  );
  const byNumber = new Map<string, { field: string; port: ContainerPort }[]>();
  for (const { field, port } of ports) {
    if (port.hostIP && !port.hostPort) warnings.push(`${field}: hostIP set without hostPort: ${goPort(port)}`);
    const key = `${port.containerPort}/${port.protocol}`;
    const others = byNumber.get(key) ?? [];
    for (const other of warnings.length < WARNINGS_MAX ? others : []) {
      const problem = portProblem(port, other.port);
      if (problem !== undefined) warnings.push(`${field}: ${problem} port definition with ${other.field}`);
    }
    if (others.length < COMPARED_MAX) others.push({ field, port });
    byNumber.set(key, others);
  }
  const byName = new Map<string, string>();
  for (const { field, port } of ports) {
    if (!port.name) continue;
    const other = byName.get(port.name);
    if (other === undefined) byName.set(port.name, field);
    else {
      const use = `services and probes that select ports by name will use ${other}`;
      warnings.push(`${field}: duplicate port name ${JSON.stringify(port.name)} with ${other}, ${use}`);
    }
  }
}

/** How two definitions of one port and protocol get in each other's way; undefined = they do not. */
function portProblem(one: ContainerPort, other: ContainerPort): string | undefined {
  const [addressA, addressB] = [one.hostIP ?? "", other.hostIP ?? ""];
  const [hostA, hostB] = [one.hostPort ?? 0, other.hostPort ?? 0];
  if (addressA === addressB && hostA === hostB) return "duplicate";
  if (hostA === 0 || hostB === 0) return "overlapping";
  return hostA === hostB && (addressA === "") !== (addressB === "") ? "dangerously ambiguous" : undefined;
}

/** Go's %+v of a ContainerPort. */
function goPort({ name = "", hostPort = 0, containerPort, protocol = "", hostIP = "" }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;
}
