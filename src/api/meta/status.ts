/**
 * The Kubernetes Status: the one form in which a refusal leaves this server.
 * Source of codes, reasons and texts: upstream apimachinery pkg/api/errors.
 */
import { boundedStatus } from "./bounded-status";
import { ERRORS_MAX, type FieldError } from "./field-errors";

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

/** A failure, or the success of a deletion, as clients read it. `code` is also the HTTP status. */
export interface Status {
  kind: "Status";
  apiVersion: "v1";
  metadata: { continue?: string; resourceVersion?: string };
  status: "Success" | "Failure";
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

/** The resource and kind that a Status is about. `group` is "" for core. */
export interface ResourceName {
  group: string;
  resource: string;
  kind: string;
}

function failure(code: number, reason: string, message: string, details?: StatusDetails): Status {
  return boundedStatus({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    reason,
    ...(details ? { details } : {}),
    code,
  });
}

/** `services`, `leases.coordination.k8s.io` */
export function qualifiedResource(of: Pick<ResourceName, "group" | "resource">): string {
  return of.group ? `${of.resource}.${of.group}` : of.resource;
}

/** `Service`, `Lease.coordination.k8s.io` */
function qualifiedKind(of: ResourceName): string {
  return of.group ? `${of.kind}.${of.group}` : of.kind;
}

function detailsOf(of: ResourceName, name: string, kind: string = of.resource): StatusDetails {
  return { ...(name ? { name } : {}), ...(of.group ? { group: of.group } : {}), ...(kind ? { kind } : {}) };
}

export function notFound(of: ResourceName, name: string): Status {
  return failure(404, "NotFound", `${qualifiedResource(of)} "${name}" not found`, detailsOf(of, name));
}

export function alreadyExists(of: ResourceName, name: string, deleting = false): Status {
  const text = `${qualifiedResource(of)} "${name}" already exists`;
  return failure(409, "AlreadyExists", deleting ? `object is being deleted: ${text}` : text, detailsOf(of, name));
}

const OBJECT_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(of: ResourceName, name: string, why: string = OBJECT_MODIFIED, text: string = qualifiedResource(of)): Status {
  return failure(409, "Conflict", `Operation cannot be fulfilled on ${text} "${name}": ${why}`, detailsOf(of, name));
}

/** 422 with field errors as causes; the message has identical texts once. */
export function invalid(of: ResourceName, name: string, errors: readonly FieldError[]): Status {
  const reported = errors.length > ERRORS_MAX ? errors.slice(0, ERRORS_MAX) : errors;
  const texts = [...new Set(reported.map((e) => `${e.field}: ${e.body}`))];
  if (errors.length > reported.length) texts.push("further errors are not listed");
  const joined = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  return failure(422, "Invalid", `${qualifiedKind(of)} "${name}" is invalid: ${joined}`, {
    ...detailsOf(of, name, of.kind),
    causes: reported.map((e) => ({ reason: e.reason, message: e.body, field: e.field })),
  });
}

export function forbidden(of: ResourceName, name: string, why: string, causes?: StatusCause[]): Status {
  const subject = name ? `${qualifiedResource(of)} "${name}"` : qualifiedResource(of);
  return failure(403, "Forbidden", `${subject} is forbidden: ${why}`, { ...detailsOf(of, name), ...(causes ? { causes } : {}) });
}

/** 403 of a request for a path. */
export function forbiddenPath(why: string): Status {
  return failure(403, "Forbidden", `forbidden: ${why}`, {});
}

/** Nobody is known to have sent the request. Upstream says no more, whatever is wrong with a credential. */
export function unauthorized(): Status {
  return failure(401, "Unauthorized", "Unauthorized");
}

/** The host that a request names is none of this server's. */
export function foreignHost(authority: string): Status {
  const why = `this server answers to addresses, localhost and the names of --allowed-host, not to ${JSON.stringify(authority)}`;
  return failure(403, "Forbidden", `forbidden: ${why}`, {});
}

/** A page of another origin asks for a write or a WebSocket. */
export function foreignPage(): Status {
  return failure(403, "Forbidden", "forbidden: pages of other origins may neither write nor open WebSockets", {});
}

export function badRequest(message: string): Status {
  return failure(400, "BadRequest", message);
}

/** The cause when a document is of a kind that does not belong there. Text: upstream apimachinery pkg/runtime/error.go, which names a line of its source. */
export function unregisteredKind(kind: string, apiVersion: string): string {
  return `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}

export function unsupportedMediaType(accepted: readonly string[]): Status {
  return failure(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  );
}

/** A media type that upstream's router has no PATCH for: it answers before anything else looks at the request. */
export function unroutedMediaType(): Status {
  return failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

/** No clause of the Accept header asks for a form that there is: a Table in protobuf, a list of an object. */
export function notAcceptable(accepted: readonly string[]): Status {
  return failure(406, "NotAcceptable", `only the following media types are accepted: ${accepted.join(", ")}`);
}

/** No clause of the Accept header names a media type of the path. Upstream's router answers this before anything else looks at the request. */
export function noRepresentation(available: readonly string[]): Status {
  return failure(406, "NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${available.join(", ")}`, {});
}

