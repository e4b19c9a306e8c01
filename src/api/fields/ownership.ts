/** How a change of an object changes the fields that its managers own (structured-merge-diff merge/update.go). */
import type { JsonObject } from "../schema/json/json-value";
import type { MessageSchema } from "../schema/types";
import { type Comparison, compareObjects } from "./compare";
import { FieldsSize } from "./fields-size";
import { type Managers, withFields } from "./managed-fields";
import type { PathSet } from "./path-set";

/** Conversion of a resource's objects to the form of another version or group. */
export interface ServedForm {
  schema: MessageSchema;
  /** from the form of the request, and back; absent = the same form */
  convert?: { from(object: JsonObject): JsonObject; to(object: JsonObject): JsonObject };
}

/** The facts that stay the same during one request. */
export interface FieldContext {
  schema: MessageSchema;
  /** of the request, `v1` or `group/version` */
  apiVersion: string;
  subresource: string;
  /** the kind has a status endpoint: writes to the main one do not own status, writes to status do not own spec */
  hasStatus: boolean;
  /** forms of other versions in which managers may have written; undefined = no such version, its managers are forgotten */
  otherForm?(apiVersion: string): ServedForm | undefined;
}

/** Top-level members that this endpoint does not write, so a write to it does not own them (upstream: GetResetFields). */
export function ignoredMembers({ hasStatus, subresource }: FieldContext): readonly string[] {
  if (!hasStatus) return [];
  return subresource === "status" ? ["spec"] : ["status"];
}

export function formOf(context: FieldContext, apiVersion: string): ServedForm | undefined {
  return apiVersion === context.apiVersion ? { schema: context.schema } : context.otherForm?.(apiVersion);
}

/** Compares two states in each version that managers use, each version once; undefined = a list has items without keys. */
export class VersionedComparison {
  private readonly known = new Map<string, Comparison | undefined>();

  constructor(
    private readonly context: FieldContext,
    private readonly before: JsonObject,
    private readonly after: JsonObject,
  ) {}

  /** "unserved" = the version is no longer served. */
  in(apiVersion: string): Comparison | undefined | "unserved" {
    if (this.known.has(apiVersion)) return this.known.get(apiVersion);
    const form = formOf(this.context, apiVersion);
    if (!form) return "unserved";
    const ignored = ignoredMembers(this.context);
    const same = form.schema === this.context.schema && !form.convert && apiVersion !== this.context.apiVersion;
    // What the request's own version adds is stored with the object.
    const size = apiVersion === this.context.apiVersion ? new FieldsSize() : undefined;
    const comparison = same ? this.in(this.context.apiVersion) : this.compare(form, ignored, size);
    if (comparison === "unserved") return comparison;
    this.known.set(apiVersion, comparison);
    return comparison;
  }

  private compare({ schema, convert }: ServedForm, ignored: readonly string[], added: FieldsSize | undefined): Comparison | undefined {
    if (!convert) return compareObjects(this.before, this.after, schema, ignored, added);
    return compareObjects(convert.from(this.before), convert.from(this.after), schema, ignored, added);
  }
}

export interface Taken {
  /** what each other manager owns of the fields that were added or changed, by identity */
  conflicts: Map<string, PathSet>;
  /** the managers without these fields and without removed ones */
  managers: Managers;
}

/** The managers other than `except` after a change; undefined = the change cannot be computed. */
export function takeFields(managers: Managers, comparison: VersionedComparison, except: string | undefined): Taken | undefined {
  const conflicts = new Map<string, PathSet>();
  const left: Managers = new Map();
  for (const [identity, manager] of managers) {
    if (identity === except) {
      left.set(identity, manager);
      continue;
    }
    const change = comparison.in(manager.apiVersion);
    if (change === undefined) return undefined;
    if (change === "unserved") continue;
    const lost = manager.fields.intersection(change.modified).union(manager.fields.intersection(change.added));
    if (!lost.isEmpty()) conflicts.set(identity, lost);
    const kept = withFields(manager, manager.fields.difference(lost).difference(change.removed));
    if (!kept.fields.isEmpty()) left.set(identity, kept);
  }
  return { conflicts, managers: left };
}
