/** IPAddresses (KEP-1880; upstream pkg/apis/networking/validation, pkg/registry/networking/ipaddress). */
import { semanticEqual } from "../../meta/equality";
import { FIELD_IMMUTABLE, invalidValue, required } from "../../meta/field-errors";
import type { FieldError } from "../../meta/field-errors";
import type { IPAddress } from "../../meta/kubernetes";
import { validateDNS1123Subdomain, validatePathSegmentName } from "../../meta/names";
import { ADDRESS_ERROR_TEXT, parseAddress } from "../../../core/net/address";
import { BASE_STRATEGY } from "../base-strategy";
import type { Change, Strategy } from "../resource";

type ParentReference = NonNullable<IPAddress["spec"]>["parentRef"];

/** The name is the canonical text of the address. */
function validateIPAddressName(name: string): string[] {
  const parsed = parseAddress(name);
  if (!parsed.ok) return [ADDRESS_ERROR_TEXT[parsed.error]];
  return parsed.value.canonical === name ? [] : [`must be in canonical form ("${parsed.value.canonical}")`];
}

function validateIPAddress(ipAddress: IPAddress): FieldError[] {
  const field = "spec.parentRef";
  const parentRef = ipAddress.spec?.parentRef;
  if (!parentRef) return [required(field)];
  const errors: FieldError[] = [];
  const { group = "", resource = "", namespace = "", name = "" } = parentRef;
  if (group !== "") for (const message of validateDNS1123Subdomain(group)) errors.push(invalidValue(`${field}.group`, group, message));
  if (resource === "") errors.push(required(`${field}.resource`));
  else checkSegment(`${field}.resource`, resource, errors);
  if (name === "") errors.push(required(`${field}.name`));
  else checkSegment(`${field}.name`, name, errors);
  if (namespace !== "") checkSegment(`${field}.namespace`, namespace, errors);
  return errors;
}

function checkSegment(field: string, value: string, errors: FieldError[]): void {
  for (const message of validatePathSegmentName(value)) errors.push(invalidValue(field, value, message));
}

/** As Go prints it: internal structs have no JSON names. */
function printable(parentRef: ParentReference | undefined): unknown {
  if (!parentRef) return null;
  const { group = "", resource = "", namespace = "", name = "" } = parentRef;
  return { Group: group, Resource: resource, Namespace: namespace, Name: name };
}

function validateIPAddressUpdate({ after, before }: Change<IPAddress>): FieldError[] {
  const wanted = printable(after.spec?.parentRef);
  return semanticEqual(wanted, printable(before.spec?.parentRef)) ? [] : [invalidValue("spec.parentRef", wanted, FIELD_IMMUTABLE)];
}

export const ipAddressStrategy: Strategy<IPAddress> = {
  ...BASE_STRATEGY,
  validateName: validateIPAddressName,
  validate: validateIPAddress,
  validateUpdate: validateIPAddressUpdate,
};
