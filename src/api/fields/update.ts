/**
 * managedFields of every write that is not an apply: POST, PUT and the other patches.
 * Source: apimachinery pkg/util/managedfields/internal (fieldmanager.go Update, skipnonapplied, capmanagers, managedfieldsupdater).
 */
import type { KubeObject } from "../meta/kubernetes";
import type { JsonObject } from "../schema/json/json-value";
import { rfc3339Seconds } from "../meta/time";
import { isSame } from "./compare";
import { createdFields } from "./created-fields";
import { tracked } from "./field-set-of";
import {
  compareTexts,
  decodeManagedFields,
  encodeManagedFields,
  identityOf,
  isReset,
  type ManagedFieldsEntry,
  type Manager,
  managerName,
  type Managers,
  timeOf,
  withFields,
} from "./managed-fields";
import { type FieldContext, formOf, takeFields, VersionedComparison } from "./ownership";
import { PathSet } from "./path-set";
import { reconciled } from "./reconcile";

/** Most entries of updates that are kept; the oldest are merged into one entry. */
const UPDATE_MANAGERS_MAX = 10;
const OLD_CHANGES = "ancient-changes";

export interface TrackedUpdate extends FieldContext {
  /** the stored object; undefined on a create */
  before: KubeObject | undefined;
  /** the wanted object, decoded and defaulted, not yet prepared by the strategy; its managedFields are the client's */
  after: KubeObject;
  /** field manager or client name; "" is tracked as `unknown` */
  manager: string;
  /** milliseconds since the epoch */
  nowMs: number;
}

/**
 * The managedFields to store with `after` (undefined = none): `manager` owns the changed fields, all others keep the rest. An existing
 * untracked object stays untracked until its first apply. Changes neither object.
 */
export function trackUpdate(update: TrackedUpdate): ManagedFieldsEntry[] | undefined {
  const { before, after } = update;
  if (before === undefined && (after.metadata?.managedFields?.length ?? 0) === 0) return trackCreate(update);
  const stored = before?.metadata?.managedFields;
  const managers = managersOfRequest(update);
  if (managers.size === 0 && before !== undefined) return undefined;
  const next = updatedManagers(managers, update, (before ?? {}) as unknown as JsonObject, after as unknown as JsonObject);
  return next ? encodeManagedFields(next) : stored;
}

/** A create without managedFields: the manager owns the whole object, which takes one walk. */
function trackCreate(update: TrackedUpdate): ManagedFieldsEntry[] | undefined {
  const fieldsV1 = createdFields(update.after as unknown as JsonObject, update);
  if (fieldsV1 === undefined) return undefined;
  const entry: ManagedFieldsEntry = {
    manager: managerName(update.manager),
    operation: "Update",
    apiVersion: update.apiVersion,
    time: rfc3339Seconds(update.nowMs),
    fieldsType: "FieldsV1",
    fieldsV1,
  };
  if (update.subresource) entry.subresource = update.subresource;
  return [entry];
}

/** Clients may write managedFields. Absent or malformed ones are replaced by the stored ones; a subresource always takes the stored ones. */
function managersOfRequest({ before, after, subresource }: TrackedUpdate): Managers {
  const sent = after.metadata?.managedFields;
  if (subresource === "") {
    if (isReset(sent)) return new Map();
    const managers = decodeManagedFields(sent);
    if (managers && managers.size > 0) return managers;
  }
  return decodeManagedFields(before?.metadata?.managedFields) ?? new Map<string, Manager>();
}

/** The managers after `update.manager` has changed `before` to `after`; undefined = the change cannot be computed and owners stay. */
export function updatedManagers(
  managers: Managers,
  update: FieldContext & Pick<TrackedUpdate, "manager" | "nowMs">,
  before: JsonObject,
  after: JsonObject,
): Managers | undefined {
  const comparison = new VersionedComparison(update, before, after);
  const change = comparison.in(update.apiVersion);
  if (change === undefined || change === "unserved") return undefined;
  const current = reconciled(managers, (apiVersion) => formOf(update, apiVersion)?.schema);
  const taken = takeFields(current, comparison, undefined);
  if (!taken) return undefined;
  if (isSame(change)) return taken.managers;
  const own = tracked(change.modified.union(change.added));
  if (own.isEmpty()) return taken.managers;
  const { apiVersion, subresource } = update;
  const name = managerName(update.manager);
  const identity = identityOf(name, "Update", apiVersion, subresource);
  const fields = taken.managers.get(identity)?.fields.union(own) ?? own;
  const time = rfc3339Seconds(update.nowMs);
  const previous = current.get(identity);
  const entry: Manager = previous
    ? { ...withFields(previous, fields), time }
    : { manager: name, operation: "Update", apiVersion, subresource, time, fields };
  taken.managers.set(identity, entry);
  return capped(taken.managers);
}

/** Merges the oldest updaters of each version into one until the limit holds. */
function capped(managers: Managers): Managers {
  const updaters = [...managers]
    .filter(([, manager]) => manager.operation === "Update")
    .map(([identity, manager]) => ({ identity, manager, time: timeOf(manager) }));
  let surplus = updaters.length - UPDATE_MANAGERS_MAX;
  if (surplus <= 0) return managers;
  updaters.sort((a, b) => a.time - b.time || compareTexts(a.identity, b.identity));
  const result = new Map(managers);
  const oldest = new Map<string, string>();
  const merged = new Map<string, PathSet[]>();
  for (const { identity, manager } of updaters) {
    if (surplus <= 0) break;
    const { apiVersion } = manager;
    const first = oldest.get(apiVersion);
    if (first === undefined) {
      oldest.set(apiVersion, identity);
      merged.set(apiVersion, [manager.fields]);
      continue;
    }
    const bucket = identityOf(OLD_CHANGES, "Update", apiVersion, "");
    const inBucket = identity === bucket || first === bucket ? undefined : result.get(bucket)?.fields;
    merged.get(apiVersion)?.push(manager.fields, ...(inBucket ? [inBucket] : []));
    result.delete(first);
    result.delete(identity);
    const { time, fields } = manager;
    result.set(bucket, { manager: OLD_CHANGES, operation: "Update", apiVersion, subresource: "", time, fields });
    oldest.set(apiVersion, bucket);
    surplus -= inBucket ? 2 : 1;
  }
  for (const [apiVersion, identity] of oldest) {
    const sets = merged.get(apiVersion) ?? [];
    const entry = result.get(identity);
    // united once, however many they are
    if (entry && sets.length > 1) result.set(identity, { ...entry, fields: PathSet.unionOf(sets) });
  }
  return result;
}
