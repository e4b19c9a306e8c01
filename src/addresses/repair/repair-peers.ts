/** The ports of repair on the objects of a cluster: each call gets a stub of its own and a timeout. */
import { OPERATION_DEADLINE_MS } from "../../core/base/limits";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Config } from "../../core/config/config";
import { prefixesIn } from "../../core/net/prefix";
import type { ObjectFeed } from "../../api/rpc/object-feed";
import type { StoreRpc } from "../../api/rpc/store";
import type { CoordinatorRpc, RepairedRanges } from "../rpc/topology";
import type { RepairedNodePorts } from "../rpc/repaired-node-ports";
import { makeServicesWholeOf, type RepairedAddresses, type RepairedOwner, type RepairedServices } from "../rpc/repair";
import type { RepairPorts } from "./repair-ports";
import { StoredRanges } from "./stored-ranges";

/** Retaking addresses may take an operation's whole time. */
const CALL_TIMEOUT_MS = 2 * OPERATION_DEADLINE_MS;

/** Stubs of the objects that repair calls. A stub is dead after a throw, so each call asks for a new one. */
export interface RepairPeers {
  services(): ObjectFeed & RepairedServices & RepairedNodePorts;
  ipAddresses(): ObjectFeed & RepairedAddresses & Pick<StoreRpc, "write">;
  coordinator(): Pick<ObjectFeed, "objectsAfter"> & Pick<CoordinatorRpc, "topology"> & RepairedRanges;
  owner(uid: string): Pick<RepairedOwner, "checkBitmap">;
  namespaceFeed?(): Pick<ObjectFeed, "objectsNamed">;
}

/** What repair has of its own object. */
interface OwnPorts extends Pick<
  RepairPorts,
  "clock" | "recorder" | "storage" | "rows" | "events" | "nodePortEvents" | "loadBalancerEvents"
> {
  /** the configuration that the objects of the cluster run under */
  config: Pick<Config, "defaultLoadBalancerClass" | "onlyRanges" | "serviceRanges">;
}

export function repairPorts(
  { config, ...own }: OwnPorts,
  { services, ipAddresses, coordinator, owner, namespaceFeed }: RepairPeers,
): RepairPorts {
  const { clock, recorder }: { clock: Clock; recorder: Recorder } = own;
  const answered = <T>(call: Promise<T>): Promise<T> => withTimeout(clock, CALL_TIMEOUT_MS, call);
  const feedOf = (store: () => ObjectFeed): ObjectFeed => ({
    objectsSince: (cursor, limit, page) => answered(store().objectsSince(cursor, limit, page)),
    objectsAfter: (after, limit) => answered(store().objectsAfter(after, limit)),
    objectsNamed: (keys) => answered(store().objectsNamed(keys)),
  });
  const { onlyRanges, serviceRanges } = config;
  const configured = onlyRanges && prefixesIn(onlyRanges);
  const stored = new StoredRanges(
    {
      objectsAfter: (after, limit) => answered(coordinator().objectsAfter(after, limit)),
      rangesSince: (cursor) => answered(coordinator().rangesSince(cursor)),
    },
    recorder,
  );
  return {
    ...own,
    defaultLoadBalancerClass: config.defaultLoadBalancerClass,
    services: {
      ...feedOf(services),
      makeWhole: (items) => answered(services().makeWhole(items)),
      makeServicesWhole: (items, seen) => answered(makeServicesWholeOf(services, items, seen)),
      giveUp: (items) => answered(services().giveUp(items)),
      makeNodePortsWhole: (seen) => answered(services().makeNodePortsWhole(seen)),
      leakedNodePorts: (after, limit) => answered(services().leakedNodePorts(after, limit)),
      settleNodePorts: (leaks) => answered(services().settleNodePorts(leaks)),
    },
    ipAddresses: {
      ...feedOf(ipAddresses),
      restoreMany: (writes) => answered(ipAddresses().restoreMany(writes)),
      writersOf: (names) => answered(ipAddresses().writersOf(names)),
      makeHeld: (items) => answered(ipAddresses().makeHeld(items)),
      write: (request) => answered(ipAddresses().write(request)),
    },
    legacyRanges: onlyRanges && prefixesIn(serviceRanges),
    ...(namespaceFeed && { namespaces: (keys) => answered(namespaceFeed().objectsNamed(keys)) }),
    ranges: () => (configured ? Promise.resolve({ prefixes: configured }) : stored.current()),
    owners: async () => {
      const { claims } = await answered(coordinator().topology());
      return [...new Set(claims.map(({ ownerUid }) => ownerUid))];
    },
    owner: (uid) => ({ checkBitmap: (after, limit) => answered(owner(uid).checkBitmap(after, limit)) }),
  };
}
