/** What load balancers, and those who configure them, need to know of a Node. */
import { LABEL_ZONE } from "../../api/meta/endpoint-keys";
import type { KubeObject, Node } from "../../api/meta/kubernetes";
import { type NodeFacts, nodeFacts } from "../../api/meta/proxy-health";

/** on a Node: no load balancer gets it as a target, unless the value says false */
const LABEL_EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
/** Those that Go's ParseBool reads as false. */
const FALSE_TEXTS: ReadonlySet<string> = new Set(["0", "f", "F", "false", "False", "FALSE"]);

export interface NodeAddress {
  readonly type: "InternalIP" | "ExternalIP";
  readonly address: string;
}

export interface NodeTarget {
  readonly name: string;
  readonly facts: NodeFacts;
  /** in the order of the Node's status */
  readonly addresses: readonly NodeAddress[];
  /** by its label */
  readonly isExcluded: boolean;
  readonly providerID?: string;
  /** its label topology.kubernetes.io/zone */
  readonly zone?: string;
}

export function nodeTarget(node: Node): NodeTarget {
  const { metadata, spec, status } = node;
  const labels = metadata?.labels ?? {};
  const excluded = labels[LABEL_EXCLUDED];
  const zone = labels[LABEL_ZONE];
  return {
    name: metadata?.name ?? "",
    facts: nodeFacts(node),
    addresses: (status?.addresses ?? []).flatMap(({ type, address }) =>
      type === "InternalIP" || type === "ExternalIP" ? [{ type, address }] : [],
    ),
    isExcluded: excluded !== undefined && !FALSE_TEXTS.has(excluded),
    ...(spec?.providerID && { providerID: spec.providerID }),
    ...(zone && { zone }),
  };
}

/** Whether a change of a Node changes anything of this: a heartbeat does not. */
export function changesTarget({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  const text = (node: KubeObject | undefined): string => (node ? JSON.stringify(nodeTarget(node as Node)) : "");
  return text(before) !== text(after);
}
