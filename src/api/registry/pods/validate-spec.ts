/** Validation of the spec of Pods and of their templates: the parts of upstream ValidatePodSpec that a Service network without kubelets needs. */
import { duplicate, invalidValue, notSupported, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Pod } from "../../meta/kubernetes";
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../meta/names";
import { PROTOCOLS } from "../protocols";

export type PodSpec = NonNullable<Pod["spec"]>;
export type Container = PodSpec["containers"][number];

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const DNS_POLICIES = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];

/** Appends the errors of the spec that stands at `field`. */
export function validatePodSpec(spec: PodSpec, field: string, errors: FieldError[]): void {
  if (!spec.containers?.length) errors.push(required(`${field}.containers`));
  const names = new Set<string>();
  (spec.initContainers ?? []).forEach((container, i) => validateContainer(`${field}.initContainers[${i}]`, container, names, errors));
  (spec.containers ?? []).forEach((container, i) => validateContainer(`${field}.containers[${i}]`, container, names, errors));
  oneOf(`${field}.restartPolicy`, spec.restartPolicy, RESTART_POLICIES, errors);
  oneOf(`${field}.dnsPolicy`, spec.dnsPolicy, DNS_POLICIES, errors);
  validateName(`${field}.nodeName`, spec.nodeName, validateDNS1123Subdomain, errors);
  validateName(`${field}.serviceAccountName`, spec.serviceAccountName, validateDNS1123Subdomain, errors);
  validateName(`${field}.hostname`, spec.hostname, validateDNS1123Label, errors);
  validateName(`${field}.subdomain`, spec.subdomain, validateDNS1123Label, errors);
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
