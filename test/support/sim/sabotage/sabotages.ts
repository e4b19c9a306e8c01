/** Switches that take one protection each out of a simulated cluster, to show that its absence is noticed. */
import type { Clock } from "../../../../src/core/base/ports";
import { ServiceRepair, type ServiceRepairPorts } from "../../../../src/addresses/clusterip/service-repair";
import type { OwnerConfig, ServiceCIDRRpc } from "../../../../src/addresses/rpc/service-cidr";
import type { SocketWatches } from "../../../../src/api/store/watch/socket-watches";
import { relation } from "../../../../src/core/net/prefix";
import { storedPrefix } from "../../../../src/addresses/topology/stored-prefix";
import { overriding } from "../../worlds/overriding";
import type { Sabotage } from "../platform/platform";

/** By what is missing. Made anew for every history: some remember what they did. */
export const sabotages: Readonly<Record<string, () => Sabotage>> = {
  fence: noFence,
  "stale answer": noStaleAnswer,
  "pending-release row": () => ({
    ledger: (storage) => overriding(storage, { releaseAdd: () => undefined, releaseListAdd: () => undefined }),
  }),
  seeding: () => ({ owner: (owner) => overriding(owner, { seed: () => Promise.resolve("ok") }) }),
  deadline: () => ({
    extension: (extension) =>
      overriding(extension, {
        admit: (change, operation) => {
          Object.defineProperty(operation, "deadline", { value: Infinity });
          return extension.admit?.(change, operation) ?? { kind: "go" };
        },
      }),
  }),
  "precondition of the collector": noPrecondition,
  "complete pull of the collector": noCompletePull,
  "age of orphans": noAge,
  "holder kind": noHolderKind,
  "second look": noSecondLook,
  "row of a cluster in its shard": () => ({ shard: (storage) => overriding(storage, { put: () => undefined }) }),
  "end of an unknown socket": () => ({ sockets: endNoSocket }),
  "doubt of the release before": () => ({ neverInDoubt: true }),
  "second poke": () => ({ visited: (store) => void (store.visit = () => Promise.resolve("settled")) }),
};

/** A socket of which the store knows nothing stays open. */
function endNoSocket(sockets: SocketWatches): void {
  const wake = sockets.wake.bind(sockets);
  sockets.wake = (socket, kept) => void (kept && wake(socket, kept));
}

/** The collector deletes what it has read, however that has changed since. */
function noPrecondition(): Sabotage {
  return {
    collectorWrite: (request) => (request.verb === "delete" ? { ...request, options: { ...request.options, preconditions: {} } } : request),
  };
}

/** The collector takes the first page of a store's changes for all of them. */
function noCompletePull(): Sabotage {
  return {
    linkChanges: (answer) => (answer.kind === "changes" ? { ...answer, changes: answer.changes.slice(0, 1), more: false } : answer),
  };
}

/** For repair every orphan is old enough to go. */
function noAge(): Sabotage {
  const ahead = (clock: Clock): Clock => overriding(clock, { now: () => clock.now() + 3_600_000 });
  return { repairClock: ahead };
}

/** Whoever asks an owner for its rows takes them all for its own. */
function noHolderKind(): Sabotage {
  return {
    owner: (owner) =>
      overriding(owner, {
        rowsSince: async (after, limit) => {
          const answer = await owner.rowsSince(after, limit);
          return { ...answer, rows: answer.rows.map((row) => ({ ...row, holder: { ...row.holder, kind: "service" as const } })) };
        },
      }),
  };
}

/** The services store releases whatever repair proposes, whoever holds it or is about to. */
function noSecondLook(): Sabotage {
  return {
    services: (store, rows) => {
      const { ledger } = store;
      const dropOrphaned = (address: string): boolean => {
        const allocation = rows.allocationGet(address);
        if (allocation) ledger.drop(allocation.key, address);
        return allocation !== undefined;
      };
      const ports: Pick<ServiceRepairPorts, "ledger" | "storage" | "internally"> = {
        ledger: overriding(ledger, { isInFlight: () => false, dropOrphaned }),
        storage: rows,
        internally: (work) => store.store.internally(work),
      };
      const blind = new ServiceRepair(ports as ServiceRepairPorts);
      store.giveUp = (items) => blind.giveUp(items);
    },
  };
}

/** An owner confirms what takes ranges away from it, and goes on giving them out as long as it has segments there. */
function noFence(): Sabotage {
  const allowed = new Map<string, Set<string>>();
  const kept = new Map<string, OwnerConfig>();
  const configure = (owner: ServiceCIDRRpc, uid: string, config: OwnerConfig): ReturnType<ServiceCIDRRpc["configure"]> => {
    const ranges = allowed.get(uid) ?? new Set();
    allowed.set(uid, ranges);
    for (const range of config.ranges) ranges.add(range);
    const isUnder = (range: string): boolean =>
      config.owned.some((segment) => relation(storedPrefix(range), storedPrefix(segment)) !== "disjoint");
    const key = `${uid} ${config.epoch}`;
    const next = kept.get(key) ?? { ...config, ranges: [...ranges].filter(isUnder).sort() };
    kept.set(key, next);
    return owner.configure(next);
  };
  return { owner: (owner, uid) => overriding(owner, { configure: (config) => configure(owner, uid, config) }) };
}

/** An owner that says yes to whatever it should leave to somebody else. */
function noStaleAnswer(): Sabotage {
  let counter = 1_000_000;
  return {
    owner: (owner) =>
      overriding(owner, {
        release: async (items) => (await owner.release(items)).map(() => "released"),
        allocate: async (items) => {
          const answer = await owner.allocate(items);
          const results = answer.results.map((result, i) => {
            const address = items[i]?.address ?? "";
            const isRefused = !result.ok && (result.reason === "stale" || result.reason === "frozen") && address !== "";
            return isRefused
              ? { ok: true as const, address, gen: { epoch: answer.epoch, counter: ++counter }, scope: "static" as const }
              : result;
          });
          return { ...answer, results };
        },
      }),
  };
}
