import type { NodePortStorage } from "../../../src/addresses/node-ports/node-port-storage";
import type { NodePortRow } from "../../../src/addresses/rpc/repaired-node-ports";
import { type HeldNodePort, nodePortText } from "../../../src/api/registry/services/held-by-service";
import { Journal, JournaledMap } from "../sim/platform/journal";

/** NodePortStorage in memory; shares a journal with the other tables of the services store. */
export class MemoryNodePortStorage implements NodePortStorage {
  readonly rows: JournaledMap<NodePortRow>;

  constructor(journal = new Journal()) {
    this.rows = new JournaledMap(journal);
  }

  nodePortAdd(nodePort: HeldNodePort, key: string): void {
    if (this.nodePortHolder(nodePort) !== undefined) throw new Error(`UNIQUE constraint failed: node_ports ${nodePortText(nodePort)}`);
    this.rows.set(nodePortText(nodePort), { ...nodePort, key });
  }

  nodePortHolder(nodePort: HeldNodePort): string | undefined {
    return this.rows.get(nodePortText(nodePort))?.key;
  }

  nodePortDelete(nodePort: HeldNodePort, key: string): void {
    if (this.rows.get(nodePortText(nodePort))?.key === key) this.rows.delete(nodePortText(nodePort));
  }

  nodePortsOf(protocol: string): number[] {
    return this.rows.values().flatMap((row) => (row.protocol === protocol ? [row.port] : []));
  }

  nodePortsAfter(nodePort: HeldNodePort, limit: number): NodePortRow[] {
    const behind = this.rows.values().filter((row) => orderOf(row) > orderOf(nodePort));
    return behind.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)).slice(0, limit);
  }
}

function orderOf({ protocol, port }: HeldNodePort): string {
  return `${protocol}/${String(port).padStart(5, "0")}`;
}
