/**
 * The pass of the controller of pools: gives each claim its address, or its prefix, takes back those of claims that are deleted, and counts. Its rows say what claims,
 * addresses and pools there are. Which address is whose is decided by the store of addresses alone (pool-book.ts): the controller proposes, and a proposal
 * that meets another one is refused there.
 *
 *   dies behind                        what there is                             what the next pass does
 *   the address of a claim             the address, which its claim lacks        finds it by the name of the claim, and tells the claim
 *   the status of the claim            everything                                nothing
 *   the deletion of the address        an address that its finalizer holds       takes that away
 *   the finalizer of the address       a claim that is being deleted             takes the finalizer of the claim away
 *   the forgetting of a pool           a pool without a row in the book          forgets it again, and takes its finalizer away
 *
 * A call of a dead object may arrive late. An address that comes late meets that of its claim, which has the same name, or the one that another claim was
 * given meanwhile: both are refused. A release that comes late names the uid of what it meant.
 *
 * An address is named as its claim. One that a claim of an earlier life left (it lost its finalizer by force) is taken back before the claim gets its own:
 * a new uid inherits nothing. One without a claim as its owner, restored or moved by a client, becomes that of the claim of its name. It must be for this
 * claim, and of its pool, which gives it out. Every other one keeps the name, and the claim says so: its number may be given already.
 */
import { keyOf } from "../api/meta/object-key";
import { readObject } from "../api/meta/read-object";
import { semanticEqual } from "../api/meta/equality";
import type { KubeObject, OwnerReference } from "../api/meta/kubernetes";
import type { Status } from "../api/meta/status";
import {
  ADDRESS_FINALIZER,
  type AddressClaim,
  type AddressPool,
  CLAIM_FINALIZER,
  CLAIM_VERSION,
  CLUSTER_NAME_LABEL,
  IPAM_GROUP,
  isAtRoot,
  isGlobalPool,
  isOfClaimed,
  partsOfPoolKey,
  POOL_FINALIZER,
  POOL_VERSION,
  type PoolAddress,
  type PoolKey,
  POOL_KINDS,
  type PoolKind,
  POOLS_MANAGER,
} from "../api/registry/ipam/ipam";
import type { PoolBookRpc } from "../api/rpc/pool-book";
import { leastOf } from "../core/base/extremes";
import { type Block, isSameBlock, prefixOf } from "../core/net/block";
import { type Family, widthOf } from "../core/net/family";
import type { WrittenStore } from "../controllers/followed/called-store";
import { FollowedStore } from "../controllers/followed/followed-store";
import { KeptFacts } from "../controllers/followed/kept-facts";
import { KeptRows } from "../controllers/followed/kept-rows";
import type { RowStorage } from "../controllers/followed/row-storage";
import { createRequest, deleteRequest, updateRequest, type Writer } from "../controllers/followed/write-requests";
import type { Pass } from "../controllers/frame/controller";
import { Frame, type FramePorts } from "../controllers/frame/frame";
import { type Outcome, outcomeOf } from "../controllers/frame/round";
import { type AddressPick, AddressPicks } from "./address-picks";
import {
  allRefused,
  claimStatus,
  exhausted,
  type ClaimFinding,
  failed,
  HAS_ADDRESS,
  noPool,
  type PoolPlace,
  textOf,
  tooLong,
} from "./claim-status";
import { isFoundAtRoot, refusalByRoot } from "./root-refusal";
import { RootRoom } from "./root-room";
import {
  addressAt,
  type AddressFacts,
  addressFacts,
  blockOf,
  type ClaimFacts,
  claimFacts,
  claimOwning,
  type KnownPool,
  PoolAddresses,
  PoolsOfKind,
  PoolSpaces,
} from "./known-pools";
import type { PlannedRoom } from "./pool-space";

