/** Validation of EndpointSlices (upstream pkg/apis/discovery/validation). */
import { semanticEqual } from "../../meta/equality";
import { duplicate, FIELD_IMMUTABLE, invalidValue, notSupported, required, tooMany } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { Endpoint, EndpointSlice } from "../../meta/kubernetes";
import { validateDNS1123Label, validateDNS1123Subdomain, validateLabelValue, validateQualifiedName } from "../../meta/names";
import { ADDRESS_ERROR_TEXT, parseAddress } from "../../../core/net/address";
import { PROTOCOLS } from "../protocols";
import { specialAddressMessages } from "../../../core/net/special-addresses";

type DiscoveryPort = NonNullable<EndpointSlice["ports"]>[number];

const ENDPOINTS_MAX = 1000;
const ADDRESSES_MAX = 100;
const PORTS_MAX = 20_000;
const HINTS_MAX = 8;
const ADDRESS_TYPES = ["FQDN", "IPv4", "IPv6"];

/** `before` is the stored slice of an update: unchanged endpoints are not validated again, and the address type must not change. */
export function validateEndpointSlice(slice: EndpointSlice, before?: EndpointSlice): FieldError[] {
  const errors: FieldError[] = [];
  if (!slice.addressType) errors.push(required("addressType"));
  else if (!ADDRESS_TYPES.includes(slice.addressType)) errors.push(notSupported("addressType", slice.addressType, ADDRESS_TYPES));
  const endpoints: readonly Endpoint[] | null | undefined = slice.endpoints;
  const ports: readonly DiscoveryPort[] | null | undefined = slice.ports;
  const judged = !before || !semanticEqual(endpoints, before.endpoints);
  if (judged && endpoints && endpoints.length > ENDPOINTS_MAX) errors.push(tooMany("endpoints", endpoints.length, ENDPOINTS_MAX));
  else if (judged) endpoints?.forEach((endpoint, i) => validateEndpoint(`endpoints[${i}]`, endpoint, slice.addressType, errors));
  if (ports && ports.length > PORTS_MAX) errors.push(tooMany("ports", ports.length, PORTS_MAX));
  else if (ports) validatePorts(ports, errors);
  if (before && slice.addressType !== before.addressType) errors.push(invalidValue("addressType", slice.addressType, FIELD_IMMUTABLE));
  return errors;
}

function pushAll(field: string, value: string, messages: readonly string[], errors: FieldError[]): void {
  for (const message of messages) errors.push(invalidValue(field, value, message));
}

function validateEndpoint(field: string, endpoint: Endpoint, addressType: string, errors: FieldError[]): void {
  const addresses = endpoint.addresses ?? [];
  if (addresses.length === 0) errors.push(required(`${field}.addresses`, "must contain at least 1 address"));
  else if (addresses.length > ADDRESSES_MAX) errors.push(tooMany(`${field}.addresses`, addresses.length, ADDRESSES_MAX));
  else addresses.forEach((address, j) => validateEndpointAddress(`${field}.addresses`, j, address, addressType, errors));
  if (typeof endpoint.nodeName === "string") {
    pushAll(`${field}.nodeName`, endpoint.nodeName, validateDNS1123Subdomain(endpoint.nodeName), errors);
  }
  if (typeof endpoint.hostname === "string")
    pushAll(`${field}.hostname`, endpoint.hostname, validateDNS1123Label(endpoint.hostname), errors);
  const { forZones, forNodes } = endpoint.hints ?? {};
  validateHints(`${field}.hints.forZones`, forZones, validateLabelValue, errors);
  // as upstream, too many zones are the only error of the hints
  if ((forZones?.length ?? 0) <= HINTS_MAX) validateHints(`${field}.hints.forNodes`, forNodes, validateDNS1123Subdomain, errors);
}

function validateEndpointAddress(list: string, index: number, text: string, addressType: string, errors: FieldError[]): void {
  const field = `${list}[${index}]`;
  if (addressType === "FQDN") {
    validateFQDN(field, text, errors);
    return;
  }
  if (addressType !== "IPv4" && addressType !== "IPv6") return;
  const parsed = parseAddress(text);
  if (!parsed.ok) {
    errors.push(invalidValue(field, text, ADDRESS_ERROR_TEXT[parsed.error]));
    return;
  }
  const address = parsed.value;
  if (addressType === "IPv6" && address.canonical !== text) {
    errors.push(invalidValue(field, text, `must be in canonical form ("${address.canonical}")`));
  }
  // the error of the family has the path of the list, without an index
  if (address.family !== addressType) errors.push(invalidValue(list, text, `must be an ${addressType} address`));
  else pushAll(field, text, specialAddressMessages(address, text), errors);
}

/** A domain name of at least two labels; a trailing dot is fine. */
function validateFQDN(field: string, text: string, errors: FieldError[]): void {
  if (text === "") {
    errors.push(required(field));
    return;
  }
  const name = text.endsWith(".") ? text.slice(0, -1) : text;
  const messages = validateDNS1123Subdomain(name);
  if (messages.length > 0) errors.push(invalidValue(field, name, messages.join(",")));
  else if (!name.includes(".")) errors.push(invalidValue(field, name, "should be a domain with at least two segments separated by dots"));
  else {
    for (const label of name.split(".")) {
      const reasons = validateDNS1123Label(label);
      if (reasons.length > 0) errors.push(invalidValue(field, label, reasons.join(",")));
    }
  }
}

function validateHints(
  field: string,
  hints: readonly { name: string }[] | undefined,
  validateName: (name: string) => string[],
  errors: FieldError[],
): void {
  if (!hints) return;
  if (hints.length > HINTS_MAX) {
    errors.push(tooMany(field, hints.length, HINTS_MAX));
    return;
  }
  const seen = new Set<string>();
  hints.forEach(({ name }, i) => {
    if (seen.has(name)) errors.push(duplicate(`${field}[${i}].name`, name));
    seen.add(name);
    pushAll(`${field}[${i}].name`, name, validateName(name), errors);
  });
}

function validatePorts(ports: readonly DiscoveryPort[], errors: FieldError[]): void {
  const names = new Set<string>();
  ports.forEach((port, i) => {
    const field = `ports[${i}]`;
    const name = port.name ?? "";
    if (name !== "") pushAll(`${field}.name`, name, validateDNS1123Label(name), errors);
    if (names.has(name)) errors.push(duplicate(`${field}.name`, name));
    names.add(name);
    const protocol = port.protocol ?? "";
    if (protocol === "") errors.push(required(`${field}.protocol`));
    else if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${field}.protocol`, protocol, PROTOCOLS));
    if (typeof port.appProtocol === "string") {
      pushAll(`${field}.appProtocol`, port.appProtocol, validateQualifiedName(port.appProtocol), errors);
    }
  });
}
