/**
 * The variables of wrangler.toml as one checked value. All mistakes of all variables are reported together, and each text begins with
 * the variable's name. The table of the variables is variables.ts; here stands what several of them decide together.
 */
import { err, ok, type Result } from "../base/result";
import { formatPrefix, hostBitsOf, type Prefix } from "../net/prefix";
import { type FirstRanges, firstRanges } from "./first-ranges";
import { type AuthorizationMode, readVariables, VARIABLES, type VariableValues } from "./variables";

export type { AuthorizationMode };

/** The ranges are those of clusters without ranges of their own. */
export interface Config extends Omit<VariableValues, "servicePrefixes">, FirstRanges {
  /** with the gate MultiCIDRServiceAllocator off: the only ranges, each cut to the reach of the old allocator */
  readonly onlyRanges: readonly string[] | undefined;
}

/** Whether every request is allowed, whoever sends it. */
export function allowsAll({ authorizationModes }: Pick<Config, "authorizationModes">): boolean {
  return authorizationModes.includes("AlwaysAllow");
}

/** An instance that takes a Lease over waits for three missed renewals, within the lifetime. */
const RENEWALS_PER_LIFETIME = 4;
/** limit of the bitmap allocator of older releases */
const LEGACY_HOST_BITS_MAX = 20;
/** the bitmap of an IPv6 range ended after 2^16 addresses, however large the range was */
const LEGACY_IPV6_HOST_BITS = 16;

/** Text of variables -> Config, or all errors. A variable that is absent or blank has upstream's default. */
export function parseConfig(vars: Readonly<Record<string, string | undefined>>): Result<Config, string[]> {
  const { values: read, errors } = readVariables(vars);
  const values = withRenewal(read, vars);
  errors.push(...togetherWrong(values));
  if (errors.length > 0) return err(errors);
  const { servicePrefixes, ...others } = values as VariableValues;
  return ok({
    ...others,
    ...firstRanges(servicePrefixes),
    onlyRanges: others.featureGates.MultiCIDRServiceAllocator
      ? undefined
      : servicePrefixes.map((prefix) => formatPrefix(legacyPart(prefix))),
  });
}

/** Identity Leases of a short lifetime are renewed in time, unless the operator says how often. */
function withRenewal(values: Partial<VariableValues>, vars: Readonly<Record<string, string | undefined>>): Partial<VariableValues> {
  const { apiServerLeaseDurationSeconds: lifetime, apiServerLeaseRenewSeconds: renewal } = values;
  const isSet = (vars[VARIABLES.apiServerLeaseRenewSeconds.name] ?? "").trim() !== "";
  if (isSet || lifetime === undefined || renewal === undefined) return values;
  const share = Math.max(1, Math.floor(lifetime / RENEWALS_PER_LIFETIME));
  return { ...values, apiServerLeaseRenewSeconds: Math.min(renewal, share) };
}

/** What is wrong with variables that are right each by itself. One that is wrong by itself decides nothing here: further errors would mislead. */
function togetherWrong(values: Partial<VariableValues>): string[] {
  const { featureGates, servicePrefixes = [] } = values;
  const isLegacy = featureGates && !(featureGates.MultiCIDRServiceAllocator && featureGates.DisableAllocatorDualWrite);
  const isLonger = "the Lease would expire before it is renewed";
  return [
    ...(isLegacy ? servicePrefixes.flatMap(tooLarge) : []),
    ...notGreater(values, "apiServerLeaseRenewSeconds", "apiServerLeaseDurationSeconds", isLonger),
    ...notGreater(values, "nodeMonitorPeriodSeconds", "nodeMonitorGraceSeconds", "a Node would become Unknown between two looks"),
  ];
}

type NumberMember = { [Member in keyof VariableValues]: VariableValues[Member] extends number ? Member : never }[keyof VariableValues];

function notGreater(values: Partial<VariableValues>, member: NumberMember, than: NumberMember, why: string): string[] {
  const [value, limit] = [values[member], values[than]];
  if (value === undefined || limit === undefined || value <= limit) return [];
  return [`${VARIABLES[member].name} must not be greater than ${VARIABLES[than].name} (${limit}), got ${value}: ${why}`];
}

function tooLarge(prefix: Prefix, index: number): string[] {
  const width = prefix.family === "IPv4" ? 32 : 128;
  if (hostBitsOf(prefix) <= LEGACY_HOST_BITS_MAX) return [];
  const where = `${VARIABLES.servicePrefixes.name}[${index}]`;
  return [`specified ${where} is too large; for ${width}-bit addresses, the mask must be >= ${width - LEGACY_HOST_BITS_MAX}`];
}

/** The part of a range that the bitmap allocator of older releases uses (upstream: ipallocator, `min(RangeSize, 65536)`). */
function legacyPart(prefix: Prefix): Prefix {
  if (prefix.family === "IPv4") return prefix;
  return { ...prefix, length: Math.max(prefix.length, 128 - LEGACY_IPV6_HOST_BITS) };
}
