/**
 * Adds what is missing of the default objects of a cluster, as upstream does at each start. Nothing is taken away. Source: upstream
 * pkg/registry/rbac/rest/storage_rbac.go.
 */
import { fnv1a, FNV_OFFSET } from "../../core/encoding/fnv1a";
import type { KubeObject } from "../../api/meta/kubernetes";
import { RBAC_GROUP } from "../../api/meta/rbac-names";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import { RULES_UNREAD } from "../../api/rpc/policy";
import type { ObjectKey, WriteOptions, WriteRequest, WriteResult } from "../../api/rpc/store";
import { type DefaultObject, defaultPolicy } from "./default-policy";
import { RBAC_KINDS } from "./followed-policy";
import type { RbacKind } from "./policy";
import { RBAC_RESOURCES } from "./rbac-resources";
import { type DefaultWrite, reconcileBinding, reconcileRole } from "./reconcile-default";

const OPTIONS: WriteOptions = {
  dryRun: false,
  fieldManager: "kube-apiserver",
  fieldValidation: "Ignore",
  force: false,
  group: RBAC_GROUP,
  version: "v1",
};
const DELETE_OPTIONS = { dryRun: false, preconditions: {}, propagationPolicy: "", gracePeriodSeconds: undefined } as const;

export interface DefaultsPorts {
  /** the two calls to the store of this kind; each may reject */
  store(kind: RbacKind): Pick<ObjectFeed, "objectsNamed"> & { writeAll(requests: WriteRequest[]): Promise<WriteResult[]> };
  /** hears of a default that a store refuses */
  refused(resource: string, why: string): void;
}

/** Another text for each other list of defaults: a release that has more adds them. */
export function defaultsVersion(): string {
  const text = JSON.stringify(defaultPolicy());
  return `${text.length}-${fnv1a(FNV_OFFSET, text)}`;
}

/**
 * True = something was written. One that somebody else has written meanwhile is a conflict, which is what was wanted.
 *
 * @throws what a call rejects with, and where a store could not write; a repeat goes on
 */
export async function ensureDefaults(ports: DefaultsPorts): Promise<boolean> {
  const all = defaultPolicy();
  const wrote = await Promise.all(
    RBAC_KINDS.map((kind) =>
      ensureKind(
        ports,
        kind,
        all.filter((one) => one.kind === kind),
      ),
    ),
  );
  return wrote.includes(true);
}

async function ensureKind({ store, refused }: DefaultsPorts, kind: RbacKind, wanted: readonly DefaultObject[]): Promise<boolean> {
  const stored = await store(kind).objectsNamed(wanted.map(keyOf));
  const writes = wanted.flatMap((one, i) => writesOf(one, objectIn(stored[i])));
  if (writes.length === 0) return false;
  for (const result of await store(kind).writeAll(writes)) {
    if (result.ok || result.status.code === 409) continue;
    const { code, message = "" } = result.status;
    if (code >= 500) throw new Error(`${RULES_UNREAD}: ${message}`);
    refused(RBAC_RESOURCES[kind], message);
  }
  return true;
}

function keyOf({ object: { metadata } }: DefaultObject): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

function objectIn(stored: string | null | undefined): KubeObject | undefined {
  return stored ? (JSON.parse(stored) as KubeObject) : undefined;
}

function writesOf(wanted: DefaultObject, stored: KubeObject | undefined): WriteRequest[] {
  const write = reconciled(wanted, stored);
  if (!write) return [];
  const key = keyOf(wanted);
  const object = JSON.stringify(write.object);
  const create: WriteRequest = { verb: "create", namespace: key.namespace, object, options: OPTIONS };
  if (write.operation === "create") return [create];
  if (write.operation === "recreate") return [{ verb: "delete", key, options: DELETE_OPTIONS }, create];
  return [{ verb: "update", key, subresource: "", object, options: OPTIONS }];
}

function reconciled(wanted: DefaultObject, stored: KubeObject | undefined): DefaultWrite<KubeObject> | undefined {
  switch (wanted.kind) {
    case "ClusterRole":
    case "Role":
      return reconcileRole(stored as typeof wanted.object | undefined, wanted.object);
    default:
      return reconcileBinding(stored as typeof wanted.object | undefined, wanted.object);
  }
}
