/** Endpoints (core/v1, deprecated): upstream pkg/apis/core/validation ValidateEndpoints and defaults.go. */
import { semanticEqual } from "../../meta/equality";
import { invalidValue, notSupported, required } from "../../meta/field-errors";
import { collected, type FieldError } from "../../meta/field-errors";
import type { Endpoints } from "../../meta/kubernetes";
import { validateDNS1123Label, validateDNS1123Subdomain, validateQualifiedName } from "../../meta/names";
import { ADDRESS_ERROR_TEXT, parseAddress } from "../../../core/net/address";
import { warnOfAddress } from "../address-warnings";
import { BASE_STRATEGY } from "../base-strategy";
import { PROTOCOLS } from "../protocols";
import type { Strategy, StrategyContext } from "../resource";
import { specialAddressMessages } from "../../../core/net/special-addresses";

type Subset = NonNullable<Endpoints["subsets"]>[number];
type SubsetAddress = NonNullable<Subset["addresses"]>[number];
type SubsetPort = NonNullable<Subset["ports"]>[number];

/** Subsets that an update leaves as they are need not hold to the rules: older releases may have taken them. */
function validateEndpoints(endpoints: Endpoints, _: StrategyContext, before?: Endpoints): FieldError[] {
  const errors = collected(() => validateSubsets(endpoints));
  return errors.length > 0 && before && semanticEqual(before.subsets, endpoints.subsets) ? [] : errors;
}

function validateSubsets(endpoints: Endpoints): FieldError[] {
  const errors: FieldError[] = [];
  (endpoints.subsets ?? []).forEach((subset, i) => {
    const field = `subsets[${i}]`;
    const ready = subset.addresses ?? [];
    const notReady = subset.notReadyAddresses ?? [];
    if (ready.length === 0 && notReady.length === 0) errors.push(required(field, "must specify `addresses` or `notReadyAddresses`"));
    ready.forEach((address, j) => validateEndpointAddress(`${field}.addresses[${j}]`, address, errors));
    notReady.forEach((address, j) => validateEndpointAddress(`${field}.notReadyAddresses[${j}]`, address, errors));
    const ports = subset.ports ?? [];
    ports.forEach((port, j) => validatePort(`${field}.ports[${j}]`, port, ports.length > 1, errors));
  });
  return errors;
}

function validateEndpointAddress(field: string, address: SubsetAddress, errors: FieldError[]): void {
  const parsed = parseAddress(address.ip);
  if (!parsed.ok) {
    errors.push(invalidValue(`${field}.ip`, address.ip, ADDRESS_ERROR_TEXT[parsed.error]));
    // upstream parses the text once more, for the ranges that Endpoints may not hold
    if (parsed.error === "invalid") errors.push(invalidValue(`${field}.ip`, address.ip, "must be a valid IP address"));
  } else {
    for (const message of specialAddressMessages(parsed.value, address.ip)) errors.push(invalidValue(`${field}.ip`, address.ip, message));
  }
  if (address.hostname) {
    for (const message of validateDNS1123Label(address.hostname)) errors.push(invalidValue(`${field}.hostname`, address.hostname, message));
  }
  if (typeof address.nodeName === "string") {
    for (const message of validateDNS1123Subdomain(address.nodeName)) {
      errors.push(invalidValue(`${field}.nodeName`, address.nodeName, message));
    }
  }
}

function validatePort(field: string, port: SubsetPort, requireName: boolean, errors: FieldError[]): void {
  const name = port.name ?? "";
  if (name === "") {
    if (requireName) errors.push(required(`${field}.name`));
  } else for (const message of validateDNS1123Label(name)) errors.push(invalidValue(`${field}.name`, name, message));
  if (!(port.port >= 1 && port.port <= 65535)) {
    errors.push(invalidValue(`${field}.port`, port.port, "must be between 1 and 65535, inclusive"));
  }
  const protocol = port.protocol ?? "";
  if (protocol === "") errors.push(required(`${field}.protocol`));
  else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${field}.protocol`, protocol, PROTOCOLS));
  if (typeof port.appProtocol === "string") {
    for (const message of validateQualifiedName(port.appProtocol)) {
      errors.push(invalidValue(`${field}.appProtocol`, port.appProtocol, message));
    }
  }
}

export const endpointsStrategy: Strategy<Endpoints> = {
  ...BASE_STRATEGY,
  defaults(endpoints) {
    for (const subset of endpoints.subsets ?? []) for (const port of subset.ports ?? []) port.protocol ??= "TCP";
  },
  validate: validateEndpoints,
  warnings(endpoints) {
    const warnings: string[] = [];
    (endpoints.subsets ?? []).forEach((subset, i) => {
      for (const member of ["addresses", "notReadyAddresses"] as const) {
        (subset[member] ?? []).forEach(({ ip }, j) => warnOfAddress(`subsets[${i}].${member}[${j}].ip`, ip, warnings));
      }
    });
    return warnings;
  },
};
