/**
 * Pools, claims and the addresses of pools as judgements of what the API shows. No address is held twice, or where another pool or a range of Services is,
 * and each claim has its own. What the book of pools says beside its objects (src/pools/pool-book.ts) is not shown. Nor is what the root has of the addresses
 * of its pools that claims of another cluster have.
 */
import { keyOf } from "../../api/meta/object-key";
import {
  type AddressClaim,
  type AddressPool,
  isAtRoot,
  isOfClaimed,
  isPaused,
  keyOfPool,
  natDomainOf,
  type PoolAddress,
  type PoolKey,
  poolKeyOf,
  type PoolKind,
  poolText,
} from "../../api/registry/ipam/ipam";
import { serviceHolding, SHARING } from "../../api/registry/ipam/service-row";
import { formatAddress } from "../../core/net/address";
import type { Family } from "../../core/net/family";
import { containsInterval, type Interval } from "../../core/net/interval";
import { lastOf, prefixesIn } from "../../core/net/prefix";
import { addressesOf, heldBy, type HeldPlace, holdingOf, placeText } from "../../pools/held-addresses";
import { type AddressSharer, whyNotShared } from "../../pools/load-balancers/sharing";
import { areApart, factsOf, intervalsOf } from "../../pools/pool-facts";
import { type Labelled, labelled, suspect } from "./objects";
import type { ObservedServiceCIDR } from "./observed";
import type { Suspicion } from "./suspicion";

export interface ObservedPool {
  readonly key: PoolKey;
  readonly labelled: Labelled;
  readonly family: Family;
  /** what it gives out, in normal form */
  readonly intervals: readonly Interval[];
  /** "" = none */
  readonly natDomain: string;
  readonly keepsOutside: boolean;
  readonly isPaused: boolean;
  /** it is being deleted, and covers nothing but what it has given */
  readonly isDeleted: boolean;
  /** the count in its status */
  readonly outOfRange: number;
  /** It serves Services of type LoadBalancer. */
  readonly isBalancer: boolean;
}

export interface ObservedClaim {
  readonly key: string;
  readonly labelled: Labelled;
  /** of this server; undefined = the claim is somebody else's to serve */
  readonly pool: PoolKey | undefined;
  /** the key of the address that its status names */
  readonly addressKey: string | undefined;
  readonly isReady: boolean;
}

export interface ObservedPoolAddress {
  readonly key: string;
  readonly labelled: Labelled;
  /** of this server; undefined = somebody else's */
  readonly pool: PoolKey | undefined;
  readonly place: HeldPlace | undefined;
  /** of its claim */
  readonly claimKey: string;
  /** uid of the claim that owns it; undefined = none does */
  readonly owner: string | undefined;
  readonly isDeleted: boolean;
  /** uid of the Service of type LoadBalancer that has it; undefined = none */
  readonly service: string | undefined;
  /** that Service, and with whom it may share the address */
  readonly sharer: AddressSharer | undefined;
}

export interface ObservedPools {
  readonly pools: readonly ObservedPool[];
  readonly claims: readonly ObservedClaim[];
  readonly addresses: readonly ObservedPoolAddress[];
  /** labels of stored objects that cannot be read */
  readonly unreadable: readonly string[];
}

/** As findings name the kind: IPAddress alone is that of networking.k8s.io. */
export const POOL_ADDRESS = "IPAddress.ipam";
const CLAIM = "IPAddressClaim";
/** what ranges are of while ServiceCIDRs are not served */
const CONFIGURATION: Labelled = { label: "configuration", uid: "" };
/** Until the controller of pools has met a change, while it has much to do. */
export const CONTROLLER_LASTING_MS = 15_000;

export function observedPool(kind: PoolKind, pool: AddressPool): ObservedPool {
  const { family, intervals, keepsOutside, loadBalancer } = factsOf(pool);
  return {
    key: keyOfPool(kind, pool),
    labelled: labelled(kind, pool),
    family,
    intervals: intervalsOf({ intervals }),
    natDomain: natDomainOf(pool),
    keepsOutside,
    isPaused: isPaused(pool),
    isDeleted: pool.metadata?.deletionTimestamp !== undefined,
    outOfRange: Number(pool.status?.ipAddresses?.outOfRange ?? 0),
    isBalancer: loadBalancer !== undefined,
  };
}

export function observedClaim(claim: AddressClaim): ObservedClaim {
  const { metadata, spec, status } = claim;
  const { namespace = "" } = metadata ?? {};
  const name = status?.addressRef?.name;
  return {
    key: keyOf(claim),
    labelled: labelled(CLAIM, claim),
    pool: poolKeyOf(spec?.poolRef, namespace),
    addressKey: name ? keyOf({ metadata: { namespace, name } }) : undefined,
    isReady: status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") ?? false,
  };
}

