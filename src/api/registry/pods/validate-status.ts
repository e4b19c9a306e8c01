/**
 * Validation of a Pod's status as upstream's ValidatePodStatusUpdate (pkg/apis/core/validation), with the gates of 1.36 as they are by default.
 * Statuses of containers are not compared with the containers' names: upstream accepts duplicates and unknown names.
 */
import { utf8Length } from "../../../core/encoding/utf8-length";
import { ADDRESS_ERROR_TEXT, parseAddress } from "../../../core/net/address";
import type { Family } from "../../../core/net/family";
import {
  duplicate,
  FIELD_IMMUTABLE,
  forbiddenField,
  internalProblem,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Container, ContainerStatus, Pod, PodSpec } from "../../meta/kubernetes";
import { validateDNS1123Label, validateDNS1123Subdomain, validateQualifiedName } from "../../meta/names";
import { warnOfAddress } from "../address-warnings";
import type { Change } from "../resource";

type PodStatus = NonNullable<Pod["status"]>;
type ExtendedClaim = NonNullable<PodStatus["extendedResourceClaimStatus"]>;

/** `message` is newer than the client library's types. */
type Device = NonNullable<NonNullable<ContainerStatus["allocatedResourcesStatus"]>[number]["resources"]>[number] & { message?: string };

const SYSTEM_CONDITIONS = ["PodScheduled", "Ready", "Initialized"];
/** in the order in which the refusal names them */
const HEALTH = ["Healthy", "Unhealthy", "Unknown"];
const HEALTH_MESSAGE_BYTES_MAX = 1024;
const ID_MAX = 2 ** 31 - 1;
const ID_RANGE = `must be between 0 and ${ID_MAX}, inclusive`;
const NOT_NEGATIVE = "must be a non-negative integer";
const CONTAINER_KINDS = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const;

/** All errors of a new status, in upstream's order. */
export function validatePodStatus({ after, before }: Change<Pod>): FieldError[] {
  const wanted = after.status ?? {};
  const stored = before.status ?? {};
  const spec = after.spec ?? { containers: [] };
  const errors: FieldError[] = [];
  validateConditions(wanted, errors);
  validateNominatedNode(wanted, stored, spec, errors);
  if (isNegative(wanted.observedGeneration)) {
    errors.push(invalidValue("status.observedGeneration", wanted.observedGeneration, NOT_NEGATIVE));
  }
  if ((wanted.qosClass ?? "") !== (stored.qosClass ?? "")) errors.push(invalidValue("status.qosClass", wanted.qosClass, FIELD_IMMUTABLE));
  for (const kind of CONTAINER_KINDS) validateRestarts(kind, wanted, stored, spec, errors);
  validateClaims(wanted, spec, errors);
  if (wanted.extendedResourceClaimStatus) validateExtendedClaim(wanted.extendedResourceClaimStatus, spec, errors);
  validateIPs("status.podIPs", ipsOf(wanted.podIPs), [...ipsOf(stored.podIPs), stored.podIP ?? ""], errors);
  validateHostIPs(wanted, stored, errors);
  for (const kind of CONTAINER_KINDS) validateUsers(`status.${kind}`, wanted[kind] ?? [], spec, errors);
  validateDevices("status.containerStatuses", wanted.containerStatuses ?? [], spec.containers, errors);
  validateDevices("status.initContainerStatuses", wanted.initContainerStatuses ?? [], spec.initContainers ?? [], errors);
  (wanted.ephemeralContainerStatuses ?? []).forEach(({ allocatedResourcesStatus }, i) => {
    if (!allocatedResourcesStatus?.length) return;
    const field = `status.ephemeralContainerStatuses[${i}].allocatedResourcesStatus`;
    errors.push(forbiddenField(field, "must not be specified in container status"));
  });
  return errors;
}

/** Warnings of addresses in a form that newer fields refuse. */
export function podStatusWarnings({ status }: Pod): string[] {
  const warnings: string[] = [];
  ipsOf(status?.podIPs).forEach((ip, i) => warnOfAddress(`status.podIPs[${i}].ip`, ip, warnings));
  ipsOf(status?.hostIPs).forEach((ip, i) => warnOfAddress(`status.hostIPs[${i}].ip`, ip, warnings));
  return warnings;
}

/** A client that leaves out an observedGeneration keeps the stored one; conditions of one type are matched in their order. */
export function keepObservedGenerations({ after, before }: Change<Pod>): void {
  const { status } = after;
  if (!status) return;
  const stored = before.status?.observedGeneration;
  if (!status.observedGeneration && stored) status.observedGeneration = stored;
  const storedByType = new Map<string, (number | undefined)[]>();
  for (const { type, observedGeneration } of before.status?.conditions ?? []) {
    storedByType.set(type, [...(storedByType.get(type) ?? []), observedGeneration]);
  }
  for (const condition of status.conditions ?? []) {
    const generation = storedByType.get(condition.type)?.shift();
    if (!condition.observedGeneration && generation) condition.observedGeneration = generation;
  }
}

