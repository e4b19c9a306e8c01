/** The key of an object among the objects of its kind. */
import type { ObjectMeta } from "./kubernetes";

/** `namespace/name`, or the name alone of an object without a namespace; stores use this key. */
export function keyOf({ metadata }: { metadata?: Pick<ObjectMeta, "namespace" | "name"> }): string {
  const { namespace = "", name = "" } = metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
}