export function observedPoolAddress(address: PoolAddress): ObservedPoolAddress {
  const { metadata, spec } = address;
  const { namespace = "" } = metadata ?? {};
  const holding = holdingOf(address);
  const service = serviceHolding(address);
  const sharing = metadata?.annotations?.[SHARING];
  return {
    key: keyOf(address),
    labelled: labelled(POOL_ADDRESS, address),
    pool: heldBy(address)?.pool ?? poolKeyOf(spec?.poolRef, namespace),
    place: holding && { family: holding.family, value: holding.value, length: holding.length },
    claimKey: keyOf({ metadata: { namespace, name: spec?.claimRef?.name ?? "" } }),
    owner: metadata?.ownerReferences?.find(({ kind, controller }) => kind === CLAIM && controller)?.uid,
    isDeleted: metadata?.deletionTimestamp !== undefined,
    service,
    sharer: service === undefined ? undefined : { namespace, name: spec?.claimRef?.name ?? "", ...(sharing !== undefined && { sharing }) },
  };
}

/** `serviceCIDRs` undefined: they are not served, and ClusterIPs come from the `configured` ranges. */
export function wrongPools(
  observed: ObservedPools,
  serviceCIDRs: readonly ObservedServiceCIDR[] | undefined,
  configured: readonly string[] = [],
): Suspicion[] {
  const unreadable = new Set(observed.unreadable);
  const twice = heldTwice(observed, serviceCIDRs ?? [], serviceCIDRs ? [] : configured);
  return [...twice, ...wrongClaims(observed, unreadable), ...wrongAddresses(observed, unreadable)];
}

/** Something that has addresses: a pool what it gives out, a range of Services, or one address. */
interface TakenPlace extends Interval {
  readonly family: Family;
  readonly labelled: Labelled;
  readonly natDomain: string;
  /** of a pool, and of an address of one; "" = neither */
  readonly pool: PoolKey;
  readonly is: "pool" | "range" | "address";
  /** of an address, as findings name it */
  readonly text?: string;
  /** an address of somebody else's pool, which is his to keep apart from others of his */
  readonly isForeign?: true;
  /** the Service that has the address */
  readonly sharer?: AddressSharer;
}

/** Places that share an address, and are not apart by their NAT domains. */
export function heldTwice(
  { pools, addresses }: Pick<ObservedPools, "pools" | "addresses">,
  serviceCIDRs: readonly ObservedServiceCIDR[],
  configured: readonly string[] = [],
): Suspicion[] {
  const domains = new Map(pools.map(({ key, natDomain }) => [key, natDomain]));
  const places: TakenPlace[] = [
    ...pools.flatMap(({ key, family, natDomain, intervals, isDeleted, labelled: by }) =>
      (isDeleted ? [] : intervals).map((interval): TakenPlace => ({ ...interval, family, natDomain, labelled: by, pool: key, is: "pool" })),
    ),
    ...serviceCIDRs.flatMap((object) => rangePlaces(object.spec?.cidrs ?? [], labelled("ServiceCIDR", object), natDomainOf(object))),
    ...rangePlaces(configured, CONFIGURATION, ""),
    ...addresses.flatMap(({ place, pool, labelled: by, sharer }): TakenPlace[] => {
      if (!place) return [];
      const natDomain = domains.get(pool ?? "") ?? "";
      const at = { ...addressesOf(place), family: place.family, natDomain, labelled: by, is: "address" as const, text: placeText(place) };
      return [pool === undefined ? { ...at, pool: "", isForeign: true } : { ...at, pool, ...(sharer && { sharer }) }];
    }),
  ];
  places.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
  const found = new Map<string, Suspicion>();
  // Of each family those that reach as far as the next one begins.
  const open: Record<Family, TakenPlace[]> = { IPv4: [], IPv6: [] };
  for (const place of places) {
    const reaching = open[place.family].filter(({ last }) => last >= place.first);
    for (const other of reaching) {
      const suspicion = meeting(other, place);
      if (suspicion) found.set(suspicion.message, suspicion);
    }
    reaching.push(place);
    open[place.family] = reaching;
  }
  return [...found.values()];
}

function rangePlaces(cidrs: readonly string[], by: Labelled, natDomain: string): TakenPlace[] {
  return prefixesIn(cidrs).map((prefix) => ({
    ...{ first: prefix.base, last: lastOf(prefix), family: prefix.family, natDomain },
    ...{ labelled: by, pool: "", is: "range" },
  }));
}

