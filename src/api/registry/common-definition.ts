/** The members that most definitions share: a definition states only what is its own. */
import type { ResourceDefinition, Verb } from "./resource";

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

/** The text of the 400 for kinds that select by name and namespace alone (upstream apimachinery pkg/runtime/conversion.go). */
function defaultUnknownFieldLabel(label: string): string {
  return `"${label}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

/** The text of the 400 for kinds with selectable fields of their own. */
export function unsupportedFieldLabel(label: string): string {
  return `field label not supported: ${label}`;
}
