/** The label by which selectors select objects of some kinds by their names. */
import type { KubeObject } from "../meta/kubernetes";

export const NAME_LABEL = "kubernetes.io/metadata.name";

export function isNamedByLabel({ metadata }: KubeObject): boolean {
  return metadata?.labels?.[NAME_LABEL] === metadata?.name;
}

export function labelWithName({ metadata }: KubeObject): void {
  if (!metadata?.name || isNamedByLabel({ metadata })) return;
  metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name };
}