function mayShare({ family, first, sharer: one }: TakenPlace, { sharer: other }: TakenPlace): boolean {
  if (!one || !other) return false;
  try {
    return whyNotShared(formatAddress(family, first), one, other) === undefined;
  } catch {
    // A damaged text says that nothing is shared.
    return false;
  }
}

function meeting(a: TakenPlace, b: TakenPlace): Suspicion | undefined {
  const both = [a.labelled, b.labelled];
  const [address, other] = b.is === "address" ? [b, a] : [a, b];
  if (address.is === "address" && other.is === "address") {
    if ((a.isForeign && b.isForeign) || (a.pool === b.pool && mayShare(a, b)) || (a.pool !== b.pool && areApart(a.natDomain, b.natDomain)))
      return undefined;
    return suspect("pool", both, `${b.text} is held by ${a.labelled.label} and by ${b.labelled.label}`);
  }
  if ((a.is === "range" && b.is === "range") || (a.pool === b.pool && a.pool !== "") || areApart(a.natDomain, b.natDomain))
    return undefined;
  const message =
    address.is === "address"
      ? `${address.labelled.label} has ${address.text}, which belongs to ${other.labelled.label}`
      : `${a.labelled.label} overlaps with ${b.labelled.label}`;
  return suspect("pool", both, message);
}

function wrongClaims({ claims, addresses }: ObservedPools, unreadable: ReadonlySet<string>): Suspicion[] {
  const byKey = new Map(addresses.map((address) => [address.key, address]));
  return claims.flatMap(({ key, labelled: by, pool, addressKey, isReady }) => {
    if (pool === undefined) return [];
    const wrong = (why: string, ...others: Labelled[]): Suspicion[] => [slowly(suspect("pool", [by, ...others], `${by.label} ${why}`))];
    if (addressKey === undefined) return isReady ? wrong("is Ready and names no address") : [];
    const address = byKey.get(addressKey);
    const label = `${POOL_ADDRESS} ${addressKey}`;
    if (!address) return unreadable.has(label) ? [] : wrong(`names ${label}, which does not exist`);
    const isOwn = address.claimKey === key && isOfClaimed(address.pool, pool) && (address.owner === undefined || address.owner === by.uid);
    return isOwn ? [] : wrong(`names ${label}, which is not its own`, address.labelled);
  });
}

function wrongAddresses({ pools, claims, addresses }: ObservedPools, unreadable: ReadonlySet<string>): Suspicion[] {
  const poolOf = new Map(pools.map((pool) => [pool.key, pool]));
  const claimOf = new Map(claims.map((claim) => [claim.key, claim]));
  return addresses.flatMap(({ key, labelled: by, pool: poolKey, place, claimKey, owner, isDeleted }) => {
    if (poolKey === undefined) return [];
    const pool = poolOf.get(poolKey);
    const found: Suspicion[] = [];
    const note = (rule: "pool" | "notice", why: string): void => {
      found.push(slowly(suspect(rule, [by], `${by.label} ${why}`)));
    };
    if (!pool) {
      // What the root has is not seen from here.
      if (!isAtRoot(poolKey) && !unreadable.has(labelOfPool(poolKey))) note("notice", `is of ${poolText(poolKey)}, which does not exist`);
    } else if (place && (place.family !== pool.family || !containsInterval(pool.intervals, addressesOf(place)))) {
      const isCounted = pool.keepsOutside || pool.outOfRange > 0 || owner === undefined;
      note(isCounted ? "notice" : "pool", `has ${placeText(place)}, which ${poolText(poolKey)} does not give out`);
    }
    const claim = claimOf.get(claimKey);
    const isClaimed = claim && (owner === undefined || owner === claim.labelled.uid);
    if (isClaimed || key !== claimKey || unreadable.has(`${CLAIM} ${claimKey}`)) return found;
    const excuse =
      owner === undefined
        ? "; no claim has made it, and one of its name takes it over"
        : isDeleted
          ? "; it waits for its grace"
          : pool?.isPaused
            ? "; its pool is paused"
            : "";
    note(excuse === "" ? "pool" : "notice", `is of a claim that is gone${excuse}`);
    return found;
  });
}

function labelOfPool(key: PoolKey): string {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  return `${kind} ${keyOf({ metadata: { namespace, name } })}`;
}

function slowly(suspicion: Suspicion): Suspicion {
  return { ...suspicion, lastingMs: CONTROLLER_LASTING_MS };
}
