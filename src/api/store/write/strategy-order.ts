/**
 * The fixed order of a write, once for all kinds (upstream apiserver registry/rest create.go and update.go):
 *
 *   create   namespace -> identity -> defaults -> fields -> prepareForCreate -> generation -> | metadata, validate
 *   update   namespace -> defaults -> fields -> prepareForUpdate -> identity -> generation -> | metadata, metadata update, validateUpdate, validate
 *   status   namespace -> defaults -> fields -> prepareForStatusUpdate -> identity         -> | metadata, metadata update, validateStatusUpdate
 *
 * "fields" settles metadata.managedFields: the client's fields and static defaults count, fields that the server fills in later do not. An
 * apply has settled them already and names no writer.
 *
 * The steps left of the bar change the object in place (the caller owns `after` and the object to be created). Those right of it only judge;
 * their errors are collected, up to a number.
 */
import { err, ok } from "../../../core/base/result";
import type { Result } from "../../../core/base/result";
import { semanticEqual } from "../../meta/equality";
import { collected, type FieldError } from "../../meta/field-errors";
import type { KubeObject, ObjectMeta } from "../../meta/kubernetes";
import { generateName } from "../../meta/generate-name";
import type { Random } from "../../../core/base/ports";
import { managedFieldsErrors } from "../../meta/field-manager";
import { dropDuplicateOwners, stampCreate, stampUpdate, validateObjectMeta, validateObjectMetaUpdate } from "../../meta/object-meta";
import { isNoRevision, revisionProblem } from "../../meta/preconditions";
import { badRequest, invalid, unclassified } from "../../meta/status";
import type { Status } from "../../meta/status";
import { keepMembers } from "../../registry/base-strategy";
import { type FieldWriter, trackFields } from "../state/field-tracking";
import type { Change, ResourceDefinition, StrategyContext } from "../../registry/resource";

export interface CreateInput {
  /** the URL's; "" for cluster-scoped kinds */
  namespace: string;
  /** the resolved name (URL of a creating PUT, or the generated one); absent = the body's */
  name?: string;
  /** milliseconds since the epoch */
  now: number;
  uid: string;
  context: StrategyContext;
  /** absent = managedFields are settled */
  writer?: FieldWriter;
}

/** The warnings of a write that may go on, or the Status that ends it. */
export type StrategyVerdict = Result<string[], Status>;

function metadataOf(object: KubeObject): ObjectMeta {
  return (object.metadata ??= {});
}

/** A name for an object without one: generateName and, unless the kind uses it verbatim, a random suffix. "" = neither is given. */
export function nameFor(definition: ResourceDefinition, object: KubeObject, random: Random): string {
  const { name, generateName: base } = object.metadata ?? {};
  if (name) return name;
  if (!base) return "";
  return definition.generatesNameSuffix ? generateName(base, random) : base;
}

/** PUT and status writes: the body's name must be the URL's. */
export function checkNameMatches(object: KubeObject, urlName: string): Status | undefined {
  const name = object.metadata?.name ?? "";
  if (name === "") return badRequest(`the name of the object (${urlName} based on URL) was undeterminable: name must be provided`);
  return name === urlName ? undefined : badRequest(`the name of the object (${name}) does not match the name on the URL (${urlName})`);
}