const WRITER: Writer = { manager: POOLS_MANAGER, group: IPAM_GROUP, version: CLAIM_VERSION };
const POOL_WRITER: Writer = { ...WRITER, version: POOL_VERSION };
/** Counts of a pool are told at most so often while its claims come and go. */
const COUNT_MS = 1_000;
/** An address that lacks its claim for so long is leaked: whoever restores or moves objects makes the claim meanwhile. */
const ORPHAN_MS = 600_000;
/** Addresses that are proposed for a claim in one pass, while the store refuses them. */
const TRIES = 4;
/** A pool is settled again after so long, although nothing is known to be undone: a write that came to nothing may have left its claim in the book. */
const SETTLE_MS = 600_000;
/** The releases before pools of prefixes kept nothing of what is for them under the cursors "claims" and "addresses": all is read again. */
const CLAIMS_CURSOR = "all claims";
const ADDRESSES_CURSOR = "all addresses";
/** Claims that are served at once share the calls to their stores: a thousand take some waves, and none is held up for long by others. */
const AT_ONCE = 256;

export interface PoolsPassPorts extends FramePorts {
  storage: RowStorage;
  claims: WrittenStore;
  addresses: WrittenStore;
  pools: Readonly<Record<PoolKind, WrittenStore>>;
  book: PoolBookRpc;
  /** The cluster is not the root: global pools that it lacks may be the root's, and the store of addresses asks there. */
  servedByRoot?: boolean;
}

/** Of an address that a claim gets. */
type Numbers = Readonly<Required<Pick<NonNullable<PoolAddress["spec"]>, "address" | "prefix">> & { gateway?: string }>;

type Work =
  /** `key`: of the claim, and so of its address */
  | { readonly step: "give" | "release"; readonly key: string; readonly claim: ClaimFacts }
  | { readonly step: "tell"; readonly key: string; readonly claim: ClaimFacts; readonly finding: ClaimFinding }
  /** an address that no claim of its name has */
  | { readonly step: "drop"; readonly key: string }
  | { readonly step: "settle" | "count" | "end"; readonly key: PoolKey };

