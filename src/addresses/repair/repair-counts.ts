/** The counters of repair by their types: one table has those of addresses and those of node ports. */
import type { RepairCounts } from "../rpc/repair";
import { CRON_AT, OLDER_CRON_AT, PORTIONED_AT, type RepairStorage, SWEEPS_ENDED } from "./repair-ports";

const NODE_PORT = "nodePort.";

/** The type under which a finding about node ports is counted; "" = a failure of their repair. */
export function nodePortType(type: string): string {
  return NODE_PORT + type;
}

/** The counters of addresses among all. */
export function addressCounts(all: ReadonlyMap<string, number>): Pick<RepairCounts, "ipErrors" | "reconcileErrors"> {
  const own = [...all].filter(([type]) => type !== "" && !type.startsWith(NODE_PORT));
  return { ipErrors: Object.fromEntries(own), reconcileErrors: all.get("") ?? 0 };
}

/** The counters of node ports among all. */
export function nodePortCounts(all: ReadonlyMap<string, number>): RepairCounts["nodePorts"] {
  const own = [...all].filter(([type]) => type !== NODE_PORT && type.startsWith(NODE_PORT));
  const portErrors = Object.fromEntries(own.map(([type, value]) => [type.slice(NODE_PORT.length), value]));
  return { portErrors, reconcileErrors: all.get(NODE_PORT) ?? 0 };
}

/** The counters of this controller for /metrics. */
export function repairCounts(storage: RepairStorage): Omit<RepairCounts, "differingSettings"> {
  const lastRuns = {
    cronMs: Math.max(storage.numberGet(CRON_AT), storage.numberGet(OLDER_CRON_AT)),
    repairMs: storage.numberGet(PORTIONED_AT),
  };
  return { ...storage.countsLoad(), nodePorts: storage.nodePortCountsLoad(), sweeps: storage.numberGet(SWEEPS_ENDED), lastRuns };
}
