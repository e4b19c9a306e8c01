/** What most resources have in common, so that each definition only says what is its own. */
import type { FieldError } from "../meta/field-errors";
import type { KubeObject } from "../meta/kubernetes";
import { validateDNS1123Subdomain } from "../meta/names";
import type { Change, ResourceDefinition, Strategy, Verb } from "./resource";
import { keepMembers } from "./kept-members";

export const ALL_VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** A namespaced resource with all verbs and nothing special. */
export const COMMON = {
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: ALL_VERBS,
  subresources: [],
  selectableFields: () => ({}),
  fieldLabels: [],
  unknownFieldLabel: defaultUnknownFieldLabel,
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: true,
  returnsDeletedObject: false,
  generation: "none",
  generatesNameSuffix: true,
  initialObjects: [],
} satisfies Partial<ResourceDefinition>;

/** Kinds without a list of their own (api-machinery §4.3). */
function defaultUnknownFieldLabel(label: string): string {
  return `"${label}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** Kinds with selectable fields of their own. */
export function unsupportedFieldLabel(label: string): string {
  return `field label not supported: ${label}`;
}

const NO_ERRORS: FieldError[] = [];
const NO_WARNINGS: string[] = [];

/** A strategy that accepts everything under a DNS subdomain; kinds override what they care about. */
export const BASE_STRATEGY: Strategy<KubeObject> = {
  validateName: validateDNS1123Subdomain,
  defaults: () => undefined,
  prepareForCreate: () => undefined,
  validate: () => NO_ERRORS,
  prepareForUpdate: () => undefined,
  validateUpdate: () => NO_ERRORS,
  prepareForStatusUpdate: keepAllButStatus,
  validateStatusUpdate: () => NO_ERRORS,
  warnings: () => NO_WARNINGS,
};

/** Main endpoint: the stored status stays. */
export function keepStatus(change: Change<KubeObject>): void {
  keepMembers(change, (key) => key === "status");
}

/** Status endpoint: everything but metadata and status stays. */
export function keepAllButStatus(change: Change<KubeObject>): void {
  keepMembers(change, (key) => key !== "status" && key !== "metadata");
}

/** Create: clients may not set the status. */
export function dropStatus(object: KubeObject & { status?: unknown }): void {
  if (object.status !== undefined) delete object.status;
}
