/** Rows of node ports that Services hold, in the database of the services store and in its transactions. */
import type { HeldNodePort } from "../../api/registry/services/held-by-service";
import type { NodePortRow } from "../rpc/repaired-node-ports";

export interface NodePortStorage {
  /** plain INSERT: a second holder is an error; `key` is the storage key of the Service */
  nodePortAdd(nodePort: HeldNodePort, key: string): void;
  /** the storage key of the Service that holds it; undefined = nobody does */
  nodePortHolder(nodePort: HeldNodePort): string | undefined;
  /** only the row of `key`; no row is no error */
  nodePortDelete(nodePort: HeldNodePort, key: string): void;
  /** the numbers held with one protocol, in no particular order */
  nodePortsOf(protocol: string): number[];
  /** at most `limit` rows behind `nodePort`, by protocol and then by number */
  nodePortsAfter(nodePort: HeldNodePort, limit: number): NodePortRow[];
}
