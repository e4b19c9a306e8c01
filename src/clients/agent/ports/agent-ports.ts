/** The machine as the agent sees it, and what its parts ask of each other: the part that holds the node starts and stops the EndpointKeeper. */
import type { Random, Recorder } from "../../../core/base/ports";
import type { ElectorClock } from "../../elector/term";
import type { ApiClient } from "./api-client";

/** Small files of the agent's own that outlive it, in a folder of its own. */
export interface StateFiles {
  /** undefined: there is none of this name. Rejects when it cannot be read. */
  read(name: string): Promise<string | undefined>;
  /** All of the text is in the file, on disk, when it resolves; a crash before leaves what was there. Rejects when it cannot be written. */
  write(name: string, text: string): Promise<void>;
}

export interface AgentPorts {
  readonly clock: ElectorClock;
  readonly random: Pick<Random, "next" | "uuid">;
  readonly recorder: Recorder;
  readonly api: ApiClient;
  readonly files: StateFiles;
}

/** The Node that the agent holds. */
export interface HeldNode {
  readonly name: string;
  readonly uid: string;
  /** its InternalIPs, the preferred one first; at least one, none of them loopback or link-local */
  readonly addresses: readonly string[];
}

/**
 * Keeps the endpoints of one node. Its writes go through an ApiClient that answers "unanswered" while the agent may have lost its Lease, so that two agents never
 * write one node's Pods.
 */
export interface EndpointKeeper {
  /** The node is registered and held. Called once. */
  start(node: HeldNode): void;
  /**
   * The endpoints drain, then their Pods go. Resolves when all are gone, or a few seconds after the longest drain time at the latest, since the server
   * may be away. Never rejects. Called once at most; also without `start`.
   */
  stop(): Promise<void>;
  /** Another agent holds the node: everything ends at once, and nothing is written any more. */
  abandon(): void;
}

/** What keepers of one object need. */
export type AgentKeeperPorts = Pick<AgentPorts, "api" | "clock" | "random" | "recorder">;
