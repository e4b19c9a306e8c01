/**
 * How many connections the server has, for those who do something when there are many. The runtime does not tell; Linux does, in the tables of TCP.
 * Elsewhere nothing is known.
 */
import { readFile } from "node:fs/promises";

/** Beside fewer connections than this one the runtime gets round to each by itself: it looks at 16 at a time, and closes one after 5 s at rest. */
const MANY = 500;
/** They are many until they are fewer than this, so that clients that come and go change nothing. */
const FEW = 400;
const LOOK_MS = 1_000;

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
/** state of a connection in the tables: include/net/tcp_states.h of Linux */
const ESTABLISHED = "01";

/** Established connections to a local port, in the text of a table of TCP (proc_net_tcp of Linux: one line for each socket, addresses in hexadecimal). */
export function connectionsIn(table: string, port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  let count = 0;
  for (const line of table.split("\n")) {
    const [, address, , state] = line.trim().split(/\s+/, 4);
    if (state === ESTABLISHED && address?.endsWith(local)) count++;
  }
  return count;
}

/** Connections to a local port; undefined where the system has no tables. */
export async function connectionsTo(port: number): Promise<number | undefined> {
  const tables = await Promise.all(TABLES.map((path) => readFile(path, "utf8").catch(() => undefined)));
  const known = tables.filter((table) => table !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, table) => sum + connectionsIn(table, port), 0);
}

/**
 * Looks each second and calls `tell` when there are many connections or no longer, first at once. `tell` answers whether it was heard; if not, it is
 * called again. It is not called where connections are not known.
 */
export function watchConnections(
  port: number,
  tell: (areMany: boolean) => Promise<boolean>,
  connections: (port: number) => Promise<number | undefined> = connectionsTo,
): { stop(): void } {
  let told: boolean | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const count = await connections(port);
      if (count === undefined) return;
      const areMany = count >= (told === true ? FEW : MANY);
      if (areMany !== told && (await tell(areMany))) told = areMany;
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  void look();
  return { stop: () => clearInterval(timer) };
}
