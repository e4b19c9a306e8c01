/**
 * The RBAC rules of clusters, in this isolate's memory. A change counts within POLICY_STALE_MAX_MS: a copy of that age is renewed before it decides.
 * The age counts from the beginning of the call that fetched the copy. A younger copy that begins to age is renewed beside the request. While the rules
 * cannot be read, the last copy decides for POLICY_OUTAGE_MAX_MS; then requests are refused with 503.
 */
import type { Beside } from "../../core/turns/batched";
import { err, ok, type Result } from "../../core/base/result";
import { serviceUnavailable, type Status } from "../../api/meta/status";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { isMethodMissing } from "../../api/rpc/older-release";
import type { PolicyAnswer } from "../../api/rpc/policy";
import { FetchedPolicy, type FetchedPolicySource } from "../../access/rbac/fetched-policy";
import type { PolicySource } from "../../access/rbac/followed-policy";
import type { Policy, RbacKind } from "../../access/rbac/policy";
import { RBAC_RESOURCES, resourceOfKind } from "../../access/rbac/rbac-resources";
import type { Env } from "../../../durable-objects/platform/env";
import { policyStore, type Remote, storeStub } from "../../../durable-objects/peers/peers";
import { RETRY_AFTER_SECONDS } from "../http/limits";
import { call } from "../routing/call";
import { ensureDefaultPolicy, wakeAccessControllers } from "./default-policy";
import { settled } from "./settled";

/** Clusters whose rules an isolate keeps. */
const CLUSTERS_MAX = 50;
/** Up to here writes make the rules of a cluster longer. What is between covers those that other isolates make at the same time. */
export const WRITTEN_LENGTH_MAX = 6 * 1024 * 1024;
/** Of the texts of all rules that are kept. */
const KEPT_LENGTH_MAX = 16 * 1024 * 1024;
/** From this age on a copy is renewed beside the request that it decides. */
const POLICY_FRESH_MS = 2_000;
const POLICY_STALE_MAX_MS = 5_000;
const POLICY_OUTAGE_MAX_MS = 60_000;
/** The object that is asked gives up each of its own calls earlier. A question that comes during others is answered behind them. */
const FETCH_TIMEOUT_MS = 10_000;
/** Of one call to one of the four stores. */
const STORE_TIMEOUT_MS = 5_000;
/** A renewal that has not ended by then was dropped by the platform. */
const RENEWAL_PATIENCE_MS = 20_000;

