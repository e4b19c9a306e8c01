/**
 * The repair of node ports. The controller proposes, and the services store, which alone has the rows, looks again in the turn that acts (rule 6).
 */
import type { HeldNodePort } from "../../api/registry/services/held-by-service";

/** A row: the Service at the storage key `key` has the port. */
export interface NodePortRow extends HeldNodePort {
  key: string;
}

/** A Service whose node ports are to be compared with their rows. */
export interface ComparedService {
  namespace: string;
  name: string;
  /** of the Service that repair saw */
  uid: string;
}

/** What is wrong with a number of a Service; the kinds are labels of upstream's metric. */
export interface NodePortFinding {
  port: number;
  /** `repair`: it had no row and has one now. `duplicate`: another Service has it. `unknown`: whoever has its row cannot be read */
  kind: "repair" | "duplicate" | "outOfRange" | "unknown";
}

/** A row that no Service accounted for. */
export interface LeakedNodePort extends NodePortRow {
  /** it was seen often enough: it is to be freed */
  isLastSight: boolean;
}

/** `fine`: it is gone, or a Service holds the port */
export type LeakResult = "fine" | "leaked" | "freed";

/** A page of rows. `next`: the last row looked at; undefined = there are no more. */
export interface LeakedPage {
  leaked: NodePortRow[];
  next: HeldNodePort | undefined;
}

export interface RepairedNodePorts {
  /** Writes rows that are missing, and answers what it found wrong with each Service; nothing of one that is gone or another by its uid. */
  makeNodePortsWhole(services: ComparedService[]): Promise<NodePortFinding[][]>;
  /** The rows among the next `limit` behind `after` whose Service is gone or does not hold the port. */
  leakedNodePorts(after: HeldNodePort, limit: number): Promise<LeakedPage>;
  settleNodePorts(leaks: LeakedNodePort[]): Promise<LeakResult[]>;
}

export interface ListedNodePorts {
  /** Every row, by protocol and number: at most one for each of them, so one answer carries all. */
  nodePortRows(): Promise<NodePortRow[]>;
}

/** Before every row. */
export const FIRST_NODE_PORT: HeldNodePort = Object.freeze({ protocol: "", port: 0 });