function settleNamespace(definition: ResourceDefinition, metadata: ObjectMeta, namespace: string): Status | undefined {
  if (!definition.namespaced) {
    if (metadata.namespace !== undefined) delete metadata.namespace;
    return undefined;
  }
  if (!metadata.namespace) metadata.namespace = namespace;
  if (metadata.namespace === namespace) return undefined;
  return badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** Everything of a create that changes the object. */
function prepareCreate(definition: ResourceDefinition, object: KubeObject, input: CreateInput): StrategyVerdict {
  const metadata = metadataOf(object);
  // Upstream does not look at one that is no number (apiserver storage/etcd3/store.go, Create).
  if (!isNoRevision(metadata.resourceVersion) && revisionProblem(metadata.resourceVersion ?? "") === undefined) {
    return err(unclassified("resourceVersion should not be set on objects to be created"));
  }
  const refused = settleNamespace(definition, metadata, input.namespace);
  if (refused) return err(refused);
  if (input.name !== undefined) metadata.name = input.name;
  stampCreate(metadata, input);
  const warnings = dropDuplicateOwners(metadata);
  definition.strategy.defaults(object);
  if (input.writer) trackFields(input.writer, { after: object }, input.now);
  definition.strategy.prepareForCreate(object, input.context);
  // Kinds that do not count theirs keep what the client sends, as upstream does.
  if (definition.generation !== "none") metadata.generation = 1;
  return ok(warnings);
}

/** All field errors of an object to be created. */
function validateCreate(definition: ResourceDefinition, object: KubeObject, context: StrategyContext): FieldError[] {
  return metadataErrors(definition, object)
    .concat(managedFieldsErrors(metadataOf(object).managedFields))
    .concat(definition.strategy.validate(object, context));
}

export function beforeCreate(definition: ResourceDefinition, object: KubeObject, input: CreateInput): StrategyVerdict {
  const prepared = prepareCreate(definition, object, input);
  if (!prepared.ok) return prepared;
  const judge = (): FieldError[] => validateCreate(definition, object, input.context);
  return verdict(definition, object, judge, () => prepared.value.concat(definition.strategy.warnings(object)));
}

/** Everything of an update that changes `after`. The resourceVersion is the caller's business. */
function prepareUpdate(
  definition: ResourceDefinition,
  change: Change<KubeObject>,
  context: StrategyContext,
  writer: FieldWriter | undefined,
): StrategyVerdict {
  return prepareChange(definition, change, { context, writer }, () => definition.strategy.prepareForUpdate(change, context));
}

function validateUpdate(definition: ResourceDefinition, change: Change<KubeObject>, context: StrategyContext): FieldError[] {
  return changeErrors(definition, change)
    .concat(definition.strategy.validateUpdate(change, context))
    .concat(definition.strategy.validate(change.after, context, change.before));
}

/** `writer` of this and the following two: absent = managedFields are settled. */
export function beforeUpdate(
  definition: ResourceDefinition,
  change: Change<KubeObject>,
  context: StrategyContext,
  writer?: FieldWriter,
): StrategyVerdict {
  const prepared = prepareUpdate(definition, change, context, writer);
  if (!prepared.ok) return prepared;
  const judge = (): FieldError[] => validateUpdate(definition, change, context);
  return verdict(definition, change.after, judge, () => prepared.value.concat(definition.strategy.warnings(change.after, change.before)));
}

/** The status endpoint. */
export function beforeStatusUpdate(
  definition: ResourceDefinition,
  change: Change<KubeObject>,
  context: StrategyContext,
  writer?: FieldWriter,
): StrategyVerdict {
  const prepared = prepareChange(definition, change, { context, writer }, () =>
    definition.strategy.prepareForStatusUpdate(change, context),
  );
  if (!prepared.ok) return prepared;
  const judge = (): FieldError[] => changeErrors(definition, change).concat(definition.strategy.validateStatusUpdate(change, context));
  return verdict(definition, change.after, judge, () => prepared.value.concat(definition.strategy.statusWarnings?.(change.after) ?? []));
}

/** The finalize endpoint (namespaces): spec.finalizers as sent, status as stored. */
export function beforeFinalizeUpdate(
  definition: ResourceDefinition,
  change: Change<KubeObject>,
  context: StrategyContext,
  writer?: FieldWriter,
): StrategyVerdict {
  const prepared = prepareChange(definition, change, { context, writer }, () =>
    keepMembers(change, (key) => key !== "metadata" && key !== "spec"),
  );
  if (!prepared.ok) return prepared;
  const judge = (): FieldError[] => changeErrors(definition, change).concat(definition.strategy.validate(change.after, context));
  return verdict(definition, change.after, judge, () => prepared.value);
}

function prepareChange(
  definition: ResourceDefinition,
  change: Change<KubeObject>,
  { context, writer }: { context: StrategyContext; writer: FieldWriter | undefined },
  prepare: () => void,
): StrategyVerdict {
  const after = metadataOf(change.after);
  const before = metadataOf(change.before);
  const refused = settleNamespace(definition, after, before.namespace ?? "");
  if (refused) return err(refused);
  const warnings = dropDuplicateOwners(after);
  definition.strategy.defaults(change.after);
  if (writer) trackFields(writer, change, context.now);
  prepare();
  stampUpdate({ after, before });
  settleGeneration(definition, change);
  return ok(warnings);
}

function settleGeneration(definition: ResourceDefinition, change: Change<KubeObject>): void {
  const after = metadataOf(change.after);
  const generation = change.before.metadata?.generation;
  if (definition.generation === "none") {
    if (generation === undefined) delete after.generation;
    else after.generation = generation;
    return;
  }
  const labelsCount = definition.generation === "specAndLabels";
  const changed = contentChanged(change) || (labelsCount && !semanticEqual(after.labels, change.before.metadata?.labels));
  after.generation = (generation ?? 0) + (changed ? 1 : 0);
}

/** Whether anything outside metadata and status differs. */
function contentChanged(change: Change<KubeObject>): boolean {
  const after = change.after as Record<string, unknown>;
  const before = change.before as Record<string, unknown>;
  for (const key of new Set([...Object.keys(after), ...Object.keys(before)])) {
    if (key === "metadata" || key === "status" || key === "kind" || key === "apiVersion") continue;
    if (!semanticEqual(after[key], before[key])) return true;
  }
  return false;
}

function metadataErrors(definition: ResourceDefinition, object: KubeObject): FieldError[] {
  return validateObjectMeta(metadataOf(object), {
    namespaced: definition.namespaced,
    validateName: (name) => definition.strategy.validateName(name),
    generatesNameSuffix: definition.generatesNameSuffix,
  });
}

function changeErrors(definition: ResourceDefinition, change: Change<KubeObject>): FieldError[] {
  const [after, before] = [metadataOf(change.after), metadataOf(change.before)];
  return metadataErrors(definition, change.after)
    .concat(managedFieldsErrors(after.managedFields, before.managedFields))
    .concat(validateObjectMetaUpdate({ after, before }));
}

function verdict(definition: ResourceDefinition, object: KubeObject, judge: () => FieldError[], warnings: () => string[]): StrategyVerdict {
  const errors = collected(judge);
  return errors.length === 0 ? ok(warnings()) : err(invalid(definition, object.metadata?.name ?? "", errors));
}
