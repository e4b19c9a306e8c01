/** Query options of POST, PUT and PATCH, with upstream's texts. Source: apimachinery pkg/apis/meta/v1/validation. */
import { type FieldError, forbiddenField, notSupported, required } from "../../../api/meta/field-errors";
import { FIELD_MANAGER_MAX_BYTES, fieldManagerErrors, isPrintable } from "../../../api/meta/field-manager";
import type { Status } from "../../../api/meta/status";
import type { FieldValidation, WriteOptions } from "../../../api/rpc/store";
import { err, ok, type Result } from "../../../core/base/result";
import { dryRunErrors, invalidOptions } from "./invalid-options";
import { queryBool } from "./query";

/** A manager that names itself in the query wins; else the client program's name. Source: managerOrUserAgent, prefixFromUserAgent. */
function managerOf(query: URLSearchParams, userAgent: string): string {
  const named = query.get("fieldManager");
  if (named) return named;
  const slash = userAgent.indexOf("/");
  const program = slash < 0 ? userAgent : userAgent.slice(0, slash);
  let manager = "";
  for (const character of program.slice(0, FIELD_MANAGER_MAX_BYTES)) if (isPrintable(character)) manager += character;
  return manager;
}

const FIELD_VALIDATIONS = ["", "Ignore", "Strict", "Warn"] as const;

/** Options of POST, PUT and PATCH. `group` and `version` are those of the URL; `apply` only for apply patches. */
export function parseWriteOptions(
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  query: URLSearchParams,
  context: { userAgent: string; group: string; version: string; apply?: boolean },
): Result<WriteOptions, Status> {
  const errors: FieldError[] = [];
  const apply = context.apply ?? false;
  const named = query.get("fieldManager") ?? "";
  const force = query.get("force");
  if (kind === "PatchOptions" && !apply && force !== null) {
    errors.push(forbiddenField("force", "may not be specified for non-apply patch"));
  }
  if (apply && named === "") errors.push(required("fieldManager", "is required for apply patch"));
  if (named !== "") errors.push(...fieldManagerErrors(named, "fieldManager"));
  const dryRun = query.getAll("dryRun");
  if (dryRun.length > 0) errors.push(...dryRunErrors(dryRun));
  const fieldValidation = query.get("fieldValidation") ?? "";
  if (!FIELD_VALIDATIONS.some((known) => known === fieldValidation)) {
    errors.push(notSupported("fieldValidation", fieldValidation, FIELD_VALIDATIONS));
  }
  if (errors.length > 0) return err(invalidOptions(kind, errors));
  return ok({
    dryRun: dryRun.length > 0,
    fieldManager: managerOf(query, context.userAgent),
    fieldValidation: fieldValidation === "" ? "Warn" : (fieldValidation as FieldValidation),
    force: apply && queryBool(query, "force"),
    group: context.group,
    version: context.version,
  });
}