function validateConditions({ conditions = [] }: PodStatus, errors: FieldError[]): void {
  conditions.forEach(({ type, observedGeneration }, i) => {
    const field = `status.conditions[${i}]`;
    if (isNegative(observedGeneration)) errors.push(invalidValue(`${field}.observedGeneration`, observedGeneration, NOT_NEGATIVE));
    if (SYSTEM_CONDITIONS.includes(type)) return;
    for (const message of validateQualifiedName(type ?? "")) errors.push(invalidValue(`${field}.Type`, type ?? "", message));
  });
}

function isNegative(generation: number | undefined): boolean {
  return generation !== undefined && generation < 0;
}

function validateNominatedNode(wanted: PodStatus, stored: PodStatus, { nodeName }: PodSpec, errors: FieldError[]): void {
  const field = "status.nominatedNodeName";
  const node = wanted.nominatedNodeName ?? "";
  if (node === "" || node === (stored.nominatedNodeName ?? "")) return;
  for (const message of validateDNS1123Subdomain(node)) errors.push(invalidValue(field, node, message));
  if (nodeName) errors.push(forbiddenField(field, "may not be set on pods that are already bound to a node"));
}

/** A container that has ended and is not to be restarted stays ended. */
function validateRestarts(
  kind: (typeof CONTAINER_KINDS)[number],
  wanted: PodStatus,
  stored: PodStatus,
  spec: PodSpec,
  errors: FieldError[],
): void {
  const isEphemeral = kind === "ephemeralContainerStatuses";
  if (!isEphemeral && restartsAll(spec)) return;
  const containers = kind === "containerStatuses" ? spec.containers : (spec.initContainers ?? []);
  (stored[kind] ?? []).forEach(({ name, state }, i) => {
    const ended = state?.terminated;
    if (!ended || !wanted[kind]?.some((status) => status.name === name && !status.state?.terminated)) return;
    const container = isEphemeral ? undefined : containers.find((one) => one.name === name);
    if (container && restarts(container, spec, ended.exitCode)) return;
    errors.push(forbiddenField(`status.${kind}[${i}].state`, "may not be transitioned to non-terminated state"));
  });
}

function restartsAll({ containers, initContainers = [] }: PodSpec): boolean {
  const rules = [...initContainers, ...containers].flatMap(({ restartPolicyRules }) => restartPolicyRules ?? []);
  return rules.some(({ action }) => action === "RestartAllContainers");
}

/** Upstream pkg/api/v1/pod ContainerShouldRestart. */
function restarts({ restartPolicy, restartPolicyRules = [] }: Container, spec: PodSpec, exitCode: number): boolean {
  if (restartPolicy) {
    const rule = restartPolicyRules.find(({ exitCodes }) => {
      const isNamed = exitCodes?.values?.includes(exitCode) ?? false;
      return (exitCodes?.operator === "In" && isNamed) || (exitCodes?.operator === "NotIn" && !isNamed);
    });
    if (rule?.action === "Restart") return true;
  }
  const policy = restartPolicy || spec.restartPolicy;
  return policy === "OnFailure" ? exitCode !== 0 : policy !== "Never";
}

function validateClaims({ resourceClaimStatuses = [] }: PodStatus, { resourceClaims = [] }: PodSpec, errors: FieldError[]): void {
  const names = new Set<string>();
  resourceClaimStatuses.forEach(({ name, resourceClaimName }, i) => {
    const field = `status.resourceClaimStatuses[${i}]`;
    if (!resourceClaims.some((claim) => claim.name === name)) {
      errors.push(invalidValue(`${field}.name`, name, "must match the name of an entry in `spec.resourceClaims`"));
    }
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
    if (typeof resourceClaimName === "string") validateClaimName(`${field}.resourceClaimName`, resourceClaimName, errors);
  });
}

function validateClaimName(field: string, name: string, errors: FieldError[]): void {
  for (const message of validateDNS1123Subdomain(name)) errors.push(invalidValue(field, name, message));
}

function validateExtendedClaim({ requestMappings, resourceClaimName }: ExtendedClaim, spec: PodSpec, errors: FieldError[]): void {
  const field = "status.extendedResourceClaimStatus";
  const containers = new Map([...(spec.initContainers ?? []), ...spec.containers].map((container) => [container.name, container]));
  if (!requestMappings?.length) errors.push(required(`${field}.requestMappings`, "at least one request mapping is required"));
  const seen = new Set<string>();
  (requestMappings ?? []).forEach(({ containerName, resourceName, requestName }, i) => {
    const at = `${field}.requestMappings[${i}]`;
    const container = containers.get(containerName);
    if (!container) {
      const detail = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
      errors.push(invalidValue(`${at}.containerName`, containerName, detail));
    } else if (container.resources?.requests?.[resourceName] === undefined) {
      const places = "spec.initContainers.resources.requests or spec.containers.resources.requests";
      errors.push(invalidValue(`${at}.resourceName`, resourceName, `must match the extended resource name of an entry in ${places}`));
    }
    for (const message of validateDNS1123Label(requestName)) errors.push(invalidValue(`${field}.requestName`, requestName, message));
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      errors.push(duplicate(`${at}.containerName`, containerName));
      errors.push(duplicate(`${at}.resourceName`, resourceName));
      errors.push(duplicate(`${at}.requestName`, requestName));
    }
    seen.add(key);
  });
  if (!resourceClaimName) errors.push(required(`${field}.resourceClaimName`));
  else validateClaimName(`${field}.resourceClaimName`, resourceClaimName, errors);
}

