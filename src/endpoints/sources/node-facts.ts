import { LABEL_ZONE } from "../../api/meta/endpoint-keys";
import type { Node } from "../../api/meta/kubernetes";

/** What endpoints tell of a Node. */
export interface NodeFacts {
  /** "" = none */
  readonly zone: string;
}

/** The Nodes that there are, by name. */
export type NodeLookup = Pick<ReadonlyMap<string, NodeFacts>, "get">;

/** The facts of a stored Node. */
export function nodeFacts({ metadata }: Node): NodeFacts {
  return { zone: metadata?.labels?.[LABEL_ZONE] ?? "" };
}
