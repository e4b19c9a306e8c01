/** Validation of the spec of Pods and of their templates: the parts of upstream ValidatePodSpec that a Service network without kubelets needs. */
import { utf8Length } from "../../../core/encoding/utf8-length";
import { ADDRESS_ERROR_TEXT, parseAddress } from "../../../core/net/address";
import { duplicate, forbiddenField, invalidValue, notSupported, oneOf, required, tooLong } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { PodSpec, Toleration } from "../../meta/kubernetes";
import { validateDNS1123Label, validateDNS1123Subdomain, validateLabelValue, validateQualifiedName } from "../../meta/names";
import { validateLabels } from "../../meta/object-meta";
import { validateContainers, validateImages, validateResources } from "./validate-container";
import { validateVolumes } from "./validate-volumes";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];
const TOLERATION_OPERATORS = ["Equal", "Exists"];
const NUMBER_OPERATORS = ["Lt", "Gt"];
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const OPERATING_SYSTEMS = ["linux", "windows"];
const SECONDS_MAX = 2 ** 31 - 1;
const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 32;
const SEARCHES_CHARACTERS_MAX = 2048;
const SEARCH_BYTES_MAX = 253;
const SEARCH_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SEARCH = new RegExp(`^${SEARCH_LABEL}(\\.${SEARCH_LABEL})*$`);
const SEARCH_FORM =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric " +
  `character (e.g. 'example.com', regex used for validation is '${SEARCH_LABEL}(\\.${SEARCH_LABEL})*')`;
const HOSTNAME_OVERRIDE_MAX = 64;

/** Appends the errors of the spec that stands at `field`; `isPod` = of a Pod, and no template. */
export function validatePodSpec(spec: PodSpec, field: string, isPod: boolean, errors: FieldError[]): void {
  const volumes = validateVolumes(spec.volumes, `${field}.volumes`, errors);
  validateContainers(spec, field, volumes, errors);
  if (spec.hostNetwork) validateHostNetwork(spec, field, isPod, errors);
  oneOf(`${field}.restartPolicy`, spec.restartPolicy, RESTART_POLICIES, errors);
  oneOf(`${field}.dnsPolicy`, spec.dnsPolicy, DNS_POLICIES, errors);
  validateLabels(spec.nodeSelector, `${field}.nodeSelector`, errors);
  validateDNS(spec, `${field}.dnsConfig`, errors);
  validateGates(spec, field, errors);
  validateHostnameOverride(spec, `${field}.hostnameOverride`, errors);
  validateName(`${field}.serviceAccountName`, spec.serviceAccountName, validateDNS1123Subdomain, errors);
  validateName(`${field}.nodeName`, spec.nodeName, validateDNS1123Subdomain, errors);
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > SECONDS_MAX)) {
    errors.push(invalidValue(`${field}.activeDeadlineSeconds`, deadline, `must be between 1 and ${SECONDS_MAX}, inclusive`));
  }
  validateName(`${field}.hostname`, spec.hostname, validateDNS1123Label, errors);
  validateName(`${field}.subdomain`, spec.subdomain, validateDNS1123Label, errors);
  validateTolerations(spec.tolerations, `${field}.tolerations`, errors);
  validateHostAliases(spec, `${field}.hostAliases`, errors);
  validateName(`${field}.priorityClassName`, spec.priorityClassName, validateDNS1123Subdomain, errors);
  if (spec.runtimeClassName !== undefined) {
    for (const message of validateDNS1123Subdomain(spec.runtimeClassName)) {
      errors.push(invalidValue(`${field}.runtimeClassName`, spec.runtimeClassName, message));
    }
  }
  if (spec.preemptionPolicy !== undefined) oneOf(`${field}.preemptionPolicy`, spec.preemptionPolicy, PREEMPTION_POLICIES, errors);
  if (spec.overhead) validateResources({ limits: spec.overhead }, `${field}.overhead`, errors);
  if (spec.os && !spec.os.name) errors.push(required(`${field}.os.name`));
  else if (spec.os && !OPERATING_SYSTEMS.includes(spec.os.name)) errors.push(notSupported(`${field}.os`, spec.os.name, OPERATING_SYSTEMS));
  if (!isPod) return;
  validateImages(spec.containers, `${field}.containers`, errors);
  validateImages(spec.initContainers, `${field}.initContainers`, errors);
}

/** Checks a name that may be absent. */
function validateName(field: string, value: string | undefined, rule: (name: string) => string[], errors: FieldError[]): void {
  if (value) for (const message of rule(value)) errors.push(invalidValue(field, value, message));
}

/** On the network of the node a port of the container is a port of the node. A template gets its host ports when it becomes a Pod. */
function validateHostNetwork({ containers }: PodSpec, field: string, isPod: boolean, errors: FieldError[]): void {
  (containers ?? []).forEach(({ ports = [] }, i) => {
    ports.forEach(({ hostPort = 0, containerPort }, j) => {
      if ((!isPod && hostPort === 0) || hostPort === containerPort) return;
      const at = `${field}.containers[${i}].ports[${j}].hostPort`;
      errors.push(invalidValue(at, hostPort, "must match `containerPort` when `hostNetwork` is true"));
    });
  });
}

