/**
 * The objects that decide whether tokens of a cluster's service accounts hold, in this isolate's memory. The deletion of an account or object counts
 * within KEPT_MS.
 */
import type { Result } from "../../core/base/result";
import type { KubeObject } from "../../api/meta/kubernetes";
import type { Status } from "../../api/meta/status";
import type { BoundKind, ClaimedUid, ServiceAccountSource } from "../../access/authentication/ports";
import type { Env } from "../../../durable-objects/platform/env";
import { signingKeys, storeStub } from "../../../durable-objects/peers/peers";
import { RecentMap } from "../http/recent-map";
import { call, ClusterGone } from "../routing/call";

const KEPT_MS = 30_000;
/** An object that a token claims to be another one than is known is read again after this time at the latest. */
const AGAIN_MS = 1_000;
const OBJECTS_MAX = 10_000;
const BOUND_RESOURCES: Readonly<Record<BoundKind, string>> = { Pod: "pods", Node: "nodes", Secret: "secrets" };

interface Seen {
  readonly uid: string | undefined;
  readonly atMs: number;
}

const seen = new RecentMap<string, Seen>(OBJECTS_MAX);

/** @param onGone called when the cluster of this id turns out to be deleted */
export function serviceAccountSource(env: Env, clusterId: string, onGone: () => void): ServiceAccountSource {
  const told = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof ClusterGone) onGone();
      throw error;
    }
  };
  const keys = () => call(() => signingKeys(env, clusterId).publicKeys(), { what: "credentials.publicKeys", repeatable: true });
  return {
    clusterId,
    publicKeys: () => told(answered(keys())),
    findServiceAccount: (namespace, name, claimed) =>
      told(uidOf(env, clusterId, { resource: "serviceaccounts", namespace, name }, claimed)),
    findBound: (kind, namespace, name, claimed) =>
      told(uidOf(env, clusterId, { resource: BOUND_RESOURCES[kind], namespace, name }, claimed)),
  };
}

export interface NamedResource {
  resource: string;
  namespace: string;
  name: string;
}

async function uidOf(
  env: Env,
  clusterId: string,
  { resource, namespace, name }: NamedResource,
  claimed: ClaimedUid,
): Promise<string | undefined> {
  const key = `${clusterId}/${resource}/${namespace}/${name}`;
  const known = seen.get(key);
  if (known && isGood(known, claimed, Date.now())) return known.uid;
  const atMs = Date.now();
  const found = await answered(
    call(() => storeStub(env, clusterId, { group: "", resource }).get({ namespace, name }, ""), {
      what: `${resource}.get`,
      repeatable: true,
    }),
  );
  // A store that refuses for another reason says nothing about the object.
  if (!found.ok && found.status.code !== 404) throw new Error(found.status.message);
  const { metadata } = found.ok ? (JSON.parse(found.object) as KubeObject) : {};
  const uid = metadata?.deletionTimestamp ? undefined : metadata?.uid;
  seen.put(key, { uid, atMs });
  return uid;
}

/** A token may be of an object that came after the last look: one that is younger than the look, whose second of issue counts as a whole, asks again. */
function isGood({ uid, atMs }: Seen, claimed: ClaimedUid, nowMs: number): boolean {
  const ageMs = Math.abs(nowMs - atMs);
  if (uid === claimed.uid) return ageMs < KEPT_MS;
  return ageMs < AGAIN_MS && atMs >= claimed.issuedMs + 1_000;
}

/** Rejects with the Status of a call that was not answered. */
async function answered<T>(called: Promise<Result<T, Status>>): Promise<T> {
  const result = await called;
  if (result.ok) return result.value;
  throw new Error(result.error.message);
}
