/**
 * From a write request and the stored object to what would be written: pure, repeated whenever the stored object has changed
 * since. Order of checks: upstream apiserver registry/generic/registry/store.go (Create, Update, Delete).
 */
import { assert } from "../../core/base/assert";
import type { Clock, Random } from "../../core/base/ports";
import { onlyTimesDiffer } from "../fields/managed-fields";
import { semanticEqual } from "../meta/equality";
import type { KubeObject, ObjectMeta } from "../meta/kubernetes";
import { appliedUidConflict, checkDeletePreconditions, resourceVersionRequired, uidConflict } from "../meta/preconditions";
import { alreadyExists, conflict, notFound, type Status } from "../meta/status";
import { isGone, planDelete } from "../registry/delete-order";
import type { FieldWriter } from "./field-tracking";
import type { ResourceDefinition, StrategyContext } from "../registry/resource";
import { beforeCreate, beforeFinalizeUpdate, beforeStatusUpdate, beforeUpdate, checkNameMatches, nameFor } from "./strategy-order";
import type { ObjectKey, Subresource, WriteOptions, WriteRequest } from "../rpc/store";
import { storageKey } from "./keys";
import { applied, type ChangingPatch, patched, type PatchWrite } from "./patched";
import type { StoredObject } from "./store-storage";

export type Prepared =
  | { kind: "refused"; status: Status; warnings: string[] }
  /** nothing differs: the resourceVersion stays and nobody hears of it */
  | { kind: "unchanged"; data: string; warnings: string[] }
  | { kind: "put"; key: string; after: KubeObject; before: KubeObject | undefined; code: 200 | 201; dryRun: boolean; warnings: string[] }
  /** `last` = what the client's own update made of the object in the write that lets it go; absent = it goes as it is stored */
  | { kind: "remove"; key: string; before: KubeObject; last?: KubeObject; dryRun: boolean; warnings: string[] };

export interface PrepareFacts {
  definition: ResourceDefinition;
  /** the same objects under another group (events) */
  representations: readonly ResourceDefinition[];
  clock: Clock;
  random: Random;
  context(): StrategyContext;
  exists(key: string): StoredObject | undefined;
  /** a create under this key is on its way */
  reserved(key: string): boolean;
}

const GENERATE_ATTEMPTS = 8;

export function prepareWrite(request: WriteRequest, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  switch (request.verb) {
    case "create":
      return prepareCreate(JSON.parse(request.object) as KubeObject, createOf(request, facts), facts);
    case "update": {
      const after = JSON.parse(request.object) as KubeObject;
      const mismatch = checkNameMatches(after, request.key.name);
      if (mismatch) return refuse(mismatch);
      const writer = writerOf(request.options, request.subresource, facts);
      if (current) return prepareUpdate(after, current, { ...request, writer, judgesUid: true, warnings: [] }, facts);
      if (!facts.definition.allowCreateOnUpdate || request.subresource !== "") return refuse(notFound(facts.definition, request.key.name));
      if (after.metadata?.uid) return refuse(uidConflict(facts.definition, after.metadata, ""));
      return prepareNamedCreate(after, { ...request, writer }, facts);
    }
    case "patch":
      return isChanging(request) ? preparePatch(request, current, facts) : prepareApply(request, current, facts);
    case "act":
      return prepareAction(request, current, facts);
    case "delete": {
      if (!current) return refuse(notFound(facts.definition, request.key.name));
      const object = JSON.parse(current.data) as KubeObject;
      const outcome = planDelete(facts.definition, object, { ...request.options, now: facts.clock.now() });
      const before = JSON.parse(current.data) as KubeObject;
      switch (outcome.action) {
        case "refused":
          return refuse(outcome.status);
        case "remove":
          return { kind: "remove", key: current.key, before, dryRun: request.options.dryRun, warnings: [] };
        case "mark":
          return { kind: "put", key: current.key, after: object, before, code: 200, dryRun: request.options.dryRun, warnings: [] };
        case "keep":
          return { kind: "unchanged", data: current.data, warnings: [] };
      }
    }
  }
}

function refuse(status: Status, warnings: string[] = []): Prepared {
  return { kind: "refused", status, warnings };
}

function writerOf(options: WriteOptions, subresource: Subresource, { definition, representations }: PrepareFacts): FieldWriter {
  const served = representations.find((other) => other.group === options.group) ?? definition;
  return { served, version: options.version, forms: [definition, ...representations], subresource, manager: options.fieldManager };
}

function contextOf(options: WriteOptions, facts: PrepareFacts): StrategyContext {
  return { ...facts.context(), requestGroup: options.group };
}

