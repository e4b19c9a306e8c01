/** Clusters: what their objects may say. The texts are upstream's of the same rules. */
import { checkControllers } from "../../../core/config/controllers";
import { RANGE_HOST_BITS_MIN } from "../../../core/config/first-ranges";
import { isLocation, LOCATIONS } from "../../../core/config/location";
import { semanticEqual } from "../../meta/equality";
import { type FieldError, FIELD_IMMUTABLE, forbiddenField, invalidValue, notSupported, required } from "../../meta/field-errors";
import { labelWithName } from "../name-label";
import { validateDNS1123Label, validateDNS1123Subdomain } from "../../meta/names";
import { BASE_STRATEGY, dropStatus, keepStatus, takeStatusAlone } from "../base-strategy";
import type { Change, Strategy } from "../resource";
import { validateFirstRanges } from "./ranges";
import { validateQuantities } from "../resource-quotas/strategy";
import { CLUSTER_FINALIZER, type Cluster, type ClusterPool, ROOT_CLUSTER } from "./cluster";

/** A cluster begins with more addresses than a longer prefix has. */
const LENGTH_MAX = 128 - RANGE_HOST_BITS_MIN;

/** A cluster that is there holds its object: no client takes that away before its deletion. */
function holdObject({ metadata }: Cluster): void {
  if (!metadata || metadata.name === ROOT_CLUSTER) return;
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(CLUSTER_FINALIZER)) metadata.finalizers = [...finalizers, CLUSTER_FINALIZER];
}

function validate({ spec }: Cluster, _context: unknown, before?: Cluster): FieldError[] {
  const errors: FieldError[] = [];
  const location = spec?.location ?? "";
  const controllers = spec?.controllers;
  if (location !== (before?.spec?.location ?? "") && location !== "" && !isLocation(location))
    errors.push(notSupported("spec.location", location, LOCATIONS));
  if (controllers && !semanticEqual(controllers, before?.spec?.controllers)) {
    const checked = checkControllers(controllers);
    if (!checked.ok) for (const problem of checked.error) errors.push(invalidValue("spec.controllers", controllers, problem));
  }
  const ranges = rangesOf(spec);
  if (!before && ranges.length > 0) errors.push(...validateFirstRanges(ranges, "spec.serviceCIDRs"));
  if (!before && spec?.pool) errors.push(...poolErrors(spec.pool, ranges));
  if (!semanticEqual(spec?.quotas, before?.spec?.quotas)) validateQuantities("spec.quotas", spec?.quotas, errors);
  return errors;
}

function poolErrors({ name = "", servicePrefixLength: length = 0 }: ClusterPool, ranges: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (ranges.length > 0) errors.push(forbiddenField("spec.pool", "may not be set together with spec.serviceCIDRs"));
  if (name === "") errors.push(required("spec.pool.name"));
  else for (const problem of validateDNS1123Subdomain(name)) errors.push(invalidValue("spec.pool.name", name, problem));
  if (length < 0 || length > LENGTH_MAX)
    errors.push(invalidValue("spec.pool.servicePrefixLength", length, `must be between 1 and ${LENGTH_MAX}`));
  return errors;
}

/** None asks for nothing. */
function rangesOf(spec: Cluster["spec"]): readonly string[] {
  return spec?.serviceCIDRs ?? [];
}

/** A create may be given a location, and the object of a cluster that was there has its ranges: the manifest of the create has neither. */
function keepGiven({ after, before }: Change<Cluster>): void {
  const { location, serviceCIDRs } = before.spec ?? {};
  if (location && !after.spec?.location) after.spec = { ...after.spec, location };
  if (serviceCIDRs && rangesOf(after.spec).length === 0) after.spec = { ...after.spec, serviceCIDRs };
}

/** The objects of a cluster stay where they were made, and it has begun with its ranges. */
function validateUpdate({ after, before }: Change<Cluster>): FieldError[] {
  const errors: FieldError[] = [];
  const location = after.spec?.location ?? "";
  if (location !== (before.spec?.location ?? "")) errors.push(invalidValue("spec.location", location, FIELD_IMMUTABLE));
  const ranges = rangesOf(after.spec);
  if (!semanticEqual(ranges, rangesOf(before.spec))) errors.push(invalidValue("spec.serviceCIDRs", ranges, FIELD_IMMUTABLE));
  if (!semanticEqual(after.spec?.pool, before.spec?.pool))
    errors.push(invalidValue("spec.pool", after.spec?.pool ?? null, FIELD_IMMUTABLE));
  return errors;
}

export const clusterStrategy: Strategy<Cluster> = {
  ...BASE_STRATEGY,
  validateName: validateDNS1123Label,
  // By it a credential of some clusters sees its own (access/authorization/fleet-reads.ts).
  defaults: labelWithName,
  prepareForCreate(cluster) {
    dropStatus(cluster);
    labelWithName(cluster);
    cluster.status = { phase: "Pending" };
    holdObject(cluster);
  },
  validate,
  prepareForUpdate(change) {
    keepStatus(change);
    keepGiven(change);
    if (!change.before.metadata?.deletionTimestamp) holdObject(change.after);
  },
  validateUpdate,
  // The finalizer goes by the main endpoint alone, where the rule about it is.
  prepareForStatusUpdate: takeStatusAlone,
  deletion: {
    refuse: ({ metadata }) => (metadata?.name === ROOT_CLUSTER ? "this cluster may not be deleted" : undefined),
    mark(cluster) {
      cluster.status = { ...cluster.status, phase: "Terminating" };
    },
  },
};
