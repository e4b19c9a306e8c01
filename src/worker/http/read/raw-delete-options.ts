/** Query options of a delete, and the rules for those of query and body. Source: apimachinery pkg/apis/meta/v1/validation. */
import { type FieldError, invalidValue, notSupported } from "../../../api/meta/field-errors";
import type { Status } from "../../../api/meta/status";
import type { DeleteOptionsRequest, Preconditions } from "../../../api/rpc/store";
import type { Int64 } from "../../../core/encoding/exact-json";
import { err, ok, type Result } from "../../../core/base/result";
import { dryRunErrors, invalidOptions } from "./invalid-options";
import { queryBool, queryInt64 } from "./query";

/** DeleteOptions before validation, from a body or from the query. Absent members are undefined. */
export interface RawDeleteOptions {
  gracePeriodSeconds?: Int64;
  propagationPolicy?: string;
  orphanDependents?: boolean;
  dryRun?: readonly string[];
  preconditions?: Preconditions;
}

/**
 * Only read when the request has no body (upstream ignores the query otherwise). uid and resourceVersion are preconditions, in a deletion of
 * a collection too. Source: apimachinery pkg/apis/meta/v1/conversion.go.
 */
export function queryDeleteOptions(query: URLSearchParams): Result<RawDeleteOptions, Status> {
  const raw: RawDeleteOptions = {};
  if (query.has("gracePeriodSeconds")) {
    const seconds = queryInt64(query, "gracePeriodSeconds");
    if (!seconds.ok) return seconds;
    raw.gracePeriodSeconds = seconds.value;
  }
  const policy = query.get("propagationPolicy");
  if (policy !== null) raw.propagationPolicy = policy;
  if (query.has("orphanDependents")) raw.orphanDependents = queryBool(query, "orphanDependents");
  if (query.has("dryRun")) raw.dryRun = query.getAll("dryRun");
  const uid = query.get("uid");
  const resourceVersion = query.get("resourceVersion");
  if (uid || resourceVersion) raw.preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
  return ok(raw);
}

/** Whether the client has its dependents deleted with the object: while the object stays, its deletion is "accepted" (202). */
export function cascades({ orphanDependents, propagationPolicy }: RawDeleteOptions): boolean {
  return orphanDependents === false || propagationPolicy === "Foreground";
}

const POLICIES = ["Foreground", "Background", "Orphan"] as const;

/** Source: ValidateDeleteOptions; the deprecated orphanDependents becomes the policy it stands for. */
export function validateDeleteOptions(raw: RawDeleteOptions): Result<DeleteOptionsRequest, Status> {
  const errors: FieldError[] = [];
  const { propagationPolicy: policy, orphanDependents: orphan, dryRun = [] } = raw;
  if (orphan !== undefined && policy !== undefined) {
    errors.push(invalidValue("propagationPolicy", policy, "orphanDependents and deletionPropagation cannot be both set"));
  }
  const known = POLICIES.find((name) => name === policy);
  if (policy !== undefined && known === undefined) errors.push(notSupported("propagationPolicy", policy, [...POLICIES, "nil"]));
  errors.push(...dryRunErrors(dryRun));
  if (errors.length > 0) return err(invalidOptions("DeleteOptions", errors));
  const grace = raw.gracePeriodSeconds;
  return ok({
    dryRun: dryRun.length > 0,
    preconditions: raw.preconditions ?? {},
    propagationPolicy: known ?? (orphan === undefined ? "" : orphan ? "Orphan" : "Background"),
    // Upstream reads a negative grace period as "as short as a graceful one can be".
    gracePeriodSeconds: grace !== undefined && grace < 0 ? 1 : grace,
  });
}
