/** The calls of the objects that keep the health of nodes, and those of their controller. */
import type { HealthAnswer, HealthPath } from "./rules/health-answer";
import type { HealthCounts, HealthTally } from "./pushed/health-tally";
import type { NodeTarget } from "./pushed/node-target";
import type { Cursor, ShardChange } from "./pushed/shard-change";
import type { Family } from "../core/net/family";
import type { Report } from "./report";
import type { AskedService } from "./told-nodes";

/** `unknownNode`: the API has no such Node. `unanswered`: the store of Nodes did not say whether it has. */
export type ReportResult = { ok: true } | { ok: false; reason: "unknownNode" | "unanswered" };

/** `isOfNode`: the object knows of such a Node. Otherwise the answer is that of a name, and anybody may make up names. */
export interface NodeAnswer extends HealthAnswer {
  readonly isOfNode: boolean;
}

/** Which answers to a check count: every one, or those of a Node. Without a Node the API answers 404 in place of the proxy. */
export type CountedAnswers = "all" | "ofNodes";

/**
 * The code in the text of the error of a check while nothing is known that could go on. For a node: neither the store of Nodes nor the controller has ever
 * said whether it is there. For a Service: the controller has not told of checks. Errors cross RPC as their text.
 */
export const NOTHING_KNOWN = "NOTHING_KNOWN";
/** How the release before this one knows the error, and says it. */
export const NOTHING_KNOWN_TEXT = "nothing is known of the node yet";

export interface NodeProxyRpc {
  /** keeps the report in place of the one before; durable when it answers */
  report(node: string, report: Report): Promise<ReportResult>;
  /** of any name; writes nothing for a node of which nothing is new. Rejects with NOTHING_KNOWN. */
  health(node: string, path: HealthPath, counted?: CountedAnswers): Promise<NodeAnswer>;
  /**
   * What the healthCheckNodePort of a Service answers on the node; null = nothing answers there, since no Service has such a check in this family.
   * `family`: null = that of the Service's first ClusterIP. Rejects with NOTHING_KNOWN.
   */
  serviceHealth(node: string, service: AskedService, family: Family | null): Promise<NodeAnswer | null>;
  /** Takes what the controller tells. Answers what the object has then: durable, and older than the change where that one has a gap; null = nothing. */
  push(change: ShardChange): Promise<Cursor | null>;
}

/** The controller "proxy-health". */
export interface ProxyHealthControllerRpc {
  /**
   * The whole state of a shard; null = nothing that the owner of the cursor `known` lacks, or nothing is known yet to either. Rejects when Nodes cannot be
   * read and the owner knows of some. The question asks for a pass as well, in case a poke was lost: unless `mayRest`, which a release before does not know.
   */
  shardState(shard: number, known: Cursor | null, mayRest?: boolean): Promise<ShardChange | null>;
  /** every Node of the cluster, in any order; null = they could not be read yet: nobody may take that for none */
  targets(): Promise<NodeTarget[] | null>;
  /** what a shard has answered in this life of its memory; may come twice and late */
  addHealthTally(shard: number, tally: HealthTally): Promise<void>;
  /** of all shards, as they told last */
  healthCounts(): Promise<HealthCounts>;
}
