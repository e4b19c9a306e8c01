/** Pools of addresses: rules and texts of the webhook of Cluster API's in-cluster provider. */
import { parseAddress } from "../../../core/net/address";
import { widthOf } from "../../../core/net/family";
import { type FieldError, invalidValue, required, tooMany } from "../../meta/field-errors";
import { BASE_STRATEGY, dropStatus, keepStatus, takeStatusAlone } from "../base-strategy";
import type { Strategy } from "../resource";
import { servedClustersErrors } from "./fleet-rows";
import { type AddressPool, holdWith, POOL_FINALIZER, type PoolSpec } from "./ipam";
import { balancerErrors } from "./load-balancer";
import { networkAround, parsePoolEntry, type PoolRange } from "./pool-ranges";

/** Of each list. What the book keeps of a pool is one row, which holds both states of a change; each excluded entry may cut a range in two. */
const ENTRIES_MAX = 4_096;
const NO_ENTRY = "provided address is not a valid IP, range, nor CIDR";

/** Addresses, ranges and CIDRs of one field that are right; those that are not become errors. */
export function entriesOf(
  field: string,
  texts: readonly string[],
  errors: FieldError[],
  wrong = NO_ENTRY,
): { text: string; range: PoolRange }[] {
  return texts.flatMap((text) => {
    const range = parsePoolEntry(text);
    if (range) return [{ text, range }];
    errors.push(invalidValue(field, text, wrong));
    return [];
  });
}

/** A pool of an earlier release may have more, until somebody makes it longer still. */
export function checkCount(field: string, { length }: readonly string[], earlier: readonly string[] = []): FieldError[] {
  return length > Math.max(ENTRIES_MAX, earlier.length) ? [tooMany(field, length, ENTRIES_MAX)] : [];
}

function validate(pool: AddressPool, _: unknown, before?: AddressPool): FieldError[] {
  const { spec = {} } = pool;
  const { addresses = [], excludedAddresses = [] } = spec;
  const earlier = before?.spec;
  const excess = [
    ...checkCount("spec.addresses", addresses, earlier?.addresses),
    ...checkCount("spec.excludedAddresses", excludedAddresses, earlier?.excludedAddresses),
  ];
  // An error of each entry would be as many again.
  return excess.length > 0 ? excess : [...servedClustersErrors(pool, before), ...balancerErrors(pool, before), ...checkSpec(spec)];
}

function checkSpec(spec: PoolSpec): FieldError[] {
  const errors: FieldError[] = [];
  const { addresses = [], excludedAddresses = [], gateway = "", prefix, addressReuseGracePeriodSeconds: grace = 0 } = spec;
  if (addresses.length === 0) errors.push(required("spec.addresses", "addresses is required"));
  const entries = entriesOf("spec.addresses", addresses, errors);
  const family = entries[0]?.range.family;
  if (entries.some(({ range }) => range.family !== family))
    errors.push(invalidValue("spec.addresses", addresses, "provided addresses are of mixed IP families"));
  const excluded = entriesOf("spec.excludedAddresses", excludedAddresses, errors);
  if (family !== undefined && excluded.some(({ range }) => range.family !== family)) {
    errors.push(invalidValue("spec.excludedAddresses", excludedAddresses, "addresses and excluded addresses are of mixed IP families"));
  }
  if (gateway !== "") {
    const parsed = parseAddress(gateway);
    if (!parsed.ok) errors.push(invalidValue("spec.gateway", gateway, "not a valid IP address"));
    else if (family !== undefined && parsed.value.family !== family)
      errors.push(invalidValue("spec.gateway", gateway, "provided gateway and addresses are of mixed IP families"));
  }
  if (prefix === undefined) errors.push(required("spec.prefix"));
  else if (prefix < 0 || prefix > widthOf(family ?? "IPv6"))
    errors.push(invalidValue("spec.prefix", prefix, "provided prefix is not valid"));
  checkGrace(grace, errors);
  return errors.length > 0 ? errors : checkNetwork(spec, entries);
}

export function checkGrace(seconds: number, errors: FieldError[]): void {
  if (seconds < 0)
    errors.push(invalidValue("spec.addressReuseGracePeriodSeconds", seconds, "addressReuseGracePeriodSeconds must not be negative"));
}

/** The network is that of the lowest address: every entry lies in it. */
function checkNetwork({ prefix = 0 }: PoolSpec, entries: readonly { text: string; range: PoolRange }[]): FieldError[] {
  const lowest = entries.reduce<PoolRange | undefined>((low, { range }) => (low && low.first <= range.first ? low : range), undefined);
  if (!lowest) return [];
  const network = networkAround(lowest.family, lowest.first, prefix);
  return entries.flatMap(({ text, range }) =>
    range.last <= network.last ? [] : [invalidValue("spec.addresses", text, "provided address belongs to a different subnet than others")],
  );
}

export const poolStrategy: Strategy<AddressPool> = {
  ...BASE_STRATEGY,
  prepareForCreate(pool) {
    dropStatus(pool);
    holdWith(pool, POOL_FINALIZER);
  },
  validate,
  prepareForUpdate(change) {
    keepStatus(change);
    // A pool that is there holds its object: no client takes that away before its deletion.
    if (!change.before.metadata?.deletionTimestamp) holdWith(change.after, POOL_FINALIZER);
  },
  prepareForStatusUpdate: takeStatusAlone,
};
