/**
 * Query options of writes, gets, lists and watches: parsed and validated with upstream's texts.
 * Source: apimachinery pkg/apis/meta/v1/validation, pkg/apis/meta/internalversion/validation; conversions of query values as in
 * apimachinery pkg/conversion/queryparams and pkg/runtime/conversion.go.
 */
import { err, ok, type Result } from "../../core/base/result";
import { type FieldError, forbiddenField, invalidValue, notSupported, required, tooLong } from "../../api/meta/field-errors";
import { badRequest, invalid, type Status } from "../../api/meta/status";
import type { CollectionRequest, DeleteOptionsRequest, FieldValidation, Preconditions, WriteOptions } from "../../api/rpc/store";
import { parseDuration } from "./duration";
import { FIELD_MANAGER_MAX_BYTES } from "./limits";

export type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions" | "ListOptions";

/** 422 about options: `ListOptions.meta.k8s.io "" is invalid: …`. */
function invalidOptions(kind: OptionsKind, errors: readonly FieldError[]): Status {
  return invalid({ group: "meta.k8s.io", resource: "", kind }, "", errors);
}

/** Go's conversion of a query value: everything but "false" and "0" is true, the empty value too; absence is false. */
export function queryBool(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** A query integer; absent or empty = 0. The error is Go's. */
function queryInt(query: URLSearchParams, name: string): Result<number, Status> {
  const text = query.get(name) ?? "";
  if (text === "") return ok(0);
  if (!/^[-+]?\d+$/.test(text)) return err(badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`));
  const value = Number(text);
  if (!Number.isSafeInteger(value)) return err(badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`));
  return ok(value);
}

function dryRunErrors(values: readonly string[]): FieldError[] {
  if (values.every((value) => value === "All")) return [];
  const printed = `[]string{${values.map((value) => JSON.stringify(value)).join(", ")}}`;
  return [{ field: "dryRun", body: `Unsupported value: ${printed}: supported values: "All"`, reason: "FieldValueNotSupported" }];
}

const encoder = new TextEncoder();

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
function isPrintable(character: string): boolean {
  return character === " " || !/[\p{C}\p{Z}]/u.test(character);
}

function fieldManagerErrors(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (encoder.encode(manager).length > FIELD_MANAGER_MAX_BYTES) {
    errors.push(tooLong("fieldManager", `may not be more than ${FIELD_MANAGER_MAX_BYTES} bytes`));
  }
  let position = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalidValue("fieldManager", manager, `invalid character U+${code} (at position ${position})`));
    }
    position += encoder.encode(character).length;
  }
  return errors;
}

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
  if (named !== "") errors.push(...fieldManagerErrors(named));
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

/** DeleteOptions before validation, from a body or from the query. Absent members are undefined. */
export interface RawDeleteOptions {
  gracePeriodSeconds?: number;
  propagationPolicy?: string;
  orphanDependents?: boolean;
  dryRun?: readonly string[];
  preconditions?: Preconditions;
}

/** Only read when the request has no body (upstream ignores the query otherwise). */
export function queryDeleteOptions(query: URLSearchParams): Result<RawDeleteOptions, Status> {
  const raw: RawDeleteOptions = {};
  if (query.has("gracePeriodSeconds")) {
    const seconds = queryInt(query, "gracePeriodSeconds");
    if (!seconds.ok) return seconds;
    raw.gracePeriodSeconds = seconds.value;
  }
  const policy = query.get("propagationPolicy");
  if (policy !== null) raw.propagationPolicy = policy;
  if (query.has("orphanDependents")) raw.orphanDependents = queryBool(query, "orphanDependents");
  if (query.has("dryRun")) raw.dryRun = query.getAll("dryRun");
  return ok(raw);
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

const UINT64_MAX = "18446744073709551615";

/** A resourceVersion in a query: decimal digits or "". Upstream: storage/etcd3 ParseResourceVersion. */
export function resourceVersionProblem(text: string): FieldError | undefined {
  if (text === "") return undefined;
  const quoted = JSON.stringify(text);
  if (!/^\d+$/.test(text)) return invalidValue("resourceVersion", text, `strconv.ParseUint: parsing ${quoted}: invalid syntax`);
  const digits = text.replace(/^0+/, "");
  if (digits.length > UINT64_MAX.length || (digits.length === UINT64_MAX.length && digits > UINT64_MAX)) {
    return invalidValue("resourceVersion", text, `strconv.ParseUint: parsing ${quoted}: value out of range`);
  }
  return undefined;
}

/** 400 of reads. */
export function invalidResourceVersion(problem: FieldError): Status {
  return badRequest(`invalid resource version: ${problem.field}: ${problem.body}`);
}

/** The part of a CollectionRequest that comes from the query. */
export type CollectionOptions = Omit<
  CollectionRequest,
  "verb" | "namespace" | "group" | "version" | "resource" | "representation" | "deleteOptions"
>;

/** Query of list, watch and deletecollection. Selectors are parsed by the store, which has to parse them anyway. */
export function parseCollectionOptions(query: URLSearchParams, watch: boolean): Result<CollectionOptions, Status> {
  const limit = queryInt(query, "limit");
  if (!limit.ok) return limit;
  const timeout = queryInt(query, "timeoutSeconds");
  if (!timeout.ok) return timeout;
  const options: CollectionOptions = {
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    limit: Math.max(0, limit.value),
    continueToken: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    allowWatchBookmarks: queryBool(query, "allowWatchBookmarks"),
    sendInitialEvents: query.has("sendInitialEvents") ? queryBool(query, "sendInitialEvents") : undefined,
    timeoutSeconds: Math.max(0, timeout.value),
  };
  const errors = watch ? watchErrors(options, query) : listErrors(options, query);
  if (errors.length > 0) return err(invalidOptions("ListOptions", errors));
  if (!watch && options.continueToken !== "" && options.resourceVersion !== "" && options.resourceVersion !== "0") {
    return err(badRequest("specifying resource version is not allowed when using continue"));
  }
  return ok(options);
}

const MATCH = "resourceVersionMatch";

function listErrors(options: CollectionOptions, query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = [];
  const match = options.resourceVersionMatch;
  if (match !== "") {
    if (options.resourceVersion === "")
      errors.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (options.continueToken !== "") errors.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan") errors.push(notSupported(MATCH, match, ["Exact", "NotOlderThan", ""]));
    if (match === "Exact" && options.resourceVersion === "0") {
      errors.push(forbiddenField(MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.has("sendInitialEvents")) errors.push(forbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  return errors;
}

function watchErrors(options: CollectionOptions, query: URLSearchParams): FieldError[] {
  const errors: FieldError[] = [];
  const match = options.resourceVersionMatch;
  const initialEvents = query.has("sendInitialEvents");
  if (initialEvents && match !== "NotOlderThan") {
    errors.push(forbiddenField(MATCH, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (match !== "") {
    if (!initialEvents)
      errors.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
    if (match !== "NotOlderThan") errors.push(notSupported(MATCH, match, ["NotOlderThan"]));
    if (options.continueToken !== "") errors.push(forbiddenField(MATCH, "resourceVersionMatch is forbidden when continue is provided"));
  }
  return errors;
}

/** The `timeout` parameter that --request-timeout adds: its milliseconds, 0 when absent. Source: filters/request_deadline.go. */
export function parseTimeout(query: URLSearchParams): Result<number, Status> {
  const text = query.get("timeout");
  if (!text) return ok(0);
  const duration = parseDuration(text);
  if (!duration.ok) return err(badRequest(`invalid timeout specified in the request URL - ${duration.message}`));
  return ok(Math.max(0, duration.ms));
}
