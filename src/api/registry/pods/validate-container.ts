/** Validation of the containers of a Pod: the parts of upstream validateContainers and validateInitContainers that need no kubelet. */
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalidValue,
  notFoundValue,
  notSupported,
  oneOf,
  required,
} from "../../meta/field-errors";
import type { Container, PodSpec } from "../../meta/kubernetes";
import { validateDNS1123Label, validateQualifiedName } from "../../meta/names";
import { compareQuantities } from "../../schema/quantity";
import { isPortNumber, PORT_RANGE, portNameProblems } from "../port-rules";
import { PROTOCOLS } from "../protocols";
import { isExtendedResource, isNativeResource, isStandardResource, validateAmount } from "../resource-names";
import { validateLifecycle, validateProbe } from "./validate-probe";

type Resources = NonNullable<Container["resources"]>;
type ContainerQuantities = Readonly<Record<string, string>>;

const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];
const MESSAGE_POLICIES = ["File", "FallbackToLogsOnError"];
const RESTART_POLICIES = ["Always", "Never", "OnFailure"];
const CONTAINER_RESOURCES = ["cpu", "memory", "ephemeral-storage"];
const HUGE_PAGES = "hugepages-";
const ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always";
const RULES_NEED_POLICY = "must specify restartPolicy when restart rules are used";
/** upstream's order of two lists of resources */
const LISTS = ["limits", "requests"] as const;

/** Appends the errors of all containers. `volumes` are the names that can be mounted. */
export function validateContainers(spec: PodSpec, field: string, volumes: ReadonlySet<string>, errors: FieldError[]): void {
  const containers = spec.containers ?? [];
  const at = `${field}.containers`;
  if (containers.length === 0) errors.push(required(at));
  const names = new Set<string>();
  containers.forEach((container, i) => {
    const place = `${at}[${i}]`;
    validateCommon(container, place, spec, volumes, errors);
    if (names.has(container.name)) errors.push(duplicate(`${place}.name`, container.name));
    names.add(container.name);
    validateHandlers(container, place, spec, errors);
    validateRestartPolicy(container, place, errors);
  });
  validateHostPorts(containers, at, errors);
  (spec.initContainers ?? []).forEach((container, i) => {
    const place = `${field}.initContainers[${i}]`;
    validateCommon(container, place, spec, volumes, errors);
    validateRestartPolicy(container, place, errors);
    if (names.has(container.name)) errors.push(duplicate(`${place}.name`, container.name));
    if (container.name) names.add(container.name);
    // Upstream counts each init container as the first: they run one after another.
    validateHostPorts([container], `${field}.initContainers`, errors);
    if (container.restartPolicy === "Always") validateHandlers(container, place, spec, errors);
    else {
      for (const handler of ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] as const) {
        if (container[handler]) errors.push(forbiddenField(`${place}.${handler}`, ONLY_SIDECARS));
      }
    }
  });
}

/** A container refers to claims of its Pod. */
function validateClaims({ resources }: Container, field: string, { resourceClaims = [] }: PodSpec, errors: FieldError[]): void {
  const known = resourceClaims.map(({ name }) => name).sort();
  const which = known.length === 0 ? " which is empty" : `: ${known.join(", ")}`;
  (resources?.claims ?? []).forEach(({ name }, i) => {
    const at = `${field}[${i}]`;
    if (!name) errors.push(required(at));
    else if (!known.includes(name)) errors.push(notFoundValue(at, name, `must be one of the names in pod.spec.resourceClaims${which}`));
  });
}

/** The image of a Pod has no space around it; that of a template may. */
export function validateImages(containers: readonly Container[] | undefined, field: string, errors: FieldError[]): void {
  (containers ?? []).forEach(({ image = "" }, i) => {
    if (image.trim() !== image) errors.push(invalidValue(`${field}[${i}].image`, image, "must not have leading or trailing whitespace"));
  });
}

function validateCommon(container: Container, field: string, spec: PodSpec, volumes: ReadonlySet<string>, errors: FieldError[]): void {
  const { name = "", image = "" } = container;
  if (name === "") errors.push(required(`${field}.name`));
  else for (const message of validateDNS1123Label(name)) errors.push(invalidValue(`${field}.name`, name, message));
  if (image === "") errors.push(required(`${field}.image`));
  oneOf(`${field}.terminationMessagePolicy`, container.terminationMessagePolicy, MESSAGE_POLICIES, errors);
  validatePorts(container, `${field}.ports`, errors);
  validateEnvironment(container, `${field}.env`, errors);
  validateMounts(container, `${field}.volumeMounts`, volumes, errors);
  oneOf(`${field}.imagePullPolicy`, container.imagePullPolicy, PULL_POLICIES, errors);
  validateResources(container.resources, `${field}.resources`, errors);
  validateClaims(container, `${field}.resources.claims`, spec, errors);
}

