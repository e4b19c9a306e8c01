/**
 * PATCH of one object or its status: the store applies the patch to the newest object in the turn that writes it.
 * Upstream: apiserver endpoints/handlers/patch.go.
 */
import { unsupportedMediaType } from "../../meta/status";
import type { WriteRequest } from "../../rpc/store";
import { objectResponse } from "../answer";
import { readText } from "../body";
import { PATCH_TYPES, patchTypeOf } from "../negotiate";
import { parseWriteOptions } from "../options";
import { refuse, type ResourceRequest } from "../resource-request";
import { write } from "./write";

export async function patch(request: ResourceRequest): Promise<Response> {
  const { definition, namespace, name, subresource, version } = request.info;
  const patchType = patchTypeOf(request.request.headers.get("Content-Type"));
  if (!patchType) return refuse(request, unsupportedMediaType(PATCH_TYPES));
  const context = { userAgent: request.userAgent, group: definition.group, version, apply: patchType === "apply" };
  const options = parseWriteOptions("PatchOptions", request.query, context);
  if (!options.ok) return refuse(request, options.error);
  const text = await readText(request.request);
  if (!text.ok) return refuse(request, text.error);
  const wanted: WriteRequest = {
    verb: "patch",
    key: { namespace, name },
    subresource,
    patchType,
    patch: text.value,
    options: options.value,
  };
  const written = await write(request, wanted);
  if (!written.ok) return refuse(request, written.error.status, written.error.warnings);
  return objectResponse(request, written.value.code, written.value.object, written.value.warnings);
}
