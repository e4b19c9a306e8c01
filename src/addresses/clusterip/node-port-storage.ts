/** Rows of node ports that Services hold, in the database of the services store and in its transactions. */

/** One port of every node, by one protocol: what only one Service of a cluster can have. */
export interface NodePort {
  /** `TCP`, `UDP` or `SCTP` */
  protocol: string;
  port: number;
}

export interface NodePortStorage {
  /** plain INSERT: a second holder is an error; `key` is the storage key of the Service */
  nodePortAdd(nodePort: NodePort, key: string): void;
  /** whether any Service holds it */
  nodePortHas(nodePort: NodePort): boolean;
  /** only the row of `key`; no row is no error */
  nodePortDelete(nodePort: NodePort, key: string): void;
  /** the numbers held with one protocol, in no particular order */
  nodePortsOf(protocol: string): number[];
}
