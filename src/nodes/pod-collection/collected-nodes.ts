/** What the collector has to know of Nodes. */
import type { KubeObject, Node } from "../../api/meta/kubernetes";
import { readyCondition } from "../../api/registry/nodes/ready-condition";
import { type FactRows, KeptFacts } from "../../controllers/followed/kept-facts";

const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

export interface CollectedNode {
  /** status of the condition Ready; "" = nobody has ever written one */
  readonly ready: string;
  /** It has the taint, with whatever value and effect. */
  readonly isOutOfService: boolean;
}

export type CollectedNodes = KeptFacts<Node, CollectedNode>;

function collectedNode({ spec, status }: Node): CollectedNode {
  return {
    ready: readyCondition(status?.conditions)?.status ?? "",
    isOutOfService: spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) ?? false,
  };
}

/** Whether a change of a Node can give the collector work. */
export function nodeAsksForCollection({ before, after }: { before?: KubeObject; after?: KubeObject }): boolean {
  if (!before || !after) return true;
  const [was, is] = [collectedNode(before as Node), collectedNode(after as Node)];
  return was.ready !== is.ready || was.isOutOfService !== is.isOutOfService;
}

export function collectedNodes(rows: FactRows): CollectedNodes {
  return new KeptFacts(rows, "nodes", collectedNode);
}