/** A document created under the object changes the object. This is no client's write of fields: strategy and managedFields have no part in it. */
function prepareAction(request: WriteRequest & { verb: "act" }, current: StoredObject | undefined, facts: PrepareFacts): Prepared {
  const { definition } = facts;
  const { name } = request.key;
  if (!current) return refuse(notFound(definition, name));
  const effect = definition.actions?.find((action) => action.name === request.action)?.effect;
  assert(effect?.does === "change", "only actions that change the object come here");
  const document = JSON.parse(request.document) as KubeObject;
  const before = JSON.parse(current.data) as KubeObject;
  const { uid = "", resourceVersion = "" } = document.metadata ?? {};
  const preconditions = { ...(uid === "" ? {} : { uid }), ...(resourceVersion === "" ? {} : { resourceVersion }) };
  const failed = checkDeletePreconditions(definition, before.metadata ?? {}, preconditions);
  if (failed) return refuse(failed);
  const after = JSON.parse(current.data) as KubeObject;
  const why = effect.change(after, document, facts.clock.now());
  if (why !== undefined) return refuse(conflict({ ...definition, resource: `${definition.resource}/${request.action}` }, name, why));
  return { kind: "put", key: current.key, after, before, code: 201, dryRun: request.options.dryRun, warnings: [] };
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

/** A write to the URL of a missing object: it creates the object. */
function prepareNamedCreate(
  object: KubeObject,
  { key, options, writer }: { key: ObjectKey; options: WriteOptions; writer: FieldWriter | undefined },
  facts: PrepareFacts,
): Prepared {
  delete object.metadata?.resourceVersion;
  return prepareCreate(object, { namespace: key.namespace, urlName: key.name, options, writer }, facts);
}

interface CreateOrder {
  namespace: string;
  /** undefined = the body's name, or a generated one */
  urlName: string | undefined;
  options: WriteOptions;
  /** undefined = managedFields are settled */
  writer: FieldWriter | undefined;
}

function createOf(request: WriteRequest & { verb: "create" }, facts: PrepareFacts): CreateOrder {
  const { namespace, options } = request;
  return { namespace, urlName: undefined, options, writer: writerOf(options, "", facts) };
}

function prepareCreate(object: KubeObject, order: CreateOrder, facts: PrepareFacts): Prepared {
  const { definition, clock, random } = facts;
  const { namespace, urlName, options, writer } = order;
  const named = (urlName ?? object.metadata?.name ?? "") !== "";
  const name = urlName ?? freeName(object, namespace, facts);
  const input = {
    namespace,
    name,
    now: clock.now(),
    uid: random.uuid(),
    context: contextOf(options, facts),
    ...(writer ? { writer } : {}),
  };
  const verdict = beforeCreate(definition, object, input);
  if (!verdict.ok) return refuse(verdict.error);
  const key = storageKey({ namespace: definition.namespaced ? namespace : "", name });
  const existing = facts.exists(key);
  if (existing) {
    const deleting = (JSON.parse(existing.data) as KubeObject).metadata?.deletionTimestamp !== undefined;
    return refuse(named ? alreadyExists(definition, name, deleting) : noUniqueName(definition, name));
  }
  return { kind: "put", key, after: object, before: undefined, code: 201, dryRun: options.dryRun, warnings: verdict.value };
}

/** The given or a generated name; a generated one is drawn again while it is taken (upstream: up to 8 times). */
function freeName(object: KubeObject, namespace: string, facts: PrepareFacts): string {
  const { definition, random } = facts;
  for (let attempt = 1; ; attempt++) {
    const name = nameFor(definition, object, random);
    if (object.metadata?.name || name === "" || attempt === GENERATE_ATTEMPTS) return name;
    const key = storageKey({ namespace: definition.namespaced ? namespace : "", name });
    if (!facts.exists(key) && !facts.reserved(key)) return name;
  }
}

function noUniqueName(definition: ResourceDefinition, name: string): Status {
  const status = alreadyExists(definition, name);
  return {
    ...status,
    message: `${status.message ?? ""}, the server was not able to generate a unique name for the object`,
    details: { ...status.details, retryAfterSeconds: 1 },
  };
}

interface UpdateOrder {
  subresource: Subresource;
  options: WriteOptions;
  /** undefined = managedFields are settled */
  writer: FieldWriter | undefined;
  /** of a PUT a foreign uid is a conflict; of a patch it is a changed field (apiserver registry/rest/update.go) */
  judgesUid: boolean;
  warnings: string[];
}

function prepareUpdate(after: KubeObject, current: StoredObject, order: UpdateOrder, facts: PrepareFacts): Prepared {
  const { definition } = facts;
  const { subresource, options, writer, judgesUid, warnings } = order;
  const before = JSON.parse(current.data) as KubeObject;
  const why = checkConcurrency(after.metadata ?? {}, current, definition, judgesUid);
  if (why) return refuse(why, warnings);
  const change = { after, before };
  const rules = subresource === "status" ? beforeStatusUpdate : subresource === "finalize" ? beforeFinalizeUpdate : beforeUpdate;
  const verdict = rules(definition, change, contextOf(options, facts), writer);
  if (!verdict.ok) return refuse(verdict.error, warnings);
  const all = warnings.concat(verdict.value);
  (after.metadata ??= {}).resourceVersion = before.metadata?.resourceVersion;
  if (isGone(definition, after)) return { kind: "remove", key: current.key, before, last: after, dryRun: options.dryRun, warnings: all };
  if (isUnchanged(after, before)) return { kind: "unchanged", data: current.data, warnings: all };
  return { kind: "put", key: current.key, after, before, code: 200, dryRun: options.dryRun, warnings: all };
}

/** An entry of managedFields that differs in its time alone is no change (apiserver handlers/fieldmanager/equality.go). */
function isUnchanged(after: KubeObject, before: KubeObject): boolean {
  const { managedFields: fields, ...metadata } = after.metadata ?? {};
  const { managedFields: stored, ...others } = before.metadata ?? {};
  if (!semanticEqual(metadata, others) || !semanticEqual({ ...after, metadata }, { ...before, metadata })) return false;
  // Not semantically: each owned field is an empty value, which is no different from an absent one there.
  return fields === stored || onlyTimesDiffer(fields, stored);
}

function checkConcurrency(
  metadata: ObjectMeta,
  current: StoredObject,
  definition: ResourceDefinition,
  judgesUid: boolean,
): Status | undefined {
  const name = metadata.name ?? "";
  if (judgesUid && metadata.uid && metadata.uid !== current.uid) return uidConflict(definition, metadata, current.uid);
  if (!metadata.resourceVersion) {
    return definition.allowUnconditionalUpdate ? undefined : resourceVersionRequired(definition, name);
  }
  return metadata.resourceVersion === String(current.revision) ? undefined : conflict(definition, name);
}
