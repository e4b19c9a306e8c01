import type { NodePort, NodePortStorage } from "../../../src/addresses/clusterip/node-port-storage";
import { Journal, JournaledMap } from "../sim/journal";

/** NodePortStorage in memory; shares a journal with the other tables of the services store. */
export class MemoryNodePortStorage implements NodePortStorage {
  readonly rows: JournaledMap<NodePort & { key: string }>;

  constructor(journal = new Journal()) {
    this.rows = new JournaledMap(journal);
  }

  nodePortAdd(nodePort: NodePort, key: string): void {
    if (this.nodePortHas(nodePort)) throw new Error(`UNIQUE constraint failed: node_ports ${textOf(nodePort)}`);
    this.rows.set(textOf(nodePort), { ...nodePort, key });
  }

  nodePortHas(nodePort: NodePort): boolean {
    return this.rows.has(textOf(nodePort));
  }

  nodePortDelete(nodePort: NodePort, key: string): void {
    if (this.rows.get(textOf(nodePort))?.key === key) this.rows.delete(textOf(nodePort));
  }

  nodePortsOf(protocol: string): number[] {
    return this.rows.values().flatMap((row) => (row.protocol === protocol ? [row.port] : []));
  }
}

function textOf({ protocol, port }: NodePort): string {
  return `${protocol}/${port}`;
}
