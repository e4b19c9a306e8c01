/** Node ports that seem to have leaked, among the suspects: how often each was seen, and when last. */
import type { NodePortRow } from "../rpc/repaired-node-ports";
import type { RepairPorts, Tries } from "./repair-ports";

/** As upstream (numRepairsBeforeLeakCleanup): the sight at which a port is freed. */
const LAST_SIGHT = 3;
/** Upstream's interval of the repair of node ports. */
export const NODE_PORTS_INTERVAL_MS = 3 * 60_000;

const PREFIX = "nodeports/";

export function isLeakId(id: string): boolean {
  return id.startsWith(PREFIX);
}

export class LeakSights {
  constructor(private readonly ports: Pick<RepairPorts, "clock" | "storage">) {}

  /** The first sight. Answers whether it is one: what is being watched already is seen again when its time comes. */
  begin(row: NodePortRow): boolean {
    const id = idOf(row);
    if (this.ports.storage.suspectTries(id).attempts > 0) return false;
    this.#note(id, 1);
    return true;
  }

  /** The suspects whose time has come. The others wait on: a pass that failed puts all of its suspects back at once. */
  due(ids: readonly string[]): NodePortRow[] {
    return ids.flatMap((id) => {
      const { attempts, toldAt } = this.ports.storage.suspectTries(id);
      const sinceMs = this.ports.clock.now() - toldAt;
      // A clock that was set back must not keep the port for ever.
      if (sinceMs >= NODE_PORTS_INTERVAL_MS || sinceMs < 0) return [rowOf(id)];
      this.ports.storage.suspectPut(id, toldAt + NODE_PORTS_INTERVAL_MS, { attempts, toldAt });
      return [];
    });
  }

  isLast(row: NodePortRow): boolean {
    return this.#sights(row).attempts + 1 >= LAST_SIGHT;
  }

  again(row: NodePortRow): void {
    this.#note(idOf(row), this.#sights(row).attempts + 1);
  }

  /** It could not be looked at: this is no sight. */
  putOff(row: NodePortRow, forMs: number): void {
    this.ports.storage.suspectPut(idOf(row), this.ports.clock.now() + forMs, this.#sights(row));
  }

  #sights(row: NodePortRow): Tries {
    return this.ports.storage.suspectTries(idOf(row));
  }

  #note(id: string, attempts: number): void {
    const toldAt = this.ports.clock.now();
    this.ports.storage.suspectPut(id, toldAt + NODE_PORTS_INTERVAL_MS, { attempts, toldAt });
  }
}

function idOf({ protocol, port, key }: NodePortRow): string {
  return `${PREFIX}${protocol}/${port}/${key}`;
}

function rowOf(id: string): NodePortRow {
  const [protocol = "", port = "", ...key] = id.slice(PREFIX.length).split("/");
  return { protocol, port: Number(port), key: key.join("/") };
}