export function poolsPass({
  storage,
  claims: claimStore,
  addresses: addressStore,
  pools: poolStores,
  book,
  servedByRoot = false,
  ...ports
}: PoolsPassPorts): Pass {
  const { clock, recorder } = ports;
  const rows = new KeptRows(storage);
  const spaces = new PoolSpaces();
  const claims = new KeptFacts<AddressClaim, ClaimFacts>(rows, "claims", claimFacts);
  const addresses = new PoolAddresses(rows, spaces);
  const pools = ofEachKind((kind) => new PoolsOfKind(rows, kind, spaces));
  const kinds = Object.values(pools);
  const followed = {
    claims: new FollowedStore(CLAIMS_CURSOR, claimStore, claims.reader, rows, recorder),
    addresses: new FollowedStore(ADDRESSES_CURSOR, addressStore, addresses.reader, rows, recorder),
    ...ofEachKind((kind) => new FollowedStore(kind, poolStores[kind], pools[kind].reader, rows, recorder)),
  };
  const picks = new AddressPicks(spaces);
  const root = new RootRoom(clock);
  /** the round has changed something */
  let hasDone = false;
  /** when the counts of a pool were told last */
  const countedAt = new Map<PoolKey, number>();
  /** when the book answered last that the pool is settled */
  const settledAt = new Map<PoolKey, number>();

  function poolOf(pool: PoolKey): KnownPool | undefined {
    const { kind, namespace, name } = partsOfPoolKey(pool);
    return pools[kind].get(namespace === "" ? name : `${namespace}/${name}`);
  }

  function* allPools(): Iterable<[PoolKey, KnownPool]> {
    for (const kind of kinds) {
      for (const key of kind.keys) {
        const known = kind.get(key);
        if (known) yield [kind.poolKey(key), known];
      }
    }
  }

  /** Whether the pool can only be one of the root. */
  function isForRoot(pool: PoolKey): boolean {
    return servedByRoot && isGlobalPool(pool) && !poolOf(pool);
  }

  /** Of the pool that an address is of, or will be. */
  function foundAt(pool: PoolKey): PoolPlace | undefined {
    if (!servedByRoot || partsOfPoolKey(pool).kind !== "GlobalInClusterIPPool") return undefined;
    if (isAtRoot(pool)) return "AtRoot";
    return poolOf(pool) && "InThisCluster";
  }

  /** When the address of a deleted claim goes; undefined = it waits for a pool that is paused, or for a cluster. What is the root's has its grace there. */
  function releaseAt(key: string, claim: ClaimFacts): number | undefined {
    const has = addresses.get(key)?.pool;
    const pool = isOfClaimed(has, claim.pool) && has !== undefined ? has : claim.pool;
    if (claim.isPaused || claim.isInUse || poolOf(pool)?.isPaused) return undefined;
    return (claim.deletedAt ?? 0) + graceOf(pool);
  }

  function graceOf(pool: PoolKey): number {
    const known = poolOf(pool);
    return known && !known.isDeleted ? known.graceMs : 0;
  }

  function isServed(key: string, claim: ClaimFacts): boolean {
    const address = addresses.get(key);
    const isOwn = address?.owner === claim.uid && obstacle(key, claim, address) === undefined;
    return isOwn && address.isHeld === true && claim.has === nameIn(key) && claim.ready === textOf(HAS_ADDRESS);
  }

  /** What keeps the claim from having the address of its name; undefined = nothing does. */
  function obstacle(key: string, claim: ClaimFacts, address: AddressFacts): ClaimFinding | undefined {
    const { uid, pool, has } = claim;
    const inTheWay = (why: string): ClaimFinding => failed(`IPAddress ${JSON.stringify(key)} ${why}`);
    const isOwn = address.owner === uid;
    if (!isOfClaimed(address.pool, pool) || address.place === undefined) return inTheWay("is of another pool");
    if (address.isForOther) return inTheWay("is for another claim");
    if (address.owner !== undefined && !isOwn) return inTheWay("belongs to another claim");
    if (address.deletedAt !== undefined && !address.isHeld) return inTheWay("is being deleted");
    // What a claim has stays its own, whatever becomes of the pool.
    if (isOwn && has === nameIn(key)) return undefined;
    // Its store has asked the root.
    if (address.pool !== undefined && isAtRoot(address.pool)) return undefined;
    if (isForRoot(pool)) return inTheWay("is of no pool of this cluster, and the root has not given it");
    const known = poolOf(pool);
    if (!known || (known.isDeleted && !isOwn)) return noPool(pool, known !== undefined);
    if (isOfOtherLength(claim, known, address)) return inTheWay("is of another length");
    if (known.facts.keepsOutside || spaces.of(pool).gives(blockOf(address))) return undefined;
    return inTheWay("is not given out by its pool");
  }

  /** When an address without its claim goes a step on; undefined = it has its claim, is no matter of this controller, or waits for a pool that is paused. */
  function dropAt(key: string): number | undefined {
    const address = addresses.get(key);
    // What somebody else holds goes without this controller.
    if (address?.pool === undefined || (address.deletedAt !== undefined && !address.isHeld)) return undefined;
    const { pool, owner, createdAt, deletedAt, isForOther, isHeld } = address;
    const claim = claims.get(key);
    if (poolOf(pool)?.isPaused || (claim ? isForOther || owner === undefined || owner === claim.uid : !isHeld)) return undefined;
    if (deletedAt !== undefined) return deletedAt + graceOf(pool);
    return owner === undefined ? createdAt + ORPHAN_MS : 0;
  }

  function fateOf(key: string, { uid, pool, block }: AddressPick): "open" | "taken" | "lost" {
    const address = addresses.get(key);
    if (address) return address.pool === pool && isSameBlock(blockOf(address), block) ? "taken" : "lost";
    const claim = claims.get(key);
    const known = poolOf(pool);
    return claim?.uid === uid && claim.pool === pool && known && !known.isDeleted ? "open" : "lost";
  }

  /** Forgets what nobody needs any more. */
  function prune(now: number): void {
    picks.prune(fateOf, now);
    for (const pool of kinds.flatMap((kind) => kind.forgetGone())) {
      picks.forget(pool);
      countedAt.delete(pool);
      settledAt.delete(pool);
    }
  }

  function plan(): Work[] {
    const now = clock.now();
    prune(now);
    const work: Work[] = [];
    const waiting: [string, ClaimFacts][] = [];
    for (const [key] of allPools()) if (now >= settleAt(key)) work.push({ step: "settle", key });
    for (const key of addresses.ofClaims) if ((dropAt(key) ?? Infinity) <= now) work.push({ step: "drop", key });
    for (const key of claims.keys) {
      const claim = claims.get(key);
      if (!claim) continue;
      if (claim.deletedAt !== undefined) {
        if (claim.isHeld && (releaseAt(key, claim) ?? Infinity) <= now) work.push({ step: "release", key, claim });
      } else if (!claim.isPaused && !isServed(key, claim)) waiting.push([key, claim]);
    }
    const touched = new Set(work.flatMap((one) => ("claim" in one ? [one.claim.pool] : [])));
    for (const one of served(waiting)) {
      work.push(one);
      if (one.step === "give") touched.add(one.claim.pool);
    }
    for (const [key, { isDeleted, isHeld }] of allPools()) {
      if (isDeleted && isHeld && !spaces.of(key).isUsed) {
        if (!isUnsettled(key)) work.push({ step: "end", key });
      } else if (isCountStale(key) && (!touched.has(key) || now >= (countedAt.get(key) ?? 0) + COUNT_MS)) work.push({ step: "count", key });
    }
    return work;
  }

  /** Claims in the order of their age: as many of each pool as have room, and what the others are to be told. */
  function* served(waiting: [string, ClaimFacts][]): Iterable<Work & { claim: ClaimFacts }> {
    waiting.sort(([a, { createdAt: one }], [b, { createdAt: other }]) => one - other || (a < b ? -1 : 1));
    const rooms = new Map<PoolKey, PlannedRoom>();
    const now = clock.now();
    for (const [key, claim] of waiting) {
      const { pool } = claim;
      const known = poolOf(pool);
      const address = addresses.get(key);
      // An address of an earlier life is in the plan already.
      if (known?.isPaused || isComing(pool) || (address && (dropAt(key) ?? Infinity) <= now)) continue;
      if (address || picks.has(key)) {
        const finding = address && obstacle(key, claim, address);
        if (!finding) yield { step: "give", key, claim };
        else if (isNews(claim, finding)) yield { step: "tell", key, claim, finding };
        continue;
      }
      if (isForRoot(pool)) {
        const refused = root.refusal(pool);
        if (!refused) yield { step: "give", key, claim };
        else if (refused.finding && isNews(claim, refused.finding)) yield { step: "tell", key, claim, finding: refused.finding };
        continue;
      }
      const finding = known && !known.isDeleted ? lack(claim, known, rooms) : noPool(pool, known !== undefined);
      if (!finding) yield { step: "give", key, claim };
      else if (isNews(claim, finding)) yield { step: "tell", key, claim, finding };
    }
  }

  /** Why the pool has nothing for the claim; undefined = it has room, which is kept for it. */
  function lack(claim: ClaimFacts, { facts: { family, unit } }: KnownPool, rooms: Map<PoolKey, PlannedRoom>): ClaimFinding | undefined {
    const { pool, length = unit } = claim;
    if (unit !== undefined && length !== undefined && length > unit) return tooLong(pool, length, unit);
    const room = rooms.get(pool) ?? spaces.of(pool).room;
    rooms.set(pool, room);
    return room.take(bitsOf(family, length)) ? undefined : fullness(claim);
  }

  function isNews({ ready, has }: ClaimFacts, finding: ClaimFinding): boolean {
    return ready !== textOf(finding) || has !== undefined;
  }

  function fullness({ pool, length }: ClaimFacts): ClaimFinding {
    return spaces.of(pool).hasBarred ? allRefused(pool) : exhausted(pool, length);
  }

  function settleAt(pool: PoolKey): number {
    return isUnsettled(pool) ? 0 : (settledAt.get(pool) ?? 0) + SETTLE_MS;
  }

  function isUnsettled(pool: PoolKey): boolean {
    return pools[partsOfPoolKey(pool).kind].unsettled.has(pool);
  }

  /** For the book the pool may be one whose write is still under way: it gives nothing. */
  function isComing(pool: PoolKey): boolean {
    return isUnsettled(pool) && !settledAt.has(pool);
  }

  /** What is counted as free is given from then on. */
  function isCountStale(pool: PoolKey): boolean {
    return !isComing(pool) && !semanticEqual(poolOf(pool)?.counts, spaces.of(pool).counts);
  }

  function begin(): Work[] {
    hasDone = false;
    return plan();
  }

  async function noted(work: Work): Promise<Outcome> {
    const outcome = await write(work);
    hasDone ||= outcome === "done";
    return outcome;
  }

  function write(work: Work): Promise<Outcome> {
    switch (work.step) {
      case "give":
        return give(work.key, work.claim);
      case "tell":
        return tellWaiting(work.key, work.claim, work.finding);
      case "release":
        return release(work.key, work.claim);
      case "drop":
        return drop(work.key);
      case "settle":
        return settle(work.key);
      case "count":
        return count(work.key);
      case "end":
        return end(work.key);
    }
  }

  /** The store has gone on since the plan was made: the next round reads it first. */
  function outdated(store: keyof typeof followed): Outcome {
    followed[store].mustRead();
    return "none";
  }

  async function give(key: string, facts: ClaimFacts): Promise<Outcome> {
    const { uid, pool } = facts;
    // An address that nobody has heard of is met by its name.
    const isHeard = addresses.get(key) !== undefined;
    const [claim, present] = await Promise.all([
      read<AddressClaim>(claimStore, key),
      isHeard ? read<PoolAddress>(addressStore, key) : Promise.resolve(undefined),
    ]);
    if (claim?.metadata?.uid !== uid || claim.metadata.deletionTimestamp) return outdated("claims");
    if (present) return adopt(claim, present);
    if (isForRoot(pool)) return giveFromRoot(key, claim, pool);
    const known = poolOf(pool);
    if (!known || known.isDeleted) return "later";
    const { family, unit } = known.facts;
    const bits = bitsOf(family, facts.length ?? unit);
    let refused: Status | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      const block = picks.pick(key, uid, pool, bits);
      if (!block) break;
      const answer = await addressStore.write(createRequest(addressFor(claim, numbersOf(known, block)), WRITER));
      if (answer.ok) return tell(claim, HAS_ADDRESS, nameIn(key), foundAt(pool));
      // What is known here is old: another object has the address, or the pool has changed.
      pools[partsOfPoolKey(pool).kind].unsettled.add(pool);
      if (!isOfAddress(answer.status)) {
        picks.drop(key);
        const found = answer.status.reason === "AlreadyExists" ? await read<PoolAddress>(addressStore, key) : undefined;
        if (found) return adopt(claim, found);
        const outcome = outcomeOf(answer);
        if (typeof outcome === "object") await tellRefusal(claim, answer.status);
        return outcome;
      }
      picks.bar(key, clock.now());
      refused = answer.status;
    }
    if (refused) await tellRefusal(claim, refused);
    // As many units were free, and another claim of this round has taken what was left together.
    else if (!spaces.of(pool).next(bits)) return tell(claim, fullness(facts), undefined);
    return "later";
  }

  /** The store takes an address at the root, and stores it with the number that it gets. */
  async function giveFromRoot(key: string, claim: AddressClaim, pool: PoolKey): Promise<Outcome> {
    // Others have heard of a refusal meanwhile.
    if (root.refusal(pool)) return "none";
    const answer = await addressStore.write(createRequest(addressFor(claim, NO_NUMBER), WRITER));
    if (answer.ok) return tell(claim, HAS_ADDRESS, nameIn(key), "AtRoot");
    if (answer.status.reason === "AlreadyExists") {
      const found = await read<PoolAddress>(addressStore, key);
      return found ? adopt(claim, found) : outdated("addresses");
    }
    const refused = refusalByRoot(answer.status);
    if (refused) {
      root.refused(pool, refused);
      const { finding } = refused;
      const facts = claimFacts(claim);
      if (!finding || !facts || !isNews(facts, finding)) return "none";
      return tell(claim, finding, undefined, isFoundAtRoot(finding) ? "AtRoot" : undefined);
    }
    const outcome = outcomeOf(answer);
    if (typeof outcome === "object") await tellRefusal(claim, answer.status);
    return outcome;
  }

  /** Once: each further refusal may be of another address. */
  async function tellRefusal(claim: AddressClaim, { message = "" }: Status): Promise<void> {
    const facts = claimFacts(claim);
    const finding = failed(message);
    if (facts && isNews(facts, finding)) await tell(claim, finding, undefined);
  }

  /** The address of a claim belongs to it, whoever made it. */
  async function adopt(claim: AddressClaim, address: PoolAddress): Promise<Outcome> {
    const owner = claimOwning(address);
    const key = keyOf(claim);
    const facts = claimFacts(claim);
    const finding = facts && obstacle(key, facts, addressFacts(address));
    if (finding) {
      followed.addresses.mustRead();
      return tell(claim, finding, undefined);
    }
    const { pool = "" } = addressFacts(address);
    const wanted = ownersOf(claim, isAtRoot(pool));
    const others = (address.metadata?.ownerReferences ?? []).filter(({ uid }) => !wanted.some((one) => one.uid === uid));
    const finalizers = address.metadata?.finalizers ?? [];
    const isHeld = finalizers.includes(ADDRESS_FINALIZER);
    // One that somebody deletes stays until its claim goes, as upstream.
    if (owner === undefined || !isHeld) {
      const metadata = {
        ...address.metadata,
        ownerReferences: [...wanted, ...others],
        finalizers: [...finalizers.filter((one) => one !== ADDRESS_FINALIZER), ADDRESS_FINALIZER],
      };
      const outcome = outcomeOf(await addressStore.write(updateRequest({ ...address, metadata }, WRITER)));
      if (outcome !== "done") return outcome === "none" ? "later" : outcome;
    }
    return tell(claim, HAS_ADDRESS, address.metadata?.name ?? "", foundAt(pool));
  }

  /** `isOfRoot`: the pool is no object of this cluster */
  function ownersOf(claim: AddressClaim, isOfRoot: boolean): OwnerReference[] {
    const { poolRef } = claim.spec ?? {};
    const facts = claimFacts(claim);
    const pool = facts && poolOf(facts.pool);
    const owner = { apiVersion: `${IPAM_GROUP}/${CLAIM_VERSION}`, kind: "IPAddressClaim", blockOwnerDeletion: true };
    const own = { ...owner, name: claim.metadata?.name ?? "", uid: claim.metadata?.uid ?? "", controller: true };
    if (!pool || isOfRoot) return [own];
    const { kind = "", name = "" } = poolRef ?? {};
    return [own, { apiVersion: `${IPAM_GROUP}/${POOL_VERSION}`, kind, name, uid: pool.uid, controller: false, blockOwnerDeletion: true }];
  }

  function numbersOf({ facts: { unit }, prefix, gateway }: KnownPool, block: Block): Numbers {
    const length = unit === undefined ? prefix : prefixOf(block).length;
    return { address: addressAt(block), prefix: length, ...(gateway !== undefined && { gateway }) };
  }

  function addressFor(claim: AddressClaim, numbers: Numbers): PoolAddress {
    const { name = "", namespace = "", labels } = claim.metadata ?? {};
    const cluster = labels?.[CLUSTER_NAME_LABEL];
    return {
      metadata: {
        name,
        namespace,
        ...(cluster !== undefined && { labels: { [CLUSTER_NAME_LABEL]: cluster } }),
        ownerReferences: ownersOf(claim, false),
        finalizers: [ADDRESS_FINALIZER],
      },
      spec: {
        claimRef: { name },
        ...(claim.spec?.poolRef && { poolRef: claim.spec.poolRef }),
        ...numbers,
      },
    };
  }

  async function tellWaiting(key: string, { uid }: ClaimFacts, finding: ClaimFinding): Promise<Outcome> {
    const claim = await read<AddressClaim>(claimStore, key);
    if (claim?.metadata?.uid !== uid) return outdated("claims");
    const { pool } = claimFacts(claim) ?? {};
    // What the root has not said is not known.
    const isFound = pool !== undefined && root.refusal(pool)?.finding === finding && isFoundAtRoot(finding);
    return tell(claim, finding, undefined, isFound ? "AtRoot" : undefined);
  }

  /** Writes the version that was read, so what somebody has changed meanwhile is judged by the next pass. */
  async function tell(claim: AddressClaim, finding: ClaimFinding, address: string | undefined, place?: PoolPlace): Promise<Outcome> {
    const { pool } = claimFacts(claim) ?? {};
    const found = place ?? (pool === undefined ? undefined : foundAt(pool));
    const status = claimStatus(claim, finding, { address, place: found, now: clock.now() });
    if (semanticEqual(claim.status, status)) return outdated("claims");
    return outcomeOf(await claimStore.write(updateRequest({ ...claim, status } as AddressClaim, WRITER, "status")));
  }

  /** The address goes first, then the claim. */
  async function release(key: string, { uid }: ClaimFacts): Promise<Outcome> {
    const [claim, address] = await Promise.all([read<AddressClaim>(claimStore, key), read<PoolAddress>(addressStore, key)]);
    if (claim?.metadata?.uid !== uid || !claim.metadata.deletionTimestamp || claimFacts(claim)?.isInUse) return outdated("claims");
    if (address && isOf(claim, address)) {
      const outcome = await takeBack(address);
      if (outcome !== "done" && outcome !== "none") return outcome;
    }
    return unhold(claimStore, claim, CLAIM_FINALIZER, WRITER);
  }

  /** Whether the address goes with the claim. One that only has its name stays. */
  function isOf(claim: AddressClaim, address: PoolAddress): boolean {
    const { pool, isForOther, owner } = addressFacts(address);
    const claimed = claimFacts(claim)?.pool;
    return claimed !== undefined && isOfClaimed(pool, claimed) && !isForOther && (owner === undefined || owner === claim.metadata?.uid);
  }

  /** Its finalizer holds it until its deletion has begun, so that nobody else lets it go. `waits`: it is not let go yet. */
  async function takeBack(address: PoolAddress, waits = false): Promise<Outcome> {
    let object: PoolAddress = address;
    if (!address.metadata?.deletionTimestamp) {
      const answer = await addressStore.write(deleteRequest(address));
      if (!answer.ok || answer.gone || waits) return outcomeOf(answer);
      object = readObject<PoolAddress>(answer.object) ?? address;
    }
    return unhold(addressStore, object, ADDRESS_FINALIZER, WRITER);
  }

  async function drop(key: string): Promise<Outcome> {
    const [claim, address] = await Promise.all([read<AddressClaim>(claimStore, key), read<PoolAddress>(addressStore, key)]);
    if (!address) return outdated("addresses");
    const { owner, pool, deletedAt = clock.now() } = addressFacts(address);
    // The claim may have come since.
    if (claim && (owner === undefined || owner === claim.metadata?.uid)) return "later";
    if (pool === undefined) return outdated("addresses");
    // The claim is gone, and nobody knows since when: the grace begins with the deletion of the address.
    return takeBack(address, clock.now() < deletedAt + graceOf(pool));
  }

  async function settle(pool: PoolKey): Promise<Outcome> {
    const known = poolOf(pool);
    const { unsettled } = pools[partsOfPoolKey(pool).kind];
    if (!known) return "none";
    // It may change while the book is asked.
    unsettled.delete(pool);
    try {
      const answer = await book.askPools({ does: "settle", pool, facts: known.facts, closed: known.isDeleted ?? false });
      if (answer.kind === "done") {
        settledAt.set(pool, clock.now());
        return "done";
      }
    } catch (error) {
      unsettled.add(pool);
      throw error;
    }
    unsettled.add(pool);
    return "later";
  }

  async function count(pool: PoolKey): Promise<Outcome> {
    const store = storeOf(pool);
    const object = await read<AddressPool>(store, objectKey(pool));
    const { kind } = partsOfPoolKey(pool);
    if (!object) return outdated(kind);
    const { counts } = spaces.of(pool);
    countedAt.set(pool, clock.now());
    if (semanticEqual(object.status?.ipAddresses, counts)) return outdated(kind);
    return outcomeOf(
      await store.write(
        updateRequest({ ...object, status: { ...object.status, ipAddresses: counts } } as AddressPool, POOL_WRITER, "status"),
      ),
    );
  }

  async function end(pool: PoolKey): Promise<Outcome> {
    const store = storeOf(pool);
    const object = await read<AddressPool>(store, objectKey(pool));
    if (!object?.metadata?.deletionTimestamp) return outdated(partsOfPoolKey(pool).kind);
    const answer = await book.askPools({ does: "forget", pool });
    if (answer.kind !== "done") {
      followed.addresses.mustRead();
      return "later";
    }
    return unhold(store, object, POOL_FINALIZER, POOL_WRITER);
  }

  function storeOf(pool: PoolKey): WrittenStore {
    return poolStores[partsOfPoolKey(pool).kind];
  }

  return new Frame<Work>(ports, {
    rows,
    keeps: [addresses, claims, ...kinds],
    follows: () => [[...Object.values(followed), root]],
    work: { plan: begin, write: noted, nameOf: ({ step, key }) => `${step} ${key}`, atOnce: AT_ONCE },
    // A round that has changed nothing would be made again, and again.
    goesOn: () => hasDone && plan().length > 0,
    due(isRefused) {
      const now = clock.now();
      const times: number[] = [];
      for (const key of claims.keys) {
        const claim = claims.get(key);
        if (claim?.deletedAt === undefined || !claim.isHeld || isRefused(`release ${key}`)) continue;
        const at = releaseAt(key, claim);
        if (at !== undefined) times.push(at);
      }
      for (const key of addresses.ofClaims) {
        const at = isRefused(`drop ${key}`) ? undefined : dropAt(key);
        if (at !== undefined) times.push(at);
      }
      for (const [key, { isDeleted }] of allPools()) {
        // One that ends is counted no more.
        if (isDeleted && !spaces.of(key).isUsed) continue;
        if (isCountStale(key) && !isRefused(`count ${key}`)) times.push(Math.max(now, (countedAt.get(key) ?? 0) + COUNT_MS));
      }
      if (picks.nextAt !== undefined) times.push(picks.nextAt);
      if (root.nextAt !== undefined) times.push(root.nextAt);
      return times.length > 0 ? leastOf(times) : undefined;
    },
  }).pass;
}

