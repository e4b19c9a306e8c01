/** Applies a patch to the stored object in the form that its client sees, and decodes the result. */
import { parseJson } from "../../../core/encoding/exact-json";
import { err, ok, type Result } from "../../../core/base/result";
import { applyConfiguration } from "../../fields/apply";
import type { KubeObject } from "../../meta/kubernetes";
import { applyJsonPatch } from "../../patch/json-patch";
import { type JsonObject, type JsonValue, membersIn } from "../../schema/json/json-value";
import { applyMergePatch } from "../../patch/merge-patch";
import { type PatchBody, type Patched, patchProblems, readPatch } from "../../patch/patch-body";
import { type PatchError, patchErrorStatus } from "../../patch/patch-error";
import { goMap } from "../../patch/go-map";
import { jsonBeginning } from "../../patch/json-beginning";
import { applyStrategicMerge } from "../../patch/strategic-merge";
import { VALUE_MAX_CHARACTERS } from "../../meta/bounded-status";
import { badRequest, invalid, requestTooLarge, type Status, unregisteredKind } from "../../meta/status";
import { apiVersionOf } from "../../meta/type-meta";
import { fieldContextOf, type FieldWriter, setManagedFields } from "../state/field-tracking";
import type { ResourceDefinition } from "../../registry/resource";
import type { PatchType, WriteRequest } from "../../rpc/store";
import { validateValue } from "../../schema/json/decode-json";
import { DEPTH_MAX } from "../../schema/decode-limits";
import type { DecodeError, TypeMeta } from "../../schema/types";
import { isTooLarge, tooLarge } from "../state/object-size";

export type PatchWrite = WriteRequest & { verb: "patch" };
export type ChangingPatch = PatchWrite & { patchType: Exclude<PatchType, "apply"> };

/** The object after the patch in its stored form, not yet defaulted or validated. `served` is the requested representation. */
export function patched(
  request: ChangingPatch,
  stored: string,
  served: ResourceDefinition,
): Result<{ object: KubeObject; warnings: string[] }, Status> {
  const { fieldValidation, version } = request.options;
  const body = readPatch(request.patch, request.patchType);
  if (!body.ok) return err(patchErrorStatus(body.error));
  const changed = change(request, body.value, stored, served);
  if (!changed.ok) return err(patchErrorStatus(changed.error));
  // The decoder changes the result.
  const beginning = request.patchType === "strategic" ? undefined : jsonBeginning(changed.value.object, SHOWN_MAX);
  const unfit = (cause: string): Result<never, Status> => err(unfitResult(beginning ?? patchBeginning(request.patch), cause));
  const decoded = decode(changed.value.object, served);
  if (!decoded.ok) return decoded.error.reason === "size" ? err(requestTooLarge(decoded.error.cause)) : unfit(decoded.error.cause);
  const { typeMeta, object } = decoded.value;
  const isSameKind = typeMeta.apiVersion === apiVersionOf(served.group, version) && typeMeta.kind === served.kind;
  // Upstream applies a strategic merge patch to the decoded object, whose type stays what it is.
  if (!isSameKind && request.patchType !== "strategic") return unfit(unregisteredKind(typeMeta.kind, typeMeta.apiVersion));
  if (fieldValidation === "Ignore") return ok({ object, warnings: [] });
  const problems = [...patchProblems(body.value, request.patchType, changed.value.members), ...decoded.value.problems];
  if (problems.length > 0 && fieldValidation === "Strict") return unfit(`strict decoding error: ${problems.join(", ")}`);
  return ok({ object, warnings: problems });
}

/**
 * The object after a server-side apply in its stored form, not yet defaulted or validated, with its managedFields settled. `stored`
 * undefined = there is no object yet. The Worker has parsed the configuration. Errors are those of `applyConfiguration`, and 413 for a
 * configuration that is larger than an object may be.
 */
export function applied(request: PatchWrite, stored: string | undefined, writer: FieldWriter, nowMs: number): Result<KubeObject, Status> {
  if (isTooLarge(request.patch)) return err(tooLarge());
  const { served, version, manager } = writer;
  const result = applyConfiguration({
    ...fieldContextOf(writer),
    live: stored === undefined ? undefined : shown(served, parseJson(stored) as KubeObject),
    config: parseJson(request.patch) as JsonObject,
    kind: served.kind,
    manager,
    force: request.options.force,
    nowMs,
  });
  if (!result.ok) return result;
  const decoded = decode(result.value.object as unknown as JsonObject, served);
  if (!decoded.ok) {
    const { reason, cause } = decoded.error;
    if (reason === "size") return err(requestTooLarge(cause));
    return err(badRequest(`${served.kind} in version "${version}" cannot be handled as a ${served.kind}: ${cause}`));
  }
  const { object } = decoded.value;
  setManagedFields(object, result.value.managedFields);
  return ok(object);
}

function shown(served: ResourceDefinition, stored: KubeObject): KubeObject {
  return served.representationOf?.fromStored(stored) ?? stored;
}

/** A patched value as an object in its stored form. The value is changed in place. */
function decode(
  value: JsonObject,
  served: ResourceDefinition,
): Result<{ object: KubeObject; typeMeta: TypeMeta; problems: string[] }, DecodeError> {
  const decoded = validateValue(value, served.schema);
  if (!decoded.ok) return decoded;
  const { typeMeta, problems } = decoded.value;
  const object = decoded.value.value as KubeObject;
  return ok({ object: served.representationOf?.toStored(object) ?? object, typeMeta, problems });
}

function change(request: ChangingPatch, body: PatchBody, stored: string, served: ResourceDefinition): Result<Patched, PatchError> {
  const apiVersion = apiVersionOf(served.group, request.options.version);
  const current = { kind: served.kind, apiVersion, ...shown(served, parseJson(stored) as KubeObject) } as unknown as JsonObject;
  switch (request.patchType) {
    case "json": {
      // Operations change the values that they set.
      const members = request.options.fieldValidation === "Ignore" ? 0 : (membersIn(body.value, DEPTH_MAX) ?? 0);
      const result = applyJsonPatch(current, body);
      return result.ok ? ok({ object: result.value, members }) : result;
    }
    case "merge":
      return applyMergePatch(current, body);
    case "strategic":
      return applyStrategicMerge(current, body, served.schema);
  }
}

/** More than a message shows of one value, so that it is cut there. */
const SHOWN_MAX = 2 * VALUE_MAX_CHARACTERS;

/** What a refusal of a strategic merge patch shows: the patch as Go prints a map. Parsed again, because its parts are in the result. */
function patchBeginning(patch: string): string {
  return goMap(parseJson(patch) as JsonValue, SHOWN_MAX).slice(0, SHOWN_MAX);
}

/** Upstream leaves kind and name of this refusal empty, so that its message begins with a space. */
function unfitResult(text: string, cause: string): Status {
  const body = `Invalid value: ${JSON.stringify(text)}: ${cause}`;
  return invalid({ group: "", resource: "", kind: "" }, "", [{ field: "patch", body, reason: "FieldValueInvalid" }]);
}
