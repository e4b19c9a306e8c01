/**
 * The RBAC rules of clusters, in this isolate's memory. A change is heard of within POLICY_STALE_MAX_MS, because a copy of that age is renewed before it
 * decides; a younger one that begins to age is renewed beside the request. While the stores do not answer, the last copy goes on for
 * POLICY_OUTAGE_MAX_MS; then requests are refused with 503.
 */
import { err, ok, type Result } from "../../core/base/result";
import { serviceUnavailable, type Status } from "../../api/meta/status";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { FollowedPolicy, type PolicySource } from "../../access/rbac/followed-policy";
import type { Policy, RbacKind } from "../../access/rbac/policy";
import type { Env } from "../../../durable-objects/env";
import { type Remote, storeStub } from "../../../durable-objects/peers";
import { RETRY_AFTER_SECONDS } from "../http/limits";
import { call } from "../routing/call";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import { settled } from "./settled";
import { RBAC_RESOURCES } from "./rbac-resources";

/** Clusters whose rules an isolate keeps. */
const CLUSTERS_MAX = 50;
/** Of the texts of the rules of one cluster, and of all that are kept; 10,000 rules have some 2 MB. In memory they take a few times that of 128 MB. */
const LENGTH_MAX = 8 * 1024 * 1024;
const KEPT_LENGTH_MAX = 16 * 1024 * 1024;
/** From this age on a copy is renewed beside the request that it decides. */
const POLICY_FRESH_MS = 2_000;
/** With the time that a renewal takes a change counts within five seconds. */
const POLICY_STALE_MAX_MS = 4_000;
const POLICY_OUTAGE_MAX_MS = 60_000;
const REFRESH_TIMEOUT_MS = 5_000;
/** All pages of all kinds; a renewal that has not ended by then was dropped by the platform. */
const RENEWAL_PATIENCE_MS = 20_000;

interface Kept {
  readonly followed: FollowedPolicy<Status>;
  /** when the newest renewal that succeeded was begun, in ms since the epoch */
  asOfMs: number;
  /** changes of the rules that this isolate has made */
  changes: number;
  renewal: Renewal | undefined;
}

interface Renewal {
  /** those that were made before it */
  readonly changes: number;
  readonly done: Promise<Result<void, Status>>;
}

/** The one that was asked least recently stands first. */
const kept = new Map<string, Kept>();

/** The rules of the cluster of this id. `beside` keeps work running after the answer. */
export async function policyOf(env: Env, cluster: string, beside: (work: Promise<unknown>) => void): Promise<Result<Policy, Status>> {
  const known = kept.get(cluster) ?? begun(env, cluster);
  kept.delete(cluster);
  kept.set(cluster, known);
  const ageMs = Date.now() - known.asOfMs;
  // A clock that was set back says nothing about the age.
  const isFresh = ageMs >= 0 && ageMs < POLICY_FRESH_MS;
  if (isFresh) return ok(known.followed.policy);
  const renewal = renewed(known, beside);
  if (ageMs >= 0 && ageMs < POLICY_STALE_MAX_MS) return ok(known.followed.policy);
  const done = await settled(renewal.done, RENEWAL_PATIENCE_MS);
  if (!done && known.renewal === renewal) known.renewal = undefined;
  if (done?.ok || (known.asOfMs > 0 && Math.abs(Date.now() - known.asOfMs) < POLICY_OUTAGE_MAX_MS)) return ok(known.followed.policy);
  return err(serviceUnavailable("the rules of access could not be read", RETRY_AFTER_SECONDS));
}

/** A write of this isolate has changed the rules of the cluster: the next request that asks them reads on before it decides. */
export function noteRulesChanged(cluster: string): void {
  const known = kept.get(cluster);
  if (!known) return;
  known.changes++;
  known.asOfMs = Math.min(known.asOfMs, Date.now() - POLICY_STALE_MAX_MS);
}

function begun(env: Env, cluster: string): Kept {
  const storeOf = (kind: RbacKind): Remote<ObjectFeed> =>
    storeStub<ObjectFeed>(env, cluster, { group: RBAC_GROUP, resource: RBAC_RESOURCES[kind] });
  const asked = (what: string) => ({ what, repeatable: true, timeoutMs: REFRESH_TIMEOUT_MS });
  const source: PolicySource<Status> = {
    objectsSince: (kind, cursor, limit) =>
      call(() => storeOf(kind).objectsSince(cursor, limit), asked(`${RBAC_RESOURCES[kind]}.objectsSince`)),
    objectsAfter: (kind, after, limit) =>
      call(() => storeOf(kind).objectsAfter(after, limit), asked(`${RBAC_RESOURCES[kind]}.objectsAfter`)),
  };
  const followed = new FollowedPolicy(source, LENGTH_MAX, tooLarge);
  return { followed, asOfMs: 0, changes: 0, renewal: undefined };
}

function tooLarge(): Status {
  return serviceUnavailable("the roles and bindings of the cluster are too large to decide by", RETRY_AFTER_SECONDS);
}

/** Lets go of what was asked least recently; the newest stays. */
function makeRoom(): void {
  let length = [...kept.values()].reduce((sum, { followed }) => sum + followed.length, 0);
  for (const [cluster, { followed }] of kept) {
    if (kept.size === 1 || (kept.size <= CLUSTERS_MAX && length <= KEPT_LENGTH_MAX)) return;
    kept.delete(cluster);
    length -= followed.length;
  }
}

/**
 * Requests that come during a renewal share it, unless this isolate has changed the rules since it began: then they wait for one behind it. It outlives
 * the request that began it; one that was dropped all the same is given up by who waits.
 */
function renewed(known: Kept, beside: (work: Promise<unknown>) => void): Renewal {
  const { changes, renewal: before } = known;
  if (before?.changes === changes) return before;
  const done = (before ? before.done.then(() => renew(known, changes)) : renew(known, changes)).finally(() => {
    if (known.renewal === renewal) known.renewal = undefined;
  });
  const renewal: Renewal = { changes, done };
  known.renewal = renewal;
  beside(done);
  return renewal;
}

async function renew(known: Kept, changes: number): Promise<Result<void, Status>> {
  const begunMs = Date.now();
  const done = await known.followed.refresh();
  makeRoom();
  if (done.ok && known.changes === changes) known.asOfMs = begunMs;
  return done;
}
