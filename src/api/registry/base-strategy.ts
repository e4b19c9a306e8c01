/** The strategy that kinds start from, and the steps that several of them share. */
import type { FieldError } from "../meta/field-errors";
import type { KubeObject, ObjectMeta } from "../meta/kubernetes";
import { validateDNS1123Subdomain } from "../meta/names";
import type { Change, Strategy } from "./resource";

const NO_ERRORS: FieldError[] = [];
const NO_WARNINGS: string[] = [];

/** Accepts every object whose name is a DNS subdomain. Kinds override the steps that they have rules for. */
export const BASE_STRATEGY: Strategy<KubeObject> = {
  validateName: validateDNS1123Subdomain,
  defaults: () => undefined,
  prepareForCreate: () => undefined,
  validate: () => NO_ERRORS,
  prepareForUpdate: () => undefined,
  validateUpdate: () => NO_ERRORS,
  prepareForStatusUpdate: keepAllButStatus,
  validateStatusUpdate: () => NO_ERRORS,
  warnings: () => NO_WARNINGS,
};

/** Main endpoint: the stored status stays. */
export function keepStatus(change: Change<KubeObject>): void {
  keepMembers(change, (key) => key === "status");
}

/** Status endpoint: everything but metadata and status stays as stored. */
export function keepAllButStatus(change: Change<KubeObject>): void {
  keepMembers(change, (key) => key !== "status" && key !== "metadata");
}

/** Members of metadata that some kinds keep as stored on the status endpoint. */
const KEPT_METADATA = ["labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"] as const;

/** Status endpoint: what clients write of metadata stays as stored, too. Upstream: ResetObjectMetaForStatus of apimachinery. */
export function takeStatusAlone(change: Change<KubeObject>): void {
  keepAllButStatus(change);
  const to: ObjectMeta = (change.after.metadata ??= {});
  const from: ObjectMeta = change.before.metadata ?? {};
  for (const key of KEPT_METADATA) {
    if (from[key] === undefined) delete to[key];
    else Object.assign(to, { [key]: from[key] });
  }
}

/** Sets the top-level members that `kept` accepts back to the stored ones. */
export function keepMembers(change: Change<KubeObject>, kept: (key: string) => boolean): void {
  const after = change.after as Record<string, unknown>;
  const before = change.before as Record<string, unknown>;
  for (const key of Object.keys(after)) if (kept(key) && !(key in before)) delete after[key];
  for (const key of Object.keys(before)) if (kept(key)) after[key] = before[key];
}

/** Create: clients may not set the status. */
export function dropStatus(object: KubeObject & { status?: unknown }): void {
  if (object.status !== undefined) delete object.status;
}