function validatePorts({ ports = [] }: Container, field: string, errors: FieldError[]): void {
  const names = new Set<string>();
  ports.forEach(({ name = "", containerPort, hostPort, protocol }, i) => {
    const at = `${field}[${i}]`;
    if (name !== "") {
      const problems = portNameProblems(name);
      for (const message of problems) errors.push(invalidValue(`${at}.name`, name, message));
      if (problems.length === 0) {
        if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
        names.add(name);
      }
    }
    if (!containerPort) errors.push(required(`${at}.containerPort`));
    else if (!isPortNumber(containerPort)) errors.push(invalidValue(`${at}.containerPort`, containerPort, PORT_RANGE));
    if (hostPort && !isPortNumber(hostPort)) errors.push(invalidValue(`${at}.hostPort`, hostPort, PORT_RANGE));
    oneOf(`${at}.protocol`, protocol, PROTOCOLS, errors);
  });
}

/** One port of the node serves one container. */
function validateHostPorts(containers: readonly Container[], field: string, errors: FieldError[]): void {
  const taken = new Set<string>();
  containers.forEach(({ ports = [] }, i) => {
    ports.forEach(({ hostPort, hostIP = "", protocol }, j) => {
      if (!hostPort) return;
      const port = `${protocol}/${hostIP}/${hostPort}`;
      if (taken.has(port)) errors.push(duplicate(`${field}[${i}].ports[${j}].hostPort`, port));
      taken.add(port);
    });
  });
}

function validateEnvironment({ env = [] }: Container, field: string, errors: FieldError[]): void {
  const form = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  env.forEach(({ name = "" }, i) => {
    if (name === "") errors.push(required(`${field}[${i}].name`));
    else if (!/^[ -<>-~]+$/.test(name)) errors.push(invalidValue(`${field}[${i}].name`, name, form));
  });
}

function validateMounts({ volumeMounts = [] }: Container, field: string, volumes: ReadonlySet<string>, errors: FieldError[]): void {
  const paths = new Set<string>();
  volumeMounts.forEach(({ name = "", mountPath = "" }, i) => {
    const at = `${field}[${i}]`;
    if (name === "") errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(notFoundValue(`${at}.name`, name));
    if (mountPath === "") errors.push(required(`${at}.mountPath`));
    if (paths.has(mountPath)) errors.push(invalidValue(`${at}.mountPath`, mountPath, "must be unique"));
    paths.add(mountPath);
  });
}

/** Appends the errors of what a container, or the overhead of a Pod, needs and may use. */
export function validateResources(resources: Resources | undefined, field: string, errors: FieldError[]): void {
  const limits: ContainerQuantities = resources?.limits ?? {};
  const names: string[] = [];
  for (const list of LISTS) {
    const quantities: ContainerQuantities = resources?.[list] ?? {};
    for (const name of Object.keys(quantities).sort()) {
      const quantity = quantities[name] ?? "";
      const at = `${field}.${list}[${name}]`;
      names.push(name);
      validateResourceName(name, at, errors);
      validateAmount(at, name, quantity, errors);
      if (list === "requests") validateRequest(name, quantity, limits, field, errors);
    }
  }
  const isHuge = names.some((name) => name.startsWith(HUGE_PAGES));
  if (isHuge && !names.includes("cpu") && !names.includes("memory")) errors.push(forbiddenField(field, "HugePages require cpu or memory"));
}

function validateRequest(name: string, quantity: string, limits: ContainerQuantities, field: string, errors: FieldError[]): void {
  const mayOvercommit = isNativeResource(name) && !name.startsWith(HUGE_PAGES);
  const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
  if (limit === undefined) {
    if (!mayOvercommit) errors.push(required(`${field}.limits`, "Limit must be set for non overcommitable resources"));
    return;
  }
  const order = compareQuantities(quantity, limit);
  if (order !== 0 && !mayOvercommit) {
    errors.push(invalidValue(`${field}.requests`, quantity, `must be equal to ${name} limit of ${limit}`));
  } else if (order > 0) {
    errors.push(invalidValue(`${field}.requests`, quantity, `must be less than or equal to ${name} limit of ${limit}`));
  }
}

function validateResourceName(name: string, field: string, errors: FieldError[]): void {
  const problems = [...validateQualifiedName(name)];
  const isPlain = !name.includes("/");
  if (problems.length === 0 && isPlain && !isStandardResource(name)) problems.push("must be a standard resource type or fully qualified");
  if (isPlain) {
    if (!CONTAINER_RESOURCES.includes(name) && !name.startsWith(HUGE_PAGES)) problems.push("must be a standard resource for containers");
  } else if (!isNativeResource(name) && !isExtendedResource(name)) problems.push("doesn't follow extended resource name standard");
  for (const message of problems) errors.push(invalidValue(field, name, message));
}

function validateHandlers(container: Container, field: string, { terminationGracePeriodSeconds = 0 }: PodSpec, errors: FieldError[]): void {
  validateLifecycle(container.lifecycle, `${field}.lifecycle`, terminationGracePeriodSeconds, errors);
  for (const kind of ["livenessProbe", "readinessProbe", "startupProbe"] as const) {
    validateProbe(kind, container[kind], `${field}.${kind}`, terminationGracePeriodSeconds, errors);
  }
}

function validateRestartPolicy({ restartPolicy, restartPolicyRules = [] }: Container, field: string, errors: FieldError[]): void {
  const at = `${field}.restartPolicy`;
  if (restartPolicy === undefined) {
    if (restartPolicyRules.length > 0) errors.push(required(at, RULES_NEED_POLICY));
  } else if (!RESTART_POLICIES.includes(restartPolicy)) errors.push(notSupported(at, restartPolicy, RESTART_POLICIES));
}
