/**
 * The RBAC rules of clusters, in this isolate's memory. A change counts within POLICY_STALE_MAX_MS: a copy of that age is renewed before it decides.
 * A younger copy that begins to age is renewed beside the request. While the stores do not answer, the last copy decides for POLICY_OUTAGE_MAX_MS;
 * then requests are refused with 503.
 */
import { err, ok, type Result } from "../../core/base/result";
import { serviceUnavailable, type Status } from "../../api/meta/status";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { FollowedPolicy, type PolicySource } from "../../access/rbac/followed-policy";
import type { Policy, RbacKind } from "../../access/rbac/policy";
import type { Env } from "../../../durable-objects/platform/env";
import { type Remote, storeStub } from "../../../durable-objects/peers/peers";
import { RETRY_AFTER_SECONDS } from "../http/limits";
import { call } from "../routing/call";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import { settled } from "./settled";
import { RBAC_RESOURCES } from "./rbac-resources";

/** Clusters whose rules an isolate keeps. */
const CLUSTERS_MAX = 50;
/** Of the texts of the rules of one cluster, and of all that are kept; 10,000 rules have some 2 MB. In memory they take a few times that of 128 MB. */
const LENGTH_MAX = 8 * 1024 * 1024;
/** Up to here writes make the rules of a cluster longer. What is between covers those that other isolates make at the same time. */
export const WRITTEN_LENGTH_MAX = 6 * 1024 * 1024;
const KEPT_LENGTH_MAX = 16 * 1024 * 1024;
/** From this age on a copy is renewed beside the request that it decides. */
const POLICY_FRESH_MS = 2_000;
/** With the time that a renewal takes a change counts within five seconds. */
const POLICY_STALE_MAX_MS = 4_000;
const POLICY_OUTAGE_MAX_MS = 60_000;
const REFRESH_TIMEOUT_MS = 5_000;
/** All pages of all kinds; a renewal that has not ended by then was dropped by the platform. */
const RENEWAL_PATIENCE_MS = 20_000;

interface KeptPolicy {
  readonly followed: FollowedPolicy<Status>;
  /** when the newest renewal that succeeded was begun, in ms since the epoch */
  asOfMs: number;
  /** changes of the rules that this isolate has made */
  changes: number;
  /** by writes of this isolate that have not been read back yet */
  readonly growths: Set<Growth>;
  renewal: PolicyRenewal | undefined;
}

interface Growth {
  length: number;
  /** its write has ended */
  isOver: boolean;
}

/** What one write adds to the rules of a cluster. */
export interface RulesRoom {
  /** Whether there is room for so many more characters, in place of what the write took before. */
  take(growth: number): boolean;
  /** The write has ended. */
  end(): void;
}

interface PolicyRenewal {
  /** those that were made before it */
  readonly changes: number;
  readonly done: Promise<Result<void, Status>>;
}

/** The one that was asked least recently stands first. */
const kept = new Map<string, KeptPolicy>();

/** The rules of the cluster of this id. `beside` keeps work running after the answer. */
export async function policyOf(env: Env, cluster: string, beside: (work: Promise<unknown>) => void): Promise<Result<Policy, Status>> {
  const known = kept.get(cluster) ?? begun(env, cluster);
  kept.delete(cluster);
  kept.set(cluster, known);
  const ageMs = Date.now() - known.asOfMs;
  // A clock that was set back says nothing about the age.
  const isFresh = ageMs >= 0 && ageMs < POLICY_FRESH_MS;
  if (isFresh) return decidedBy(known);
  const renewal = renewed(known, beside);
  if (ageMs >= 0 && ageMs < POLICY_STALE_MAX_MS) return decidedBy(known);
  const done = await settled(renewal.done, RENEWAL_PATIENCE_MS);
  if (!done && known.renewal === renewal) known.renewal = undefined;
  if (done?.ok || (known.asOfMs > 0 && Math.abs(Date.now() - known.asOfMs) < POLICY_OUTAGE_MAX_MS)) return decidedBy(known);
  return err(serviceUnavailable("the rules of access could not be read", RETRY_AFTER_SECONDS));
}

