/** Problems that options of all verbs have in common. Source: apimachinery pkg/apis/meta/v1/validation. */
import { type FieldError, notSupported } from "../../../api/meta/field-errors";
import { invalid, type Status } from "../../../api/meta/status";

export type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions" | "ListOptions";

/** 422 about options: `ListOptions.meta.k8s.io "" is invalid: …`. */
export function invalidOptions(kind: OptionsKind, errors: readonly FieldError[]): Status {
  return invalid({ group: "meta.k8s.io", resource: "", kind }, "", errors);
}

export function dryRunErrors(values: readonly string[]): FieldError[] {
  if (values.every((value) => value === "All")) return [];
  return [notSupported("dryRun", values, ["All"])];
}