function ofEachKind<T>(make: (kind: PoolKind) => T): Readonly<Record<PoolKind, T>> {
  return Object.fromEntries(POOL_KINDS.map((kind) => [kind, make(kind)])) as Record<PoolKind, T>;
}

/** Of a prefix, as a block has them; without a length one address. */
function bitsOf(family: Family, length: number | undefined): number {
  return widthOf(family) - (length ?? widthOf(family));
}

/** Whether the claim has asked its pool for a prefix of another length than this one. */
function isOfOtherLength(claim: ClaimFacts, { facts: { family, unit } }: KnownPool, address: AddressFacts): boolean {
  return unit !== undefined && blockOf(address).bits !== bitsOf(family, claim.length ?? unit);
}

/** What the store replaces by what the root gives; one that knows no root refuses it. */
const NO_NUMBER: Numbers = { address: "0.0.0.0", prefix: 32 };

/** Whether another address may be accepted. */
function isOfAddress({ code, details }: Status): boolean {
  return code === 422 && (details?.causes?.some(({ field }) => field === "spec.address") ?? false);
}

function nameIn(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

function objectKey(pool: PoolKey): string {
  const { namespace, name } = partsOfPoolKey(pool);
  return namespace === "" ? name : `${namespace}/${name}`;
}

/** undefined = there is none. */
async function read<T extends KubeObject>(store: WrittenStore, key: string): Promise<T | undefined> {
  const slash = key.indexOf("/");
  const named = { namespace: slash < 0 ? "" : key.slice(0, slash), name: key.slice(slash + 1) };
  const [text] = await store.objectsNamed([named]);
  return text ? readObject<T>(text) : undefined;
}

/** Takes a finalizer away from the version that was read. */
async function unhold(store: WrittenStore, object: KubeObject, finalizer: string, writer: Writer): Promise<Outcome> {
  const { finalizers = [], ...metadata } = object.metadata ?? {};
  const rest = finalizers.filter((one) => one !== finalizer);
  if (rest.length === finalizers.length) return "none";
  return outcomeOf(
    await store.write(updateRequest({ ...object, metadata: { ...metadata, ...(rest.length > 0 && { finalizers: rest }) } }, writer)),
  );
}
