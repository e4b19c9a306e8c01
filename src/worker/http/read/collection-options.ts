/** Query options of list, watch and deletecollection, with upstream's texts. Source: apimachinery pkg/apis/meta/internalversion/validation. */
import { type FieldError, forbiddenField, invalidValue, notSupported } from "../../../api/meta/field-errors";
import { revisionProblem } from "../../../api/meta/preconditions";
import { badRequest, type Status } from "../../../api/meta/status";
import type { CollectionRequest } from "../../../api/rpc/store";
import { err, ok, type Result } from "../../../core/base/result";
import { invalidOptions } from "./invalid-options";
import { queryBool, queryInt } from "./query";

/** A resourceVersion in a query: decimal digits or "". Upstream: storage/etcd3 ParseResourceVersion. */
export function resourceVersionProblem(text: string): FieldError | undefined {
  const problem = revisionProblem(text);
  return problem === undefined ? undefined : invalidValue("resourceVersion", text, problem);
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
    timeoutSeconds: timeout.value,
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
