/**
 * Every timer that the code of objects sets, by file, and how long it may keep its object awake. The platform bills an object until it has none: no
 * timer, no open stream and no call under way. The test of this table finds a timer that has no row. docs/edge.md shows it.
 */

export interface HeldAwake {
  /** seconds at most, each time that it happens */
  readonly seconds: number;
  readonly when: string;
}

/** A timer within a request, or a pass: its caller waits, and the object is at work. */
const CALLER = "within a request that waits";
const PASS = "within a pass";

export const TIMERS: Readonly<Record<string, HeldAwake>> = {
  "durable-objects/peers/cluster-visits.ts": {
    seconds: 0.2,
    when: "in a turn of a shard, before a call that was not delivered is repeated",
  },
  "durable-objects/platform/recovery.ts": {
    seconds: 0.1,
    when: "before the restart of an object that was brought back to an earlier time",
  },
  "src/addresses/clusterip/ip-address-extension.ts": { seconds: 0.1, when: CALLER },
  "src/addresses/coordinator/free-hints.ts": { seconds: 0.001, when: CALLER },
  "src/addresses/coordinator/waiters.ts": { seconds: 30, when: CALLER },
  "src/addresses/ledger/address-supply.ts": { seconds: 0.5, when: CALLER },
  "src/addresses/ledger/held-rows.ts": { seconds: 0.001, when: PASS },
  "src/addresses/ledger/ledger-store.ts": { seconds: 0.5, when: "after a turn with work for repair, until the poke" },
  "src/addresses/ledger/release-sender.ts": { seconds: 0.3, when: "while an owner is behind the topology" },
  "src/api/store/engine/awaited-revisions.ts": { seconds: 3, when: CALLER },
  "src/api/store/feeds/collector-pokes.ts": { seconds: 0.25, when: "after a turn that concerns the garbage collector, until the poke" },
  "src/api/store/feeds/deliveries.ts": { seconds: 30, when: "while the list of visits does not answer" },
  "src/api/store/feeds/follower-pokes.ts": { seconds: 0.05, when: "after a turn, until the poke of who follows" },
  "src/api/store/hub/watch-hub.ts": { seconds: 1, when: "again and again while a watch is a stream: of a Worker of the release before" },
  "src/api/store/quota/limited.ts": { seconds: 0.5, when: "after a turn in a namespace with a quota, until it is told" },
  "src/api/store/watch/missed-changes.ts": { seconds: 30, when: "while the client of such a stream takes nothing of its beginning" },
  "src/api/store/watch/socket-watches.ts": {
    seconds: 30,
    when: "after changes that an open watch does not see: 1 s, or 5 s while they go on. For a watch whose client takes nothing of the objects at its beginning",
  },
  "src/controllers/frame/controller.ts": { seconds: 900, when: "for a pass that hangs; it ends with the pass" },
  "src/core/turns/commit-pace.ts": { seconds: 10, when: "for a commit that hangs; it ends with the commit" },
  "src/core/base/pause.ts": { seconds: 1, when: `${PASS}, between its steps` },
  "src/core/base/timeout.ts": { seconds: 60, when: "for a call that hangs; it ends with the call" },
  "src/core/telemetry/paced-log.ts": { seconds: 1, when: "after a burst of log lines, until they are counted" },
  "src/endpoints/controller/endpoints-pass.ts": { seconds: 0.05, when: PASS },
  "src/nodes/lifecycle/lifecycle-pass.ts": { seconds: 1, when: "before a pass that is poked again within a second" },
  "src/proxy-health/counted-node-proxy.ts": {
    seconds: 1,
    when: "after a report or a check of a node, until the controller is told; five times more while it does not answer",
  },
  "src/proxy-health/pushed/push-pass.ts": { seconds: 0.1, when: PASS },
  "src/proxy-health/reports.ts": { seconds: 1, when: "after a check that finds the alarm overdue" },
};

/** How timers look in the sources; the ports of them are the platform's and throttle's. */
export const TIMER =
  /[cC]lock(?:\(\))?\.(?:after|sleep)\(|\bset(?:Timeout|Interval)\(|\bthrottled\((?:clock|ports)|(?<![.\w#])pause\(|\bscheduler\.wait/;
/** Where no object runs, and what other files call. */
export const NOT_OF_OBJECTS =
  /^src\/(?:worker|clients|tools|api\/relay|api\/client|access\/fairness)\/|^durable-objects\/platform\/ports\.ts$|^src\/core\/turns\/throttle\.ts$|^src\/core\/base\/endable-wait\.ts$/;
