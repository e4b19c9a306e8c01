/**
 * The rows of owners against the objects of the API. Rows are the authority on the holder of an address. An address without its row can be given
 * out twice; a row without its object keeps an address for ever.
 */
import { RELEASE_WAIT_MS } from "../../addresses/rpc/limits";
import { OPERATION_DEADLINE_MS } from "../../core/base/limits";
import { keyOf } from "../../api/meta/object-key";
import { isDerived } from "../../api/registry/ip-addresses/parent-service";
import { parseAddress } from "../../core/net/address";
import { prefixesIn } from "../../core/net/prefix";
import { subtractPrefixes } from "../../core/net/prefix-set";
import { PrefixIndex } from "../../addresses/topology/prefix-index";
import { givesOut, rangeIndex } from "../../addresses/topology/range-index";
import { storedPrefix } from "../../addresses/topology/stored-prefix";
import { addressesOf, type Labelled, labelled, suspect } from "./objects";
import type { ObservedCluster, ObservedOwners, ObservedRow, ObservedService } from "./observed";
import type { Suspicion } from "./suspicion";

/** An operation under way has taken addresses that no object shows yet; a failed operation gives them back. */
const ROW_LASTING_MS = OPERATION_DEADLINE_MS + 2 * RELEASE_WAIT_MS;

/** Each range of a ServiceCIDR has one owner; `cidrs` are those of the ServiceCIDRs that give out addresses. */
export function wrongClaims({ claims }: Pick<ObservedOwners, "claims">, cidrs: readonly string[]): Suspicion[] {
  const found: Suspicion[] = [];
  const prefixes = claims.map(({ prefix, ownerUid }) => ({ prefix: storedPrefix(prefix), value: { prefix, ownerUid } }));
  const index = new PrefixIndex(prefixes);
  for (const { prefix: parsed, value } of prefixes) {
    for (const other of index.intersecting(parsed)) {
      // Each pair of overlapping claims, once.
      if (other === value || other.prefix < value.prefix || (other.prefix === value.prefix && other.ownerUid < value.ownerUid)) continue;
      found.push(suspect("claim", [], `${value.prefix} of owner ${value.ownerUid} overlaps ${other.prefix} of owner ${other.ownerUid}`));
    }
  }
  const claimed = prefixes.map(({ prefix }) => prefix);
  for (const cidr of cidrs) {
    const ownerless = subtractPrefixes([storedPrefix(cidr)], claimed);
    if (ownerless.length > 0) found.push(suspect("claim", [], `a part of ${cidr} has no owner, and it gives out addresses`));
  }
  return found.map((suspicion) => ({ ...suspicion, lastingMs: ROW_LASTING_MS }));
}

/**
 * Compares rows with Services and IPAddresses in both directions, within the claims of each owner. `cidrs` are those of the ServiceCIDRs that give
 * out addresses. Elsewhere an IPAddress without a Service needs no row, because as upstream it keeps no ServiceCIDR.
 */
export function wrongRows(
  { services, ipAddresses, unreadable }: Pick<ObservedCluster, "services" | "ipAddresses" | "unreadable">,
  { claims, owners }: Pick<ObservedOwners, "claims" | "owners">,
  cidrs: readonly string[],
): Suspicion[] {
  const found: Suspicion[] = [];
  const read = new Set(owners.map(({ uid }) => uid));
  const index = new PrefixIndex(claims.map(({ prefix, ownerUid }) => ({ prefix: storedPrefix(prefix), value: ownerUid })));
  const ownerOf = (address: string): string | undefined => {
    const parsed = parseAddress(address);
    return parsed.ok ? index.containing(parsed.value.family, parsed.value.value)[0] : undefined;
  };
  // By name: an update may commit its address on a Service that was recreated meanwhile, under another uid.
  const servicesByKey = new Map(services.map((service) => [keyOf(service), service]));
  const objectUids = new Map(ipAddresses.map(({ metadata }) => [metadata?.name ?? "", metadata?.uid ?? ""]));
  const rows = new Map<string, ObservedRow>();
  for (const owner of owners) {
    for (const row of owner.rows) {
      // Rows outside the claims move to another owner, or are left from there.
      if (ownerOf(row.address) !== owner.uid) continue;
      rows.set(row.address, row);
      const problem = unreadable?.has(holderOf(row).label) ? undefined : problemOf(row, servicesByKey, objectUids);
      if (problem) found.push(rowSuspicion(owner.uid, holderOf(row), problem));
    }
  }
  for (const service of services) {
    for (const address of addressesOf(service)) {
      const owner = ownerOf(address);
      if (owner === undefined || !read.has(owner) || rows.has(address)) continue;
      const message = `${keyOf(service)} holds ${address}, and its owner has no row of it: it can be given out again`;
      found.push(rowSuspicion(owner, labelled("Service", service), message));
    }
  }
  const ranges = rangeIndex(prefixesIn(cidrs));
  for (const object of ipAddresses) {
    const { name = "" } = object.metadata ?? {};
    const address = parseAddress(name);
    // The allocator's IPAddresses stand for their Services, which are judged above.
    if (isDerived(object) || rows.has(name) || !address.ok || !givesOut(ranges, address.value)) continue;
    const owner = ownerOf(name);
    if (owner === undefined || !read.has(owner)) continue;
    const message = `the IPAddress ${name} is there, and its owner has no row of it: it can be given out`;
    found.push(rowSuspicion(owner, labelled("IPAddress", object), message));
  }
  return found;
}

/** An owner compares its bitmap and its rows within one turn, so a difference is wrong at once. */
export function wrongBitmaps({ owners }: Pick<ObservedOwners, "owners">): Suspicion[] {
  return owners.flatMap(({ uid, differs }) => {
    if (differs === "") return [];
    const suspicion = suspect("bitmap", [], `the bitmap of owner ${uid} differs from its rows: ${differs}`);
    // The numbers in the message change with every allocation.
    return [{ ...suspicion, identity: `bitmap\n${uid}`, lastingMs: 0, ownerUid: uid }];
  });
}

function rowSuspicion(ownerUid: string, holder: Labelled, message: string): Suspicion {
  return { ...suspect("row", [holder], message), lastingMs: ROW_LASTING_MS, ownerUid };
}

function problemOf(
  { address, holder }: ObservedRow,
  services: ReadonlyMap<string, ObservedService>,
  objects: ReadonlyMap<string, string>,
): string | undefined {
  if (holder.kind === "ipaddress") {
    if (objects.get(address) === holder.uid) return undefined;
    return `${address} is taken for an IPAddress that is not there: nobody can have it`;
  }
  const service = services.get(keyOf({ metadata: holder }));
  if (service && addressesOf(service).includes(address)) return undefined;
  const why = service ? "which does not hold it" : "which is not there";
  return `${address} is taken for Service ${holder.namespace}/${holder.name}, ${why}: nobody can have it`;
}

function holderOf({ address, holder }: ObservedRow): Labelled {
  const label = holder.kind === "service" ? `Service ${holder.namespace}/${holder.name}` : `IPAddress ${address}`;
  return { label, uid: holder.uid };
}
