/** Rules of spec.ports. Source: upstream pkg/apis/core/validation (validateServicePort, ValidateService). */
import { duplicate, type FieldError, forbiddenField, invalidValue, oneOf, required } from "../../meta/field-errors";
import type { ServicePort } from "../../meta/kubernetes";
import { validateDNS1123Label, validateQualifiedName } from "../../meta/names";
import { isPortNumber, PORT_RANGE, validatePortOrName } from "../port-rules";
import { PROTOCOLS } from "../protocols";
import { isHeadlessList, isNil, portsOf, type ServiceSpec } from "./predicates";

/** The presence of ports. This error comes early in upstream's order. */
export function validatePortPresence(spec: ServiceSpec, errors: FieldError[]): void {
  if (portsOf(spec).length === 0 && !isHeadlessList(spec) && spec.type !== "ExternalName") errors.push(required("spec.ports"));
}

/** Each port alone, and the uniqueness of its name. */
export function validatePorts(spec: ServiceSpec, errors: FieldError[]): void {
  const ports = portsOf(spec);
  const names = new Set<string>();
  for (let i = 0; i < ports.length; i++) {
    const port = ports[i];
    if (port) validatePort(port, `spec.ports[${i}]`, ports.length > 1, names, errors);
  }
}

function validatePort(port: ServicePort, field: string, needsName: boolean, names: Set<string>, errors: FieldError[]): void {
  if (port.name) {
    for (const message of validateDNS1123Label(port.name)) errors.push(invalidValue(`${field}.name`, port.name, message));
    if (names.has(port.name)) errors.push(duplicate(`${field}.name`, port.name));
    names.add(port.name);
  } else if (needsName) {
    errors.push(required(`${field}.name`));
  }
  const number = port.port ?? 0;
  if (!isPortNumber(number)) errors.push(invalidValue(`${field}.port`, number, PORT_RANGE));
  oneOf(`${field}.protocol`, port.protocol, PROTOCOLS, errors);
  validatePortOrName(port.targetPort ?? 0, `${field}.targetPort`, errors);
  if (isNil(port.appProtocol)) return;
  for (const message of validateQualifiedName(port.appProtocol))
    errors.push(invalidValue(`${field}.appProtocol`, port.appProtocol, message));
}

/** Node ports on types without them, and ports or node ports that occur twice with one protocol. */
export function validatePortClashes(spec: ServiceSpec, errors: FieldError[]): void {
  const ports = portsOf(spec);
  if (spec.type === "ClusterIP") {
    ports.forEach(({ nodePort }, i) => {
      if (nodePort) errors.push(forbiddenField(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    });
  }
  if (ports.length < 2) return;
  const nodePorts = new Set<string>();
  ports.forEach(({ protocol, nodePort }, i) => {
    if (!nodePort) return;
    const key = `${protocol}/${nodePort}`;
    if (nodePorts.has(key)) errors.push(duplicate(`spec.ports[${i}].nodePort`, nodePort));
    nodePorts.add(key);
  });
  const numbers = new Set<string>();
  ports.forEach(({ protocol, port }, i) => {
    const key = `${protocol}/${port}`;
    if (numbers.has(key)) errors.push(duplicate(`spec.ports[${i}]`, portKey(protocol ?? "", port)));
    numbers.add(key);
  });
}

/** The key of a port as upstream prints it: an internal struct without JSON names. */
function portKey(protocol: string, port: number): Record<string, unknown> {
  return { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
}

/** The number of the port for health checks of a load balancer. */
export function validateHealthCheckPort(port: number, field: string, errors: FieldError[]): void {
  if (!isPortNumber(port)) errors.push(invalidValue(field, port, PORT_RANGE));
}
