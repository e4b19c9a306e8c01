/**
 * From a write request and the stored object to what would be written: pure, repeated whenever the stored object has changed
 * since. Order of checks: upstream apiserver registry/generic/registry/store.go (Create, Update, Delete).
 */
import { assert } from "../../../core/base/assert";
import { parseJson } from "../../../core/encoding/exact-json";
import { FieldsTooLarge } from "../../fields/fields-size";
import type { KubeObject } from "../../meta/kubernetes";
import { appliedUidConflict, checkDeletePreconditions, uidConflict } from "../../meta/preconditions";
import { conflict, notFound } from "../../meta/status";
import { planDelete } from "../../registry/delete-order";
import type { Subresource, WriteOptions, WriteRequest } from "../../rpc/store";
import type { FieldWriter } from "../state/field-tracking";
import { applied, type ChangingPatch, patched, type PatchWrite } from "./patched";
import { storageKey } from "../state/keys";
import { tooLarge } from "../state/object-size";
import { prepareCreate, prepareNamedCreate } from "./prepare-create";
import { prepareUpdate } from "./prepare-update";
import { type PrepareFacts, type Prepared, putOf, refuse } from "./prepared";
import type { StoredObject } from "../state/store-storage";
import { checkNameMatches } from "./strategy-order";

/** What would be written, or the Status that refuses it. Changes nothing: after another write of `current` it is called again. */
export function prepareWrite(request: WriteRequest, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  try {
    return prepared(request, current, facts);
  } catch (error) {
    if (error instanceof FieldsTooLarge) return refuse(tooLarge());
    throw error;
  }
}

function prepared(request: WriteRequest, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  switch (request.verb) {
    case "create": {
      const { namespace, options } = request;
      const order = { namespace, urlName: undefined, options, writer: writerOf(options, "", facts) };
      return prepareCreate(parseJson(request.object) as KubeObject, order, facts);
    }
    case "update":
      return preparePut(request, current, facts);
    case "patch":
      return isChanging(request) ? preparePatch(request, current, facts) : prepareApply(request, current, facts);
    case "act":
      return prepareAction(request, current, facts);
    case "delete":
      return prepareDelete(request, current, facts);
  }
}

function writerOf(options: WriteOptions, subresource: Subresource, { definition, representations }: PrepareFacts): FieldWriter {
  const served = representations.find(({ group, versions }) => group === options.group && versions.includes(options.version)) ?? definition;
  return { served, version: options.version, forms: [definition, ...representations], subresource, manager: options.fieldManager };
}

function preparePut(request: WriteRequest & { verb: "update" }, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  const after = parseJson(request.object) as KubeObject;
  const mismatch = checkNameMatches(after, request.key.name);
  if (mismatch) return refuse(mismatch);
  const writer = writerOf(request.options, request.subresource, facts);
  if (current) return prepareUpdate(after, current, { ...request, writer, judgesUid: true, warnings: [] }, facts);
  if (!facts.definition.allowCreateOnUpdate || request.subresource !== "") return refuse(notFound(facts.definition, request.key.name));
  if (after.metadata?.uid) return refuse(uidConflict(facts.definition, storageKey(request.key), { given: after.metadata.uid, stored: "" }));
  return prepareNamedCreate(after, { ...request, writer }, facts);
}

/** A document created under the object changes the object. This is no client's write of fields: strategy and managedFields have no part in it. */
function prepareAction(request: WriteRequest & { verb: "act" }, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  const { definition } = facts;
  const { name } = request.key;
  if (!current) return refuse(notFound(definition, name));
  const effect = definition.actions?.find((action) => action.name === request.action)?.effect;
  assert(effect && effect.does !== "answer", "only actions that write come here");
  const document = parseJson(request.document) as KubeObject;
  const before = parseJson(current.data) as KubeObject;
  const { uid = "", resourceVersion = "" } = (effect.does === "change" ? document.metadata : effect.options(document).preconditions) ?? {};
  const preconditions = { ...(uid === "" ? {} : { uid }), ...(resourceVersion === "" ? {} : { resourceVersion }) };
  const failed = checkDeletePreconditions(definition, before.metadata ?? {}, preconditions);
  if (failed) return refuse(failed);
  const after = parseJson(current.data) as KubeObject;
  if (effect.does === "delete") {
    effect.mark(after, facts.clock.now());
    return putOf(current, { after, before, code: 200, dryRun: request.options.dryRun, warnings: [] });
  }
  const why = effect.change(after, document, facts.clock.now());
  if (why !== undefined) return refuse(conflict({ ...definition, resource: `${definition.resource}/${request.action}` }, name, why));
  return putOf(current, { after, before, code: 201, dryRun: request.options.dryRun, warnings: [] });
}

function isChanging(request: PatchWrite): request is ChangingPatch {
  return request.patchType !== "apply";
}

function preparePatch(request: ChangingPatch, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  if (!current) return refuse(notFound(facts.definition, request.key.name));
  const writer = writerOf(request.options, request.subresource, facts);
  const result = patched(request, current.data, writer.served);
  if (!result.ok) return refuse(result.error);
  const { object: after, warnings } = result.value;
  const mismatch = checkNameMatches(after, request.key.name);
  if (mismatch) return refuse(mismatch);
  return prepareUpdate(after, current, { ...request, writer, judgesUid: false, warnings }, facts);
}

/** Server-side apply; without a stored object it is a create. A forbidden change is reported before a missing object. */
function prepareApply(request: PatchWrite, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  const writer = writerOf(request.options, request.subresource, facts);
  const result = applied(request, current?.data, writer, facts.clock.now());
  if (!result.ok) return refuse(result.error);
  const after = result.value;
  const mismatch = checkNameMatches(after, request.key.name);
  if (mismatch) return refuse(mismatch);
  const settled = { ...request, writer: undefined, judgesUid: false, warnings: [] };
  if (current) return prepareUpdate(after, current, settled, facts);
  if (after.metadata?.uid) return refuse(appliedUidConflict(facts.definition, after.metadata));
  if (request.subresource !== "") return refuse(notFound(facts.definition, request.key.name));
  return prepareNamedCreate(after, settled, facts);
}

function prepareDelete(request: WriteRequest & { verb: "delete" }, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  if (!current) return refuse(notFound(facts.definition, request.key.name));
  const object = parseJson(current.data) as KubeObject;
  const outcome = planDelete(facts.definition, object, { ...request.options, now: facts.clock.now() });
  const before = parseJson(current.data) as KubeObject;
  switch (outcome.action) {
    case "refused":
      return refuse(outcome.status);
    case "remove":
      return { kind: "remove", key: current.key, before, dryRun: request.options.dryRun, warnings: [] };
    case "mark":
      return putOf(current, { after: object, before, code: 200, dryRun: request.options.dryRun, warnings: [] });
    case "keep":
      return { kind: "unchanged", data: current.data, warnings: [] };
  }
}
