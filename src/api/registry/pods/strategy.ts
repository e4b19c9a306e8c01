/** Pods: the parts of upstream pkg/registry/core/pod and ValidatePod that a Service network without kubelets needs. */
import { semanticEqual } from "../../meta/equality";
import { duplicate, forbiddenField, invalidValue, notSupported, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Pod } from "../../meta/kubernetes";
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../meta/names";
import { BASE_STRATEGY, keepAllButStatus, keepStatus } from "../base-strategy";
import { PROTOCOLS } from "../protocols";
import type { Change, Strategy } from "../resource";
import { defaultPod, qosClassOf } from "./defaults";

type PodSpec = NonNullable<Pod["spec"]>;
type Container = PodSpec["containers"][number];

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const FINISHED = ["Succeeded", "Failed"];
const MUTABLE =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function validate(pod: Pod): FieldError[] {
  const errors: FieldError[] = [];
  const spec = pod.spec;
  if (!spec?.containers?.length) errors.push(required("spec.containers"));
  if (!spec) return errors;
  const names = new Set<string>();
  (spec.initContainers ?? []).forEach((container, i) => validateContainer(`spec.initContainers[${i}]`, container, names, errors));
  (spec.containers ?? []).forEach((container, i) => validateContainer(`spec.containers[${i}]`, container, names, errors));
  oneOf("spec.restartPolicy", spec.restartPolicy, RESTART_POLICIES, errors);
  oneOf("spec.dnsPolicy", spec.dnsPolicy, DNS_POLICIES, errors);
  validateName("spec.nodeName", spec.nodeName, validateDNS1123Subdomain, errors);
  validateName("spec.serviceAccountName", spec.serviceAccountName, validateDNS1123Subdomain, errors);
  validateName("spec.hostname", spec.hostname, validateDNS1123Label, errors);
  validateName("spec.subdomain", spec.subdomain, validateDNS1123Label, errors);
  return errors;
}

function oneOf(field: string, value: string | undefined, supported: readonly string[], errors: FieldError[]): void {
  if (!value) errors.push(required(field));
  else if (!supported.includes(value)) errors.push(notSupported(field, value, supported));
}

/** Checks a name that may be absent. */
function validateName(field: string, value: string | undefined, rule: (name: string) => string[], errors: FieldError[]): void {
  if (value) for (const message of rule(value)) errors.push(invalidValue(field, value, message));
}

function validateContainer(field: string, container: Container, names: Set<string>, errors: FieldError[]): void {
  const { name = "", image = "" } = container;
  if (name === "") errors.push(required(`${field}.name`));
  else for (const message of validateDNS1123Label(name)) errors.push(invalidValue(`${field}.name`, name, message));
  if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
  names.add(name);
  if (image === "") errors.push(required(`${field}.image`));
  (container.ports ?? []).forEach((port, i) => {
    const at = `${field}.ports[${i}]`;
    if (!port.containerPort) errors.push(required(`${at}.containerPort`));
    else if (port.containerPort < 1 || port.containerPort > 65535) {
      errors.push(invalidValue(`${at}.containerPort`, port.containerPort, "must be between 1 and 65535, inclusive"));
    }
    oneOf(`${at}.protocol`, port.protocol, PROTOCOLS, errors);
  });
}

/** The new spec with its changeable members taken from the stored one; the result must equal the stored spec. */
function withStoredMutables(after: PodSpec, before: PodSpec): PodSpec {
  const images = (wanted: Container[] | undefined, stored: Container[] | undefined): Container[] | undefined =>
    wanted?.map((container, i) => ({ ...container, image: stored?.[i]?.image }));
  return {
    ...after,
    containers: images(after.containers, before.containers) ?? [],
    initContainers: images(after.initContainers, before.initContainers),
    activeDeadlineSeconds: before.activeDeadlineSeconds,
    tolerations: before.tolerations,
    terminationGracePeriodSeconds: before.terminationGracePeriodSeconds,
  };
}

function validateUpdate({ after, before }: Change<Pod>): FieldError[] {
  const wanted = after.spec;
  const stored = before.spec;
  if (!wanted || !stored) return [];
  const added = stored.tolerations?.every((toleration) => wanted.tolerations?.some((other) => semanticEqual(other, toleration))) ?? true;
  const graceBefore = stored.terminationGracePeriodSeconds ?? 0;
  const grace = wanted.terminationGracePeriodSeconds ?? 0;
  const graceIsFine = grace === graceBefore || (graceBefore < 0 && grace === 1);
  if (added && graceIsFine && semanticEqual(withStoredMutables(wanted, stored), stored)) return [];
  return [forbiddenField("spec", MUTABLE)];
}

/** Pods that no node runs, or that have ended, go at once. */
function graceSeconds(pod: Pod, requested: number | undefined): number {
  if (!pod.spec?.nodeName || FINISHED.includes(pod.status?.phase ?? "")) return 0;
  const grace = requested ?? pod.spec.terminationGracePeriodSeconds ?? 30;
  return grace < 0 ? 1 : grace;
}

export const podStrategy: Strategy<Pod> = {
  ...BASE_STRATEGY,
  defaults: defaultPod,
  prepareForCreate(pod) {
    pod.status = { phase: "Pending", ...(pod.spec ? { qosClass: qosClassOf(pod.spec) } : {}) };
  },
  validate,
  prepareForUpdate: keepStatus,
  validateUpdate,
  prepareForStatusUpdate(change) {
    keepAllButStatus(change);
    const { after, before } = change;
    if (!after.metadata) return;
    if (before.metadata?.ownerReferences) after.metadata.ownerReferences = before.metadata.ownerReferences;
    else delete after.metadata.ownerReferences;
  },
  deletion: { graceSeconds },
};
