/** What load balancers, and those who configure them, need to know of a Node. */
import { LABEL_ZONE } from "../../api/meta/endpoint-keys";
import type { KubeObject, Node } from "../../api/meta/kubernetes";
import { type NodeFacts, nodeFacts } from "../rules/eligibility";
import { parseAddress } from "../../core/net/address";

/** on a Node: no load balancer gets it as a target, unless the value says false */
const LABEL_EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers";
/** Those that Go's ParseBool reads as false. */
const FALSE_TEXTS: ReadonlySet<string> = new Set(["0", "f", "F", "false", "False", "FALSE"]);

export interface NodeAddress {
  readonly type: "InternalIP" | "ExternalIP";
  /** canonical */
  readonly address: string;
}

export interface NodeTarget {
  readonly name: string;
  readonly facts: NodeFacts;
  /** in the order of the Node's status, without texts that are no address: the API takes any, and configurations are made of them */
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
    addresses: checkedAddresses(status?.addresses ?? []),
    isExcluded: excluded !== undefined && !FALSE_TEXTS.has(excluded),
    ...(spec?.providerID && { providerID: spec.providerID }),
    ...(zone && { zone }),
  };
}

/** Those that are addresses, in their order. */
export function checkedAddresses(addresses: readonly { readonly type: string; readonly address: string }[]): NodeAddress[] {
  return addresses.flatMap(({ type, address }) => {
    if (type !== "InternalIP" && type !== "ExternalIP") return [];
    const parsed = parseAddress(address);
    return parsed.ok ? [{ type, address: parsed.value.canonical }] : [];
  });
}

/** Whether a change of a Node changes anything of this: a heartbeat does not. */
export function changesTarget({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  const text = (node: KubeObject | undefined): string => (node ? JSON.stringify(nodeTarget(node as Node)) : "");
  return text(before) !== text(after);
}
