/** What the tokens of a cluster's service accounts are judged by, in this isolate's memory: a deleted account or object counts within KEPT_MS. */
import type { Result } from "../../core/base/result";
import type { KubeObject } from "../../api/meta/kubernetes";
import type { Status } from "../../api/meta/status";
import type { BoundKind, ServiceAccountSource } from "../../access/authentication/ports";
import type { Env } from "../../../durable-objects/env";
import { signingKeys, storeStub } from "../../../durable-objects/peers";
import { RecentMap } from "../http/recent-map";
import { call } from "../routing/call";

const KEPT_MS = 30_000;
const OBJECTS_MAX = 10_000;
const BOUND_RESOURCES: Readonly<Record<BoundKind, string>> = { Pod: "pods", Node: "nodes", Secret: "secrets" };

interface Seen {
  readonly uid: string | undefined;
  readonly atMs: number;
}

const seen = new RecentMap<string, Seen>(OBJECTS_MAX);

export function serviceAccountSource(env: Env, clusterId: string): ServiceAccountSource {
  return {
    clusterId,
    publicKeys: () => answered(call(() => signingKeys(env, clusterId).publicKeys(), { what: "credentials.publicKeys", repeatable: true })),
    findServiceAccount: (namespace, name) => uidOf(env, clusterId, { resource: "serviceaccounts", namespace, name }),
    findBound: (kind, namespace, name) => uidOf(env, clusterId, { resource: BOUND_RESOURCES[kind], namespace, name }),
  };
}

interface Named {
  resource: string;
  namespace: string;
  name: string;
}

async function uidOf(env: Env, clusterId: string, { resource, namespace, name }: Named): Promise<string | undefined> {
  const key = `${clusterId}/${resource}/${namespace}/${name}`;
  const known = seen.get(key);
  if (known && Math.abs(Date.now() - known.atMs) < KEPT_MS) return known.uid;
  const atMs = Date.now();
  const found = await answered(
    call(() => storeStub(env, clusterId, { group: "", resource }).get({ namespace, name }, ""), {
      what: `${resource}.get`,
      repeatable: true,
    }),
  );
  const { metadata } = found.ok ? (JSON.parse(found.object) as KubeObject) : {};
  const uid = metadata?.deletionTimestamp ? undefined : metadata?.uid;
  seen.put(key, { uid, atMs });
  return uid;
}

/** Rejects with the Status of a call that was not answered. */
async function answered<T>(called: Promise<Result<T, Status>>): Promise<T> {
  const result = await called;
  if (result.ok) return result.value;
  throw new Error(result.error.message);
}
