/**
 * Server-side apply. Source: apimachinery pkg/util/managedfields/internal (fieldmanager.go, structuredmerge.go, skipnonapplied.go,
 * versioncheck.go, lastappliedmanager.go) and structured-merge-diff merge/update.go.
 */
import { err, ok, type Result } from "../../core/base/result";
import type { KubeObject } from "../meta/kubernetes";
import { isJsonObject, type JsonObject } from "../schema/json/json-value";
import { badRequest, type Status, unclassified } from "../meta/status";
import { rfc3339Seconds } from "../meta/time";
import { checkConfig, joinedErrors } from "./check-config";
import { compareObjects, isSame } from "./compare";
import { type Conflict, conflictsOf, conflictStatus } from "./conflict";
import { fieldSetOf, tracked } from "./field-set-of";
import { fieldsLastApplied, KUBECTL, withLastApplied } from "./last-applied";
import {
  decodeManagedFields,
  encodeManagedFields,
  identityOf,
  type ManagedFieldsEntry,
  type Manager,
  type Managers,
  withFields,
} from "./managed-fields";
import { mergeObjects } from "./merge";
import { type FieldContext, formOf, ignoredMembers, takeFields, VersionedComparison } from "./ownership";
import { prune } from "./prune";
import { reconciled } from "./reconcile";
import { updatedManagers } from "./update";

/** The manager of a whole object that nobody tracked before its first apply. */
const BEFORE_FIRST_APPLY = "before-first-apply";

export interface ApplyRequest extends FieldContext {
  /** the stored object in the form of the request, without kind and apiVersion; undefined = it does not exist yet */
  live: KubeObject | undefined;
  /** the parsed body, kind and apiVersion included */
  config: JsonObject;
  /** kind that the URL of the request names */
  kind: string;
  /** never empty: the Worker refuses an empty one */
  manager: string;
  force: boolean;
  /** milliseconds since the epoch */
  nowMs: number;
}

export interface Applied {
  /** neither decoded nor defaulted yet: null may stand for an absent member; without kind, apiVersion and managedFields */
  object: KubeObject;
  /** the new metadata.managedFields; undefined = nobody owns anything */
  managedFields: ManagedFieldsEntry[] | undefined;
}

/**
 * Merges the configuration into the live object, removes fields that the manager has dropped, and computes the new owners. Errors: 400 for a
 * configuration of another type or with managedFields; 500 for one that does not fit the schema. 409 has one cause for each field of others that it
 * would change. Changes none of its inputs.
 */
export function applyConfiguration(request: ApplyRequest): Result<Applied, Status> {
  const refused = checkType(request);
  if (refused) return err(refused);
  const { apiVersion: _version, kind: _kind, ...config } = request.config;
  const errors = checkConfig(config, request.schema);
  if (errors.length > 0) return err(untyped(request, joinedErrors(errors)));
  const live = withoutManagedFields((request.live ?? {}) as unknown as JsonObject);
  const managers = managersBefore(request, live);
  const attempt = attemptApply(request, live, config, managers);
  if (attempt === undefined) return err(unclassified("failed to compare objects: a list item has none of its keys"));
  const blocking = request.force ? [] : request.manager === KUBECTL ? unexplained(attempt.conflicts, request, live) : attempt.conflicts;
  if (blocking.length > 0) return err(conflictStatus(blocking));
  const object = request.manager === KUBECTL ? withLastApplied(attempt.object, request.config) : attempt.object;
  return ok({ object: object as unknown as KubeObject, managedFields: encodeManagedFields(attempt.managers) });
}

function checkType({ config, apiVersion, kind }: ApplyRequest): Status | undefined {
  const sentVersion = typeof config.apiVersion === "string" ? config.apiVersion : "";
  const sentKind = typeof config.kind === "string" ? config.kind : "";
  if (sentKind !== kind || sentVersion !== apiVersion) return badRequest(`invalid object type: ${typeText(sentVersion, sentKind)}`);
  const metadata = config.metadata;
  const managedFields = isJsonObject(metadata) ? metadata.managedFields : undefined;
  return managedFields === undefined || managedFields === null ? undefined : badRequest("metadata.managedFields must be nil");
}

/** `/v1, Kind=Service`: Go writes the slash of an empty group too. */
function typeText(apiVersion: string, kind: string): string {
  return `${apiVersion.includes("/") ? "" : "/"}${apiVersion}, Kind=${kind}`;
}

function untyped({ config, apiVersion, kind }: ApplyRequest, why: string): Status {
  const metadata = isJsonObject(config.metadata) ? config.metadata : {};
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const name = `${text(metadata.namespace)}/${text(metadata.name)}`;
  return unclassified(`failed to create typed patch object (${name}; ${typeText(apiVersion, kind)}): ${why}`);
}

/** The owners before this apply; an untracked object belongs to one manager as a whole. */
function managersBefore(request: ApplyRequest, live: JsonObject): Managers {
  const managers = decodeManagedFields(request.live?.metadata?.managedFields);
  if (managers && managers.size > 0) return managers;
  if (!request.live) return new Map<string, Manager>();
  return updatedManagers(new Map(), { ...request, manager: BEFORE_FIRST_APPLY }, {}, live) ?? new Map<string, Manager>();
}

interface ApplyAttempt {
  object: JsonObject;
  managers: Managers;
  /** the conflicts that only `force` overcomes */
  conflicts: Conflict[];
}

/** The apply as if it were forced. */
function attemptApply(request: ApplyRequest, live: JsonObject, config: JsonObject, before: Managers): ApplyAttempt | undefined {
  const { schema, apiVersion, subresource, manager } = request;
  const managers = reconciled(before, (version) => formOf(request, version)?.schema);
  const identity = identityOf(manager, "Apply", apiVersion, subresource);
  const last = managers.get(identity);
  const fields = fieldSetOf(config, schema, ignoredMembers(request));
  managers.set(identity, { manager, operation: "Apply", apiVersion, subresource, time: last?.time, fields });
  const object = prune(mergeObjects(live, config, schema), last, managers, request);
  const taken = takeFields(managers, new VersionedComparison(request, live, object), identity);
  const change = compareObjects(live, object, schema);
  if (!taken || !change) return undefined;
  const own = tracked(fields);
  const sameFields = last !== undefined && last.apiVersion === apiVersion && own.equals(last.fields);
  const time = sameFields && isSame(change) && last.time !== undefined ? last.time : rfc3339Seconds(request.nowMs);
  const entry: Manager = { manager, operation: "Apply", apiVersion, subresource, time, fields: own };
  if (own.isEmpty()) taken.managers.delete(identity);
  else taken.managers.set(identity, sameFields ? { ...withFields(last, own), time } : entry);
  return { object, managers: taken.managers, conflicts: conflictsOf(taken.conflicts, managers) };
}

/** The conflicts of `kubectl`, except for those with its own client-side apply. */
function unexplained(conflicts: readonly Conflict[], request: ApplyRequest, live: JsonObject): readonly Conflict[] {
  if (conflicts.length === 0) return conflicts;
  const explained = fieldsLastApplied(live, request.schema, request.apiVersion);
  return explained ? conflicts.filter(({ path }) => !explained.has(path)) : conflicts;
}

function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata) || !Object.hasOwn(object.metadata, "managedFields")) return object;
  const { managedFields: _old, ...metadata } = object.metadata;
  return { ...object, metadata };
}
