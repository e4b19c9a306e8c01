/** Columns and cells that several resources share. */
import { ageSince } from "./age";
import type { KubeObject } from "../meta/kubernetes";
import type { ColumnDefinition } from "./resource";

/** A column of text that is always shown; `wide` ones only with -o wide. */
export function column(name: string, description: string, wide?: "wide"): ColumnDefinition {
  return { name, type: "string", format: "", description, priority: wide ? 1 : 0 };
}

export const NAME_COLUMN: ColumnDefinition = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name of the object, unique among the objects of its kind in its namespace.",
  priority: 0,
};

export const AGE_COLUMN: ColumnDefinition = column("Age", "Time since the object was created.");

export function nameOf(object: KubeObject): string {
  return object.metadata?.name ?? "";
}

/** Labels or a selector as sorted `key=value`, as upstream's labels.FormatLabels; "<none>" without any. */
export function labelsText(labels: Record<string, string> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(",") || "<none>";
}

export function ageOf(object: KubeObject, now: number): string {
  return ageSince(object.metadata?.creationTimestamp, now);
}
