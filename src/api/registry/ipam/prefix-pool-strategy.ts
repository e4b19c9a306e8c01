/**
 * Pools of prefixes: rules and texts of the webhook of Cluster API's in-cluster provider. Upstream they are of IPv6 alone; where a text says so, it names the
 * family of the pool here.
 */
import { parseAddress } from "../../../core/net/address";
import { type Family, familyOfText, widthOf } from "../../../core/net/family";
import { type FieldError, forbiddenField, invalidValue, required } from "../../meta/field-errors";
import type { AddressPool, PoolSpec } from "./ipam";
import { LOAD_BALANCER } from "./load-balancer";
import { DEFAULT_LENGTH, parsePoolPrefix } from "./pool-ranges";
import { checkCount, checkGrace, entriesOf, poolStrategy } from "./pool-strategy";
import type { Strategy } from "../resource";

function hostLengthWarning(length: number): string {
  return `spec.allocationPrefixLength=${length} behaves like host-address allocation; consider InClusterIPPool for single-address semantics`;
}

function setDefaults({ spec }: AddressPool): void {
  // Upstream's Go type has no difference between 0 and nothing.
  if (spec?.prefixes?.length && !spec.allocationPrefixLength && familyOf(spec) === "IPv6") spec.allocationPrefixLength = DEFAULT_LENGTH;
}

/** That of the first entry that is right, or that the first one seems to be of. */
function familyOf({ prefixes = [] }: PoolSpec): Family {
  const [first] = prefixes.map(parsePoolPrefix).filter((prefix) => typeof prefix !== "string");
  return first?.family ?? familyOfText(prefixes[0] ?? "");
}

function validate({ metadata, spec = {} }: AddressPool, _: unknown, before?: AddressPool): FieldError[] {
  const { prefixes = [], excludedPrefixes = [] } = spec;
  const excess = [
    ...checkCount("spec.prefixes", prefixes, before?.spec?.prefixes),
    ...checkCount("spec.excludedPrefixes", excludedPrefixes, before?.spec?.excludedPrefixes),
  ];
  if (excess.length > 0) return excess;
  const isBalancer = metadata?.annotations?.[LOAD_BALANCER] !== undefined;
  const errors = isBalancer ? [forbiddenField(`metadata.annotations[${LOAD_BALANCER}]`, "a pool of prefixes serves no Services")] : [];
  return [...errors, ...checkSpec(spec)];
}

function checkSpec(spec: PoolSpec): FieldError[] {
  const errors: FieldError[] = [];
  const {
    prefixes = [],
    excludedPrefixes = [],
    allocationPrefixLength: length,
    gateway = "",
    addressReuseGracePeriodSeconds: grace = 0,
  } = spec;
  if (prefixes.length === 0) return [required("spec.prefixes", "prefixes is required")];
  const family = familyOf(spec);
  const lengthMax = widthOf(family);
  if (length === undefined || length === 0) return [required("spec.allocationPrefixLength", "an IPv4 pool has no default")];
  if (length < 1 || length > lengthMax)
    return [invalidValue("spec.allocationPrefixLength", length, `allocationPrefixLength must be between 1 and ${lengthMax}`)];
  for (const text of prefixes) checkPrefix(text, family, length, errors);
  if (gateway !== "") {
    const parsed = parseAddress(gateway);
    if (!parsed.ok) errors.push(invalidValue("spec.gateway", gateway, "not a valid IP address"));
    else if (parsed.value.family !== family) errors.push(invalidValue("spec.gateway", gateway, `provided gateway must be ${family}`));
  }
  for (const { text, range } of entriesOf(
    "spec.excludedPrefixes",
    excludedPrefixes,
    errors,
    "provided entry is not a valid IP, range, nor CIDR",
  ))
    if (range.family !== family) errors.push(invalidValue("spec.excludedPrefixes", text, `only ${family} excluded prefixes are supported`));
  checkGrace(grace, errors);
  return errors;
}

function checkPrefix(text: string, family: Family, length: number, errors: FieldError[]): void {
  const refuse = (why: string): void => void errors.push(invalidValue("spec.prefixes", text, why));
  const prefix = parsePoolPrefix(text);
  if (prefix === "unaligned") return refuse("CIDR must be network-aligned");
  if (prefix === "invalid") return refuse(`provided entry is not a valid ${family} CIDR`);
  if (prefix.family !== family) return refuse(`only ${family} prefixes are supported`);
  if (prefix.length > length) refuse(`CIDR prefix length must be <= allocationPrefixLength (${length})`);
}

function warnings({ spec = {} }: AddressPool): string[] {
  const { allocationPrefixLength: length } = spec;
  return length === widthOf(familyOf(spec)) ? [hostLengthWarning(length)] : [];
}

export const prefixPoolStrategy: Strategy<AddressPool> = { ...poolStrategy, defaults: setDefaults, validate, warnings };