function validateHostIPs(wanted: PodStatus, stored: PodStatus, errors: FieldError[]): void {
  const ips = ipsOf(wanted.hostIPs);
  const [first] = ips;
  if (first === undefined) return;
  if ((wanted.hostIP ?? "") !== first) errors.push(invalidValue("status.hostIPs[0].ip", first, "must be equal to `hostIP`"));
  validateIPs("status.hostIPs", ips, ipsOf(stored.hostIPs), errors);
}

/** Every address that was not stored before is a valid one, and no two are of one family. */
function validateIPs(field: string, ips: readonly string[], stored: readonly string[], errors: FieldError[]): void {
  ips.forEach((ip, i) => {
    if (stored.includes(ip)) return;
    const parsed = parseAddress(ip);
    if (!parsed.ok) errors.push(invalidValue(`${field}[${i}]`, ip, ADDRESS_ERROR_TEXT[parsed.error]));
  });
  if (ips.length < 2) return;
  const families = ips.map(familyOf);
  const unknown = families.indexOf(undefined);
  if (unknown >= 0) {
    errors.push(internalProblem(field, `failed to check for dual stack with error:invalid IP[${unknown}]: ${ips[unknown] ?? ""}`));
  }
  if (unknown >= 0 || ips.length > 2 || families[0] === families[1]) {
    // upstream prints its internal type, whose members have Go's names
    const printed = ips.map((IP) => ({ IP }));
    errors.push(invalidValue(field, printed, "may specify no more than one IP for each IP family"));
  }
}

/** The family as Go's older parser takes it: it reads leading zeros, and a mapped address as one of IPv4. */
function familyOf(text: string): Family | undefined {
  const parsed = parseAddress(text);
  if (parsed.ok) return parsed.value.family;
  if (parsed.error === "invalid") return undefined;
  return parsed.error === "leadingZeros" && text.includes(":") ? "IPv6" : "IPv4";
}

function ipsOf(list: readonly { ip?: string }[] | undefined): string[] {
  return (list ?? []).map(({ ip = "" }) => ip);
}

function validateUsers(field: string, statuses: readonly ContainerStatus[], { os }: PodSpec, errors: FieldError[]): void {
  statuses.forEach(({ user }, i) => {
    const linux = user?.linux;
    if (!linux) return;
    const at = `${field}[${i}].user.linux`;
    if (os?.name === "windows") errors.push(forbiddenField(at, "cannot be set for a windows pod"));
    if (os && os.name !== "linux") return;
    const check = (place: string, id: number): void => {
      if (!(id >= 0 && id <= ID_MAX)) errors.push(invalidValue(place, id, ID_RANGE));
    };
    check(`${at}.uid`, linux.uid);
    check(`${at}.gid`, linux.gid);
    linux.supplementalGroups?.forEach((group, j) => check(`${at}.supplementalGroups[${j}]`, group));
  });
}

function validateDevices(
  field: string,
  statuses: readonly ContainerStatus[],
  containers: readonly Container[],
  errors: FieldError[],
): void {
  statuses.forEach(({ name, allocatedResourcesStatus = [] }, i) => {
    const container = containers.find((one) => one.name === name);
    allocatedResourcesStatus.forEach((allocated, j) => {
      const at = `${field}[${i}].allocatedResourcesStatus[${j}]`;
      const problem = container && resourceProblem(allocated.name, container);
      if (problem !== undefined) errors.push(invalidValue(`${at}.name`, allocated.name, problem));
      const ids = new Set<string>();
      (allocated.resources ?? []).forEach(({ health = "", resourceID, message }: Device, k) => {
        const resource = `${at}.resources[${k}]`;
        if (!HEALTH.includes(health)) errors.push(notSupported(`${resource}.health`, health, HEALTH));
        if (message === "") errors.push(required(`${resource}.message`, "must be non-empty if specified"));
        else if (message !== undefined && utf8Length(message) > HEALTH_MESSAGE_BYTES_MAX) {
          errors.push(tooLong(`${resource}.message`, `may not be more than ${HEALTH_MESSAGE_BYTES_MAX} bytes`));
        }
        if (ids.has(resourceID)) errors.push(duplicate(`${resource}.resourceID`, resourceID));
        ids.add(resourceID);
      });
    });
  });
}

/** Why the container has no such resource. */
function resourceProblem(name: string, { resources }: Container): string | undefined {
  if (!name.startsWith("claim:")) {
    return resources?.requests?.[name] === undefined ? "must match one of the container's resource requests" : undefined;
  }
  const isClaimed = resources?.claims?.some((claim) => name === `claim:${claim.name}${claim.request ? `/${claim.request}` : ""}`);
  const forms = "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  return isClaimed ? undefined : `must match one of the container's resource claims in a format ${forms}`;
}