interface KeptPolicy {
  readonly fetched: FetchedPolicy<Status>;
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
export async function policyOf(env: Env, cluster: string, beside: Beside): Promise<Result<Policy, Status>> {
  const known: KeptPolicy = kept.get(cluster) ?? {
    fetched: new FetchedPolicy(),
    asOfMs: 0,
    changes: 0,
    growths: new Set(),
    renewal: undefined,
  };
  kept.delete(cluster);
  kept.set(cluster, known);
  const ageMs = Date.now() - known.asOfMs;
  // A clock that was set back says nothing about the age.
  const isFresh = ageMs >= 0 && ageMs < POLICY_FRESH_MS;
  if (isFresh) return decidedBy(known);
  const renewal = renewed(known, sourceOf(env, cluster, beside), beside);
  if (ageMs >= 0 && ageMs < POLICY_STALE_MAX_MS) return decidedBy(known);
  const done = await settled(renewal.done, RENEWAL_PATIENCE_MS);
  if (!done && known.renewal === renewal) known.renewal = undefined;
  if (done?.ok || (known.asOfMs > 0 && Math.abs(Date.now() - known.asOfMs) < POLICY_OUTAGE_MAX_MS)) return decidedBy(known);
  return err(serviceUnavailable("the rules of access could not be read", RETRY_AFTER_SECONDS));
}

function decidedBy({ fetched: { policy } }: KeptPolicy): Result<Policy, Status> {
  if (policy) return ok(policy);
  return err(serviceUnavailable("the roles and bindings of the cluster are too large to decide by", RETRY_AFTER_SECONDS));
}

/** Whether this isolate has asked for the rules of the cluster of this id. */
export function hasAskedRules(cluster: string): boolean {
  return kept.has(cluster);
}

/** A write of this isolate has changed the rules of the cluster: the next request that asks them reads on before it decides. */
export function noteRulesChanged(cluster: string): void {
  const known = kept.get(cluster);
  if (!known) return;
  known.changes++;
  known.asOfMs = Math.min(known.asOfMs, Date.now() - POLICY_STALE_MAX_MS);
}

/** The cluster of this id is gone. */
export function forgetPolicy(cluster: string): void {
  kept.delete(cluster);
}

/** For a write of rules; undefined = this isolate has not read the rules of the cluster. */
export function roomForRules(cluster: string): RulesRoom | undefined {
  const known = kept.get(cluster);
  if (!known) return undefined;
  const { fetched, growths } = known;
  const own: Growth = { length: 0, isOver: false };
  return {
    take(growth) {
      growths.delete(own);
      if (growth <= 0) return true;
      const underWay = [...growths].reduce((sum, { length }) => sum + length, 0);
      if (fetched.length + underWay + growth > WRITTEN_LENGTH_MAX) return false;
      own.length = growth;
      growths.add(own);
      return true;
    },
    end() {
      own.isOver = true;
    },
  };
}

function sourceOf(env: Env, cluster: string, beside: Beside): FetchedPolicySource<Status> {
  return {
    async policySince(version) {
      const asked = { what: "clusterroles.policySince", repeatable: true, timeoutMs: FETCH_TIMEOUT_MS };
      const answer = await call(() => policySince(env, cluster, version), asked);
      // A question that found nothing to make wakes nobody: cron finds what waits.
      if (answer.ok && answer.value !== "unsupported" && answer.value.begun) beside(wakeAccessControllers(env, cluster));
      return answer;
    },
    stores: storesOf(env, cluster),
    begin: () => ensureDefaultPolicy(env, cluster, beside),
  };
}

async function policySince(env: Env, cluster: string, version: string): Promise<PolicyAnswer | "unsupported"> {
  try {
    return await policyStore(env, cluster).policySince(version);
  } catch (error) {
    if (isMethodMissing(error, "policySince")) return "unsupported";
    throw error;
  }
}

function storesOf(env: Env, cluster: string): PolicySource<Status> {
  const storeOf = (kind: RbacKind): Remote<ObjectFeed> => storeStub<ObjectFeed>(env, cluster, resourceOfKind(kind));
  const asked = (what: string) => ({ what, repeatable: true, timeoutMs: STORE_TIMEOUT_MS });
  return {
    objectsSince: (kind, cursor, limit) =>
      call(() => storeOf(kind).objectsSince(cursor, limit), asked(`${RBAC_RESOURCES[kind]}.objectsSince`)),
    objectsAfter: (kind, after, limit) =>
      call(() => storeOf(kind).objectsAfter(after, limit), asked(`${RBAC_RESOURCES[kind]}.objectsAfter`)),
  };
}

/** Lets go of what was asked least recently; the newest stays. */
function makeRoom(): void {
  let length = [...kept.values()].reduce((sum, { fetched }) => sum + fetched.keptLength, 0);
  for (const [cluster, { fetched }] of kept) {
    if (kept.size === 1 || (kept.size <= CLUSTERS_MAX && length <= KEPT_LENGTH_MAX)) return;
    kept.delete(cluster);
    length -= fetched.keptLength;
  }
}

/**
 * Requests that come during a renewal share it, unless this isolate has changed the rules since it began: then they wait for one behind it. It outlives
 * the request that began it; one that was dropped all the same is given up by who waits.
 */
function renewed(known: KeptPolicy, source: FetchedPolicySource<Status>, beside: Beside): PolicyRenewal {
  const { changes, renewal: before } = known;
  if (before?.changes === changes) return before;
  const done = (before ? before.done.then(() => renew(known, changes, source)) : renew(known, changes, source)).finally(() => {
    if (known.renewal === renewal) known.renewal = undefined;
  });
  const renewal: PolicyRenewal = { changes, done };
  known.renewal = renewal;
  beside(done);
  return renewal;
}

async function renew(known: KeptPolicy, changes: number, source: FetchedPolicySource<Status>): Promise<Result<void, Status>> {
  const begunMs = Date.now();
  const written = [...known.growths].filter(({ isOver }) => isOver);
  const done = await known.fetched.refresh(source);
  makeRoom();
  if (done.ok) for (const growth of written) known.growths.delete(growth);
  if (done.ok && known.changes === changes) known.asOfMs = begunMs;
  return done;
}
