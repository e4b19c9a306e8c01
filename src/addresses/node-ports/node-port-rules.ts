/**
 * What is wrong with the node ports of one Service, as upstream's repair judges it. Rows are by protocol here, so the same number of two
 * protocols may belong to two Services.
 *
 * | the number                                       | finding              | rows                              |
 * |--------------------------------------------------|----------------------|-----------------------------------|
 * | lies outside the range                           | outOfRange           | stay                              |
 * | has its rows                                     | none                 | stay                              |
 * | lacks a row, or one names a Service without it   | repair               | are this Service's                |
 * | has a row of another Service that holds it, too  | duplicate            | stay                              |
 * | has a row of a Service that cannot be read       | unknown              | stay                              |
 * | stands twice in the Service, with one protocol   | duplicate, each time | stay: one row is enough           |
 *
 * Source: upstream pkg/registry/core/service/portallocator/controller/repair.go (runOnce, collectServiceNodePorts).
 */
import { type HeldNodePort, nodePortText } from "../../api/registry/services/held-by-service";
import { isInNodePortRange } from "../../core/net/node-port-range";
import type { NodePortFinding } from "../rpc/repaired-node-ports";

/** Whose a row is: `own` of the judged Service; `lost`: the Service that it names is gone or does not hold the port. */
export type RowOwner = "own" | "none" | "lost" | "other" | "unreadable";

export interface NodePortVerdict {
  findings: NodePortFinding[];
  /** ports whose rows are to be this Service's */
  take: HeldNodePort[];
}

/** `held`: as the Service lists its node ports, the one for health checks last. */
export function judgeNodePorts(held: readonly HeldNodePort[], ownerOf: (nodePort: HeldNodePort) => RowOwner): NodePortVerdict {
  const verdict: NodePortVerdict = { findings: [], take: [] };
  for (const [port, named] of byNumber(held)) {
    const found = (kind: NodePortFinding["kind"]): void => void verdict.findings.push({ port, kind });
    const distinct = [...new Map(named.map((nodePort) => [nodePortText(nodePort), nodePort])).values()];
    const repeats = named.slice(distinct.length);
    if (!isInNodePortRange(port)) {
      found("outOfRange");
      for (const _ of repeats) found("outOfRange");
      continue;
    }
    const owners = distinct.map(ownerOf);
    const take = distinct.filter((_, i) => owners[i] === "none" || owners[i] === "lost");
    verdict.take.push(...take);
    if (take.length > 0) found("repair");
    if (owners.includes("other")) found("duplicate");
    else if (owners.includes("unreadable")) found("unknown");
    for (const _ of repeats) found("duplicate");
  }
  return verdict;
}

function byNumber(held: readonly HeldNodePort[]): Map<number, HeldNodePort[]> {
  const numbers = new Map<number, HeldNodePort[]>();
  for (const nodePort of held) numbers.set(nodePort.port, [...(numbers.get(nodePort.port) ?? []), nodePort]);
  return numbers;
}
