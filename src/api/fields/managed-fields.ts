/**
 * metadata.managedFields <-> who owns which fields.
 * Source: apimachinery pkg/util/managedfields/internal/managedfields.go (identity, order, what counts as malformed).
 */
import type { ObjectMeta } from "../meta/kubernetes";
import type { JsonValue } from "../schema/json/json-value";
import { parseTime } from "../meta/time";
import { PathSet } from "./path-set";

export type ManagedFieldsEntry = NonNullable<ObjectMeta["managedFields"]>[number];
export type ManagedFieldsOperation = "Apply" | "Update";

/** One manager and its fields. A value never changes: a new state is a new value. */
export interface Manager {
  manager: string;
  operation: ManagedFieldsOperation;
  /** version in which `fields` is written */
  apiVersion: string;
  subresource: string;
  /** RFC 3339; undefined = unknown */
  time: string | undefined;
  fields: PathSet;
  /** FieldsV1 of `fields` as read, so that an unchanged set is not encoded again */
  encoded?: object;
}

/** By identity, see `identityOf`. */
export type Managers = Map<string, Manager>;

/** The identity of the entry that a write continues. It has the version for updaters, not for appliers, and never the time. */
export function identityOf(manager: string, operation: ManagedFieldsOperation, apiVersion: string, subresource: string): string {
  return JSON.stringify({
    ...(manager ? { manager } : {}),
    operation,
    ...(operation === "Update" ? { apiVersion } : {}),
    ...(subresource ? { subresource } : {}),
  });
}

/** Manager of writes without a field manager and without a client's name. */
export function managerName(manager: string): string {
  return manager === "" ? "unknown" : manager;
}

/** Whether a client resets all managers: an empty list, or a list of one empty entry. `list` is the client's value. */
export function isReset(list: readonly unknown[] | undefined): boolean {
  if (list === undefined) return false;
  const [only] = list;
  return list.length === 0 || (list.length === 1 && typeof only === "object" && only !== null && Object.keys(only).length === 0);
}

/** undefined = malformed; the whole list then counts as absent. */
export function decodeManagedFields(list: readonly ManagedFieldsEntry[] | undefined): Managers | undefined {
  const managers: Managers = new Map();
  for (const entry of list ?? []) {
    const { manager = "", operation, apiVersion, subresource = "", time, fieldsType, fieldsV1 } = entry;
    if ((operation !== "Apply" && operation !== "Update") || !apiVersion || fieldsType !== "FieldsV1") return undefined;
    const fields = PathSet.fromFieldsV1((fieldsV1 ?? {}) as JsonValue);
    if (!fields) return undefined;
    const identity = identityOf(manager, operation, apiVersion, subresource);
    managers.set(identity, { manager, operation, apiVersion, subresource, time, fields, encoded: fieldsV1 });
  }
  return managers;
}

/** The entries in upstream's order; undefined when nobody owns anything. */
export function encodeManagedFields(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()]
    .map((manager) => ({ manager, time: timeOf(manager) }))
    .sort((a, b) => compareManagers(a.manager, b.manager, a.time - b.time))
    .map(({ manager }) => encodeManager(manager));
}

function encodeManager({ manager, operation, apiVersion, time, fields, encoded, subresource }: Manager): ManagedFieldsEntry {
  return {
    ...(manager ? { manager } : {}),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: "FieldsV1",
    fieldsV1: encoded ?? fields.toFieldsV1(),
    ...(subresource ? { subresource } : {}),
  };
}

/** Milliseconds of an entry's time, in whole seconds; 0 when unknown. */
export function timeOf(manager: Manager): number {
  return Math.floor((parseTime(manager.time) ?? 0) / 1000) * 1000;
}

function compareManagers(a: Manager, b: Manager, times: number): number {
  return (
    compareTexts(a.operation, b.operation) ||
    times ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}

export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A manager with another set of fields, or with the same and then unchanged. */
export function withFields(manager: Manager, fields: PathSet): Manager {
  return fields.equals(manager.fields) ? manager : { ...manager, fields, encoded: undefined };
}

/**
 * Whether two lists are equal but for their times. A write that changes nothing else keeps the stored list and the
 * resourceVersion (apiserver fieldmanager IgnoreManagedFieldsTimestampsTransformer).
 */
export function onlyTimesDiffer(a: readonly ManagedFieldsEntry[] | undefined, b: readonly ManagedFieldsEntry[] | undefined): boolean {
  if ((a?.length ?? 0) !== (b?.length ?? 0)) return false;
  const left = decodeManagedFields(a);
  const right = decodeManagedFields(b);
  if (!left || !right || left.size !== right.size) return false;
  for (const [identity, manager] of left) {
    const twin = right.get(identity);
    if (!twin || twin.apiVersion !== manager.apiVersion || !twin.fields.equals(manager.fields)) return false;
  }
  return true;
}