function validateDNS({ dnsPolicy, dnsConfig }: PodSpec, field: string, errors: FieldError[]): void {
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None" && nameservers.length === 0) {
    if (dnsConfig) errors.push(required(`${field}.nameservers`, "must provide at least one DNS nameserver when `dnsPolicy` is None"));
    else errors.push(required(field, "must provide `dnsConfig` when `dnsPolicy` is None"));
    return;
  }
  if (nameservers.length > NAMESERVERS_MAX) {
    errors.push(invalidValue(`${field}.nameservers`, nameservers, `must not have more than ${NAMESERVERS_MAX} nameservers`));
  }
  nameservers.forEach((address, i) => validateAddress(`${field}.nameservers[${i}]`, address, errors));
  if (searches.length > SEARCHES_MAX) {
    errors.push(invalidValue(`${field}.searches`, searches, `must not have more than ${SEARCHES_MAX} search paths`));
  }
  if (searches.join(" ").length > SEARCHES_CHARACTERS_MAX) {
    const detail = `must not have more than ${SEARCHES_CHARACTERS_MAX} characters (including spaces) in the search list`;
    errors.push(invalidValue(`${field}.searches`, searches, detail));
  }
  searches.forEach((search, i) => {
    const name = search.endsWith(".") ? search.slice(0, -1) : search;
    if (search !== ".") for (const message of searchProblems(name)) errors.push(invalidValue(`${field}.searches[${i}]`, name, message));
  });
  options.forEach(({ name }, i) => {
    if (!name) errors.push(required(`${field}.options[${i}]`, "must not be empty"));
  });
}

/** Domains of the resolver may have underscores. */
function searchProblems(name: string): string[] {
  const problems = utf8Length(name) > SEARCH_BYTES_MAX ? [`must be no more than ${SEARCH_BYTES_MAX} bytes`] : [];
  if (!SEARCH.test(name)) problems.push(SEARCH_FORM);
  return problems;
}

function validateAddress(field: string, address: string, errors: FieldError[]): void {
  const parsed = parseAddress(address);
  if (!parsed.ok) errors.push(invalidValue(field, address, ADDRESS_ERROR_TEXT[parsed.error]));
}

function validateGates({ readinessGates = [], schedulingGates = [] }: PodSpec, field: string, errors: FieldError[]): void {
  readinessGates.forEach(({ conditionType = "" }, i) => {
    const at = `${field}.readinessGates[${i}].conditionType`;
    for (const message of validateQualifiedName(conditionType)) errors.push(invalidValue(at, conditionType, message));
  });
  const names = new Set<string>();
  schedulingGates.forEach(({ name = "" }, i) => {
    const at = `${field}.schedulingGates[${i}]`;
    for (const message of validateQualifiedName(name)) errors.push(invalidValue(at, name, message));
    if (names.has(name)) errors.push(duplicate(at, name));
    names.add(name);
  });
}

function validateHostnameOverride({ hostnameOverride: name, ...spec }: PodSpec, field: string, errors: FieldError[]): void {
  if (name === undefined) return;
  for (const member of ["setHostnameAsFQDN", "hostNetwork"] as const) {
    if (spec[member]) errors.push(forbiddenField(field, `may not be specified when ${member} is true`));
  }
  if (name.length > HOSTNAME_OVERRIDE_MAX) errors.push(tooLong(field, `may not be more than ${HOSTNAME_OVERRIDE_MAX} bytes`));
  for (const message of validateDNS1123Subdomain(name)) errors.push(invalidValue(field, name, message));
}

/** Appends the errors of the tolerations; an update of a Pod checks them once more. */
export function validateTolerations(tolerations: readonly Toleration[] | undefined, field: string, errors: FieldError[]): void {
  (tolerations ?? []).forEach((toleration, i) => {
    const at = `${field}[${i}]`;
    const { key = "", operator = "", value = "", effect = "", tolerationSeconds } = toleration;
    if (key !== "") for (const message of validateQualifiedName(key)) errors.push(invalidValue(`${at}.key`, key, message));
    else if (operator !== "Exists") {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(`${at}.operator`, operator, detail));
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      errors.push(invalidValue(`${at}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    if (operator === "Exists") {
      if (value !== "") errors.push(invalidValue(`${at}.operator`, value, "value must be empty when `operator` is 'Exists'"));
    } else if (operator === "Equal" || operator === "") {
      const problems = validateLabelValue(value);
      if (problems.length > 0) errors.push(invalidValue(`${at}.operator`, value, problems.join(";")));
    } else if (NUMBER_OPERATORS.includes(operator)) {
      // Comparisons are behind a gate that is off.
      errors.push(notSupported(`${at}.operator`, operator, [...TOLERATION_OPERATORS, ...NUMBER_OPERATORS]));
    } else errors.push(notSupported(`${at}.operator`, operator, TOLERATION_OPERATORS));
    if (effect !== "" && !EFFECTS.includes(effect)) errors.push(notSupported(`${at}.effect`, effect, EFFECTS));
  });
}

function validateHostAliases({ hostAliases = [] }: PodSpec, field: string, errors: FieldError[]): void {
  hostAliases.forEach(({ ip = "", hostnames = [] }, i) => {
    validateAddress(`${field}[${i}].ip`, ip, errors);
    hostnames.forEach((name, j) => {
      for (const message of validateDNS1123Subdomain(name)) errors.push(invalidValue(`${field}[${i}].hostnames[${j}]`, name, message));
    });
  });
}
