/** How an object is called among those of its kind. */
import type { ObjectMeta } from "./kubernetes";

/** `namespace/name`, or the name of an object without a namespace; as stores key it. */
export function keyOf({ metadata }: { metadata?: Pick<ObjectMeta, "namespace" | "name"> }): string {
  const { namespace = "", name = "" } = metadata ?? {};
  return namespace ? `${namespace}/${name}` : name;
}
