/** DeleteOptions of a request: from the body when there is one, else from the query (upstream apiserver pkg/endpoints/handlers/delete.go). */
import { err, ok, type Result } from "../../core/base/result";
import type { DeleteOptions } from "../../api/meta/kubernetes";
import { badRequest, requestTooLarge, type Status, unregisteredKind, unsupportedMediaType } from "../../api/meta/status";
import type { DeleteOptionsRequest } from "../../api/rpc/store";
import { DeleteOptionsSchema } from "../../api/schema/meta";
import { decodeDocument } from "../http/read/decode-body";
import { readBody } from "../http/read/read-body";
import { BODY_TYPES, bodyTypeOf } from "../http/read/content-type";
import { cascades, queryDeleteOptions, type RawDeleteOptions, validateDeleteOptions } from "../http/read/raw-delete-options";
import type { ResourceRequest } from "./resource-request";

const KIND = "DeleteOptions";

export interface ReadDeleteOptions {
  options: DeleteOptionsRequest;
  /** answers an object that stays with 202 */
  cascades: boolean;
}

export async function readDeleteOptions(request: ResourceRequest): Promise<Result<ReadDeleteOptions, Status>> {
  const bytes = await readBody(request);
  if (!bytes.ok) return bytes;
  const raw = bytes.value.length === 0 ? queryDeleteOptions(request.query) : bodyDeleteOptions(bytes.value, request);
  if (!raw.ok) return raw;
  const options = validateDeleteOptions(raw.value);
  return options.ok ? ok({ options: options.value, cascades: cascades(raw.value) }) : options;
}

/** Options of any apiVersion count: each group of upstream registers the kind. */
function bodyDeleteOptions(bytes: Uint8Array, { request }: ResourceRequest): Result<RawDeleteOptions, Status> {
  const type = bodyTypeOf(request.headers.get("Content-Type"));
  if (!type) return err(unsupportedMediaType(BODY_TYPES));
  const decoded = decodeDocument(bytes, type, DeleteOptionsSchema);
  // unlike an object's body: upstream sends the cause alone
  if (!decoded.ok) return err(decoded.error.reason === "size" ? requestTooLarge(decoded.error.cause) : badRequest(decoded.error.cause));
  const { kind, apiVersion } = decoded.value.typeMeta;
  if (kind !== "" && kind !== KIND) return err(badRequest(unregisteredKind(kind, apiVersion)));
  return ok(rawDeleteOptions(decoded.value.value as DeleteOptions));
}

/** The options of a decoded document. */
export function rawDeleteOptions(options: DeleteOptions): RawDeleteOptions {
  const raw: RawDeleteOptions = {};
  if (isGiven(options.gracePeriodSeconds)) raw.gracePeriodSeconds = options.gracePeriodSeconds;
  if (isGiven(options.propagationPolicy)) raw.propagationPolicy = options.propagationPolicy;
  if (isGiven(options.orphanDependents)) raw.orphanDependents = options.orphanDependents;
  if (isGiven(options.dryRun)) raw.dryRun = options.dryRun;
  const { uid, resourceVersion } = options.preconditions ?? {};
  raw.preconditions = { ...(isGiven(uid) ? { uid } : {}), ...(isGiven(resourceVersion) ? { resourceVersion } : {}) };
  return raw;
}

/** null in a body is absence, as in Go. */
function isGiven<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
