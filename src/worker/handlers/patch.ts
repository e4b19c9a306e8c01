/**
 * PATCH of one object or its status: the store applies the patch to the newest object in the turn that writes it.
 * The configuration of a server-side apply is parsed here, once. Upstream: apiserver endpoints/handlers/patch.go.
 */
import { ok, type Result } from "../../core/base/result";
import { parseApply } from "../../api/fields/parse-apply";
import type { Status } from "../../api/meta/status";
import { unroutedMediaType } from "../../api/meta/status";
import type { FieldValidation, PatchType, WriteRequest } from "../../api/rpc/store";
import { objectResponse } from "./answer";
import { readText } from "../http/read/read-body";
import { patchTypeOf } from "../http/read/content-type";
import { parseWriteOptions } from "../http/read/write-options";
import { refuse, type ResourceRequest } from "./resource-request";
import { write } from "./write";

export async function patch(request: ResourceRequest): Promise<Response> {
  const { definition, namespace, name, subresource, version } = request.info;
  const patchType = patchTypeOf(request.request.headers.get("Content-Type"));
  if (!patchType) return refuse(request, unroutedMediaType());
  const context = { userAgent: request.userAgent, group: definition.group, version, apply: patchType === "apply" };
  const options = parseWriteOptions("PatchOptions", request.query, context);
  if (!options.ok) return refuse(request, options.error);
  const text = await readText(request);
  if (!text.ok) return refuse(request, text.error);
  const body = patchOf(patchType, text.value, options.value.fieldValidation);
  if (!body.ok) return refuse(request, body.error);
  const { warnings } = body.value;
  const wanted: WriteRequest = {
    verb: "patch",
    key: { namespace, name },
    subresource,
    patchType,
    patch: body.value.patch,
    options: options.value,
  };
  const written = await write(request, wanted);
  if (!written.ok) return refuse(request, written.error.status, [...warnings, ...written.error.warnings]);
  return objectResponse(request, written.value.code, written.value.object, warnings.concat(written.value.warnings));
}

/** The patch as the store takes it. */
function patchOf(type: PatchType, text: string, fieldValidation: FieldValidation): Result<{ patch: string; warnings: string[] }, Status> {
  if (type !== "apply") return ok({ patch: text, warnings: [] });
  const parsed = parseApply(text, fieldValidation);
  return parsed.ok ? ok({ patch: JSON.stringify(parsed.value.config), warnings: parsed.value.warnings }) : parsed;
}
