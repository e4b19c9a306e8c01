import { LABEL_ZONE } from "../../api/meta/endpoint-keys";
import type { Node } from "../../api/meta/kubernetes";

/** Where a Node is: all that endpoints tell of it. */
export interface NodeZone {
  /** "" = none */
  readonly zone: string;
}

/** The Nodes that there are, by name. */
export type NodeLookup = Pick<ReadonlyMap<string, NodeZone>, "get">;

/** The zone of a stored Node. */
export function nodeZone({ metadata }: Node): NodeZone {
  return { zone: metadata?.labels?.[LABEL_ZONE] ?? "" };
}