function decidedBy({ followed: { policy } }: KeptPolicy): Result<Policy, Status> {
  if (policy) return ok(policy);
  return err(serviceUnavailable("the roles and bindings of the cluster are too large to decide by", RETRY_AFTER_SECONDS));
}

/** A write of this isolate has changed the rules of the cluster: the next request that asks them reads on before it decides. */
export function noteRulesChanged(cluster: string): void {
  const known = kept.get(cluster);
  if (!known) return;
  known.changes++;
  known.asOfMs = Math.min(known.asOfMs, Date.now() - POLICY_STALE_MAX_MS);
}

/** For a write of rules; undefined = this isolate has not read the rules of the cluster. */
export function roomForRules(cluster: string): RulesRoom | undefined {
  const known = kept.get(cluster);
  if (!known) return undefined;
  const { followed, growths } = known;
  const own: Growth = { length: 0, isOver: false };
  return {
    take(growth) {
      growths.delete(own);
      if (growth <= 0) return true;
      const underWay = [...growths].reduce((sum, { length }) => sum + length, 0);
      if (followed.length + underWay + growth > WRITTEN_LENGTH_MAX) return false;
      own.length = growth;
      growths.add(own);
      return true;
    },
    end() {
      own.isOver = true;
    },
  };
}

function begun(env: Env, cluster: string): KeptPolicy {
  const storeOf = (kind: RbacKind): Remote<ObjectFeed> =>
    storeStub<ObjectFeed>(env, cluster, { group: RBAC_GROUP, resource: RBAC_RESOURCES[kind] });
  const asked = (what: string) => ({ what, repeatable: true, timeoutMs: REFRESH_TIMEOUT_MS });
  const source: PolicySource<Status> = {
    objectsSince: (kind, cursor, limit) =>
      call(() => storeOf(kind).objectsSince(cursor, limit), asked(`${RBAC_RESOURCES[kind]}.objectsSince`)),
    objectsAfter: (kind, after, limit) =>
      call(() => storeOf(kind).objectsAfter(after, limit), asked(`${RBAC_RESOURCES[kind]}.objectsAfter`)),
  };
  return { followed: new FollowedPolicy(source, LENGTH_MAX), asOfMs: 0, changes: 0, growths: new Set(), renewal: undefined };
}

/** Lets go of what was asked least recently; the newest stays. */
function makeRoom(): void {
  let length = [...kept.values()].reduce((sum, { followed }) => sum + followed.keptLength, 0);
  for (const [cluster, { followed }] of kept) {
    if (kept.size === 1 || (kept.size <= CLUSTERS_MAX && length <= KEPT_LENGTH_MAX)) return;
    kept.delete(cluster);
    length -= followed.keptLength;
  }
}

/**
 * Requests that come during a renewal share it, unless this isolate has changed the rules since it began: then they wait for one behind it. It outlives
 * the request that began it; one that was dropped all the same is given up by who waits.
 */
function renewed(known: KeptPolicy, beside: (work: Promise<unknown>) => void): PolicyRenewal {
  const { changes, renewal: before } = known;
  if (before?.changes === changes) return before;
  const done = (before ? before.done.then(() => renew(known, changes)) : renew(known, changes)).finally(() => {
    if (known.renewal === renewal) known.renewal = undefined;
  });
  const renewal: PolicyRenewal = { changes, done };
  known.renewal = renewal;
  beside(done);
  return renewal;
}

async function renew(known: KeptPolicy, changes: number): Promise<Result<void, Status>> {
  const begunMs = Date.now();
  const written = [...known.growths].filter(({ isOver }) => isOver);
  const done = await known.followed.refresh();
  makeRoom();
  if (done.ok) for (const growth of written) known.growths.delete(growth);
  if (done.ok && known.changes === changes) known.asOfMs = begunMs;
  return done;
}
