/** Applies a patch to the stored object in the form its client sees, and decodes the result (api-machinery §6, §3.5). */
import { assertNever } from "../base/assert";
import { err, ok, type Result } from "../base/result";
import type { KubeObject } from "../meta/kubernetes";
import { applyJsonPatch } from "../meta/patch/json-patch";
import type { JsonObject } from "../meta/patch/json-value";
import { applyMergePatch } from "../meta/patch/merge-patch";
import { type PatchError, patchErrorStatus } from "../meta/patch/patch-error";
import { applyStrategicMerge } from "../meta/patch/strategic-merge";
import { badRequest, invalid, type Status, unsupportedMediaType } from "../meta/status";
import { apiVersionOf } from "../meta/type-meta";
import type { ResourceDefinition } from "../registry/resource";
import type { WriteRequest } from "../rpc/store";
import { validateValue } from "../schema/decode-json";

export type PatchWrite = WriteRequest & { verb: "patch" };

/** Until server-side apply is served, its media type is as unknown as any other. */
const PATCH_TYPES = ["application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"];

/** The object after the patch in its stored form, not yet defaulted or validated. `served` is the requested representation. */
export function patched(
  request: PatchWrite,
  stored: string,
  served: ResourceDefinition,
): Result<{ object: KubeObject; warnings: string[] }, Status> {
  const { fieldValidation, version } = request.options;
  const before = JSON.parse(stored) as KubeObject;
  const apiVersion = apiVersionOf(served.group, version);
  const current = { kind: served.kind, apiVersion, ...(served.representationOf?.fromStored(before) ?? before) };
  const applied = applyPatch(request, current as unknown as JsonObject, served);
  if (applied === undefined) return err(unsupportedMediaType(PATCH_TYPES));
  if (!applied.ok) return err(patchErrorStatus(applied.error));
  const text = fieldValidation === "Strict" ? JSON.stringify(applied.value) : "";
  const decoded = validateValue(applied.value, served.schema);
  if (!decoded.ok)
    return err(badRequest(`${served.kind} in version "${version}" cannot be handled as a ${served.kind}: ${decoded.error.cause}`));
  const { typeMeta, value, problems } = decoded.value;
  if (typeMeta.apiVersion !== apiVersion || typeMeta.kind !== served.kind) {
    return err(
      badRequest(`${typeMeta.apiVersion}, Kind=${typeMeta.kind} is not what this resource holds: a patch cannot change kind or apiVersion`),
    );
  }
  if (problems.length > 0 && fieldValidation === "Strict") return err(strictRefusal(text, problems));
  const object = value as KubeObject;
  return ok({ object: served.representationOf?.toStored(object) ?? object, warnings: fieldValidation === "Warn" ? problems : [] });
}

function applyPatch(request: PatchWrite, current: JsonObject, served: ResourceDefinition): Result<JsonObject, PatchError> | undefined {
  switch (request.patchType) {
    case "json":
      return applyJsonPatch(current, request.patch);
    case "merge":
      return applyMergePatch(current, request.patch);
    case "strategic":
      return applyStrategicMerge(current, request.patch, served.schema);
    case "apply":
      return undefined;
    default:
      return assertNever(request.patchType);
  }
}

/** Upstream leaves kind and name of this refusal empty, so that its message begins with a space. */
function strictRefusal(text: string, problems: readonly string[]): Status {
  const body = `Invalid value: ${JSON.stringify(text)}: strict decoding error: ${problems.join(", ")}`;
  return invalid({ group: "", resource: "", kind: "" }, "", [{ field: "patch", body, reason: "FieldValueInvalid" }]);
}