export function requestTooLarge(message: string): Status {
  return failure(413, "RequestEntityTooLarge", message);
}

export function methodNotAllowed(message = "the server does not allow this method on the requested resource"): Status {
  return failure(405, "MethodNotAllowed", message, {});
}

/** An unknown resource or subresource inside a served group and version. */
export function unknownResource(): Status {
  return failure(404, "NotFound", "the server could not find the requested resource", {});
}

export function expired(message: string): Status {
  return failure(410, "Expired", message);
}

export function tooManyRequests(message: string, retryAfterSeconds: number): Status {
  return failure(429, "TooManyRequests", message, { retryAfterSeconds });
}

/** The server is at its limit of requests. Text and seconds: upstream apiserver server/filters/maxinflight.go, which sends them without a Status. */
export function overloaded(retryAfterSeconds = 1): Status {
  return tooManyRequests("Too many requests, please try again later.", retryAfterSeconds);
}

export function serviceUnavailable(message: string, retryAfterSeconds: number): Status {
  return failure(503, "ServiceUnavailable", message, { retryAfterSeconds });
}

/** What stands behind a proxy does not answer. Text: upstream apimachinery util/proxy/transport.go. */
export function unreachable(why: string): Status {
  return failure(503, "ServiceUnavailable", `error trying to reach service: ${why}`);
}

export function internalError(message: string): Status {
  return failure(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** List, get or watch from a revision that the store has not reached; `wanted` in digits, because it may exceed a safe integer. */
export function revisionTooLarge(wanted: string, current: number): Status {
  return failure(504, "Timeout", `Timeout: Too large resource version: ${wanted.replace(/^0+/, "")}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

export function timeout(message: string): Status {
  return failure(504, "Timeout", `Timeout: ${message}`, {});
}

/** The time of a request is over; its effects may still happen. Text: upstream apiserver server/filters/timeout.go. */
export function requestTimedOut(): Status {
  return timeout("request did not complete within the allotted timeout");
}

/** The answer to a finished deletion of a kind that does not return the object. */
export function deleted(of: ResourceName, name: string, uid: string): Status {
  const details = { ...detailsOf(of, name), uid };
  return boundedStatus({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details, code: 200 });
}

/** The answer to a document that took effect and is not stored. */
export function created(): Status {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
}

/** The answer to a request of this server's own API that has been carried out, or (202) begun, and has no object to return. */
export function succeeded(code: number, message: string, details?: StatusDetails): Status {
  return boundedStatus({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    message,
    ...(details ? { details } : {}),
    code,
  });
}

/** An error for which upstream sends no reason. */
export function unclassified(message: string): Status {
  return boundedStatus({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 });
}
