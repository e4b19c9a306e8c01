/**
 * POST of a document to a create-only subresource. The document acts on the object and is not stored. ../dispatch/object-routes.ts has the
 * create-only subresources that are answered without an act. Upstream: apiserver endpoints/handlers/create.go with the REST of the subresource.
 */
import type { DeleteOptions, KubeObject } from "../../api/meta/kubernetes";
import { collected } from "../../api/meta/field-errors";
import { badRequest, created, type Status, unclassified } from "../../api/meta/status";
import type { ActionDefinition } from "../../api/registry/resource";
import type { WriteOptions, WriteRequest } from "../../api/rpc/store";
import { assert } from "../../core/base/assert";
import { err, ok, type Result } from "../../core/base/result";
import type { RefusedWrite } from "../access/judged-write";
import { namespaceMismatch } from "../http/read/body-names";
import { readObject } from "../http/read/read-object";
import { rawDeleteOptions } from "./delete-options";
import { validateDeleteOptions } from "../http/read/raw-delete-options";
import { parseWriteOptions } from "../http/read/write-options";
import { refuse, type ResourceRequest, succeed } from "./resource-request";
import { write } from "./write";

export async function act(request: ResourceRequest, action: ActionDefinition): Promise<Response> {
  const { definition, namespace, version } = request.info;
  const { userAgent } = request;
  const options = parseWriteOptions("CreateOptions", request.query, { userAgent, group: definition.group, version });
  if (!options.ok) return refuse(request, options.error);
  const body = await readObject(request, action, options.value.fieldValidation);
  if (!body.ok) return refuse(request, body.error);
  const { object: document, warnings } = body.value;
  const mismatch = namespaceMismatch(document, namespace);
  if (mismatch) return refuse(request, mismatch, warnings);
  const wanted = writeOf(request, action, document, options.value);
  if (!wanted.ok) return refuse(request, wanted.error, warnings);
  const marked = await mark(request, action, document, wanted.value);
  if (!marked.ok) return refuse(request, marked.error.status, [...warnings, ...marked.error.warnings]);
  const written = await write(request, marked.value);
  if (!written.ok) return refuse(request, written.error.status, [...warnings, ...written.error.warnings]);
  return succeed(request, created(), warnings);
}

/**
 * Before a deletion the object says why it goes, in a write of its own; a dry run changes nothing. The deletion's precondition names the
 * revision that this write has made. Upstream: EvictionREST addConditionAndDeletePod.
 */
async function mark(
  request: ResourceRequest,
  action: ActionDefinition,
  document: KubeObject,
  wanted: WriteRequest,
): Promise<Result<WriteRequest, RefusedWrite>> {
  if (wanted.verb !== "delete" || wanted.options.dryRun) return ok(wanted);
  const { key, options } = wanted;
  const version = { group: request.info.definition.group, version: request.info.version };
  const ownOptions: WriteOptions = { dryRun: false, fieldManager: "", fieldValidation: "Ignore", force: false, ...version };
  const marked = await write(request, { verb: "act", key, action: action.name, document: JSON.stringify(document), options: ownOptions });
  if (!marked.ok) return marked;
  if (options.preconditions.resourceVersion === undefined) return ok(wanted);
  const resourceVersion = (JSON.parse(marked.value.object) as KubeObject).metadata?.resourceVersion ?? "";
  return ok({ ...wanted, options: { ...options, preconditions: { ...options.preconditions, resourceVersion } } });
}

/** The document as a write at the store of the object. */
function writeOf(
  { info }: ResourceRequest,
  { name: action, kind, effect }: ActionDefinition,
  document: KubeObject,
  options: WriteOptions,
): Result<WriteRequest, Status> {
  const name = document.metadata?.name ?? "";
  if (info.name !== "" && name !== info.name) return err(badRequest(`name in URL does not match name in ${kind} object`));
  if (name === "") return err(badRequest("Name parameter required."));
  const key = { namespace: info.namespace, name };
  if (effect.does === "change") {
    const errors = collected(() => effect.validate(document)).map(({ field, body }) => `${field}: ${body}`);
    // Upstream answers these errors without a reason of their own.
    if (errors.length > 0) return err(unclassified(errors.length === 1 ? (errors[0] ?? "") : `[${errors.join(", ")}]`));
    return ok({ verb: "act", key, action, document: JSON.stringify(document), options });
  }
  assert(effect.does === "delete", "documents that are answered do not come here");
  const own: DeleteOptions = effect.options(document);
  const raw = rawDeleteOptions(own);
  const deleteOptions = validateDeleteOptions(options.dryRun && !own.dryRun?.length ? { ...raw, dryRun: ["All"] } : raw);
  return deleteOptions.ok ? ok({ verb: "delete", key, options: deleteOptions.value }) : deleteOptions;
}
