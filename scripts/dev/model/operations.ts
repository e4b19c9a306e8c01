/** The bounds of the counting tests in dollars: of a million operations, and of a cluster's month. */
import { type Bound, type Count, ECONOMY, type Operation } from "../../../test/support/economy/bounds";
import { CREATED_ROWS } from "../../../test/support/economy/created-rows";
import { type Usage, usageOf } from "./prices";

const OPERATIONS = Object.keys(ECONOMY) as Operation[];

/** Nobody asks for these. A run of cron is one request for all clusters, and the poke of a shard one call for all of its clusters. */
const WITHOUT_REQUEST: readonly Operation[] = [
  "minute's tick: an idle cluster",
  "minute's tick: a cluster whose writes have been met",
  "minute's tick: a cluster with writes",
  "minute's tick: a cluster with writes, with a portion of repair's sweep",
  "minute's tick: the first one behind the last writes",
  "the visit of each day: an idle cluster",
  "look at the Leases of Nodes",
  "trimming of history: per change",
  "trimming of history: per change of 40 at once",
];

export interface BoundedOperation {
  readonly operation: Operation;
  readonly bound: Count;
  /** what is wanted: the bound where there is no aim */
  readonly aim: Count;
  readonly usage: Usage;
  readonly usageAimed: Usage;
}

function boundedOperation(operation: Operation): BoundedOperation {
  const { aim = {}, ...bounds }: Bound = ECONOMY[operation];
  const bound: Count = { rows: 0, calls: 0, made: 0, alarms: 0, values: 0, puts: 0, ...bounds };
  const wanted: Count = { ...bound, ...aim };
  const requests = WITHOUT_REQUEST.includes(operation) ? 0 : 1;
  return { operation, bound, aim: wanted, usage: billed(bound, requests), usageAimed: billed(wanted, requests) };
}

export const boundedOperations = (): BoundedOperation[] => OPERATIONS.map(boundedOperation);

/** What counts are billed as. Each alarm that is set is a row, and a call when it rings. */
export function billed({ rows, calls, alarms, values, puts }: Count, requests: number): Usage {
  return {
    workerRequests: requests,
    objectRequests: calls + alarms,
    rowsWritten: rows + alarms + values,
    keysWritten: puts,
  };
}

/** A part of a month, for the table that shows how its dollars come about. */
export interface MonthPart {
  readonly what: string;
  readonly times: number;
  /** of one */
  readonly usage: Usage;
}

export interface Month {
  readonly what: string;
  /** shown one by one, where the month counts CPU and the time awake, too */
  readonly parts?: readonly MonthPart[];
  readonly usage: Usage;
  readonly usageAimed: Usage;
  /** dollars at most, where there is a goal */
  readonly goal?: number;
}

const DAYS = 30;
const MINUTES = DAYS * 24 * 60;
const EACH_10_SECONDS = MINUTES * 6;
const MILLION = 1e6;

/**
 * What no counting test can hold, because it depends on the machine: taken high. A commit of the platform takes 10 to 20 ms, and its object is awake
 * meanwhile. A read takes as long as its way. An object that comes back from sleep reads its first rows. The Worker's CPU is that of `npm run model`,
 * objects included.
 */
const AWAKE_SECONDS = { write: 0.02, read: 0.005, wake: 0.05 };
const WORKER_CPU_MS = 5;
/** A watch looks around each 4 s, and sends a bookmark a minute (src/api/relay/limits.ts). */
const WATCH_CPU_MS_PER_MINUTE = 0.2;
/** A store that tells a watch of changes which it does not see waits so long for more of them: WATCH_PROGRESS_FIRST_MS. */
const PROGRESS_SECONDS = 1;
/** What the platform bills for an object that is awake, whatever it uses. */
export const GB_OF_OBJECT = 0.128;
/** client-go ends a watch after 5 to 10 minutes. */
const REOPENINGS = MINUTES / 7.5;

/** A month of 30 days, by the bounds. */
export function months(): Month[] {
  // What a create adds to histories is deleted when it is old.
  const histories = sumOf(CREATED_ROWS.filter(({ table }) => table.startsWith("history")));
  const trimmingOf = (operation: Operation): Usage => ({ rowsWritten: histories * boundedOperation(operation).bound.rows });
  return [
    month("Lease of one node, renewed each 10 s", [["Lease: renewed, with the trimming of its history", EACH_10_SECONDS]], { goal: 0.45 }),
    month("… of 50 nodes", [["Lease: renewed, with the trimming of its history", 50 * EACH_10_SECONDS]]),
    month("a million Services, each created alone, with the trimming of histories", [["Service: created alone", MILLION]], {
      trimming: trimmingOf("trimming of history: per change"),
      goal: 28,
    }),
    month("… 40 at once", [["Service: one of 40 created at once", MILLION]], {
      trimming: trimmingOf("trimming of history: per change of 40 at once"),
      goal: 18,
    }),
    month("a million Pods of Services: created, ready, deleted", [
      ["Pod: created", MILLION],
      ["Pod: becomes ready", MILLION],
      ["Pod: deleted with grace 0", MILLION],
    ]),
    month("a million GETs of users with roles", [["get by a user with a role: warm", MILLION]]),
    month("health checks of one node, each 10 s", [["health check of a node: warm", EACH_10_SECONDS]]),
    month("visits of an idle cluster, one each day", [["the visit of each day: an idle cluster", DAYS]]),
    month("ticks of a cluster with writes in each minute, with a full visit each hour", [
      ["minute's tick: a cluster with writes", (MINUTES * 4) / 5],
      ["minute's tick: a cluster with writes, with a portion of repair's sweep", MINUTES / 5],
      ["the visit of each day: an idle cluster", 24 * DAYS],
    ]),
    month("polls of one proxy for the page of its node, each of a minute", [
      ["page of a node: a poll that waits, and nothing changes", MINUTES],
    ]),
    monthOf("a quiet cluster with 50 watchers, which client-go opens anew", quietCluster(), 0.3),
    monthOf("50 nodes with kube-proxy", nodesWithKubeProxy(), 30),
  ];
}

const awake = (seconds: number): Usage => ({ objectGbSeconds: seconds * GB_OF_OBJECT });
const cpu = (ms: number): Usage => ({ workerCpuMs: ms });

function part(what: string, times: number, ...usages: readonly Usage[]): MonthPart {
  return { what, times, usage: usageOf(usages.map((usage) => [usage, 1] as const)) };
}

/** A watch of a user with a role: the isolate asks for the rules, and has not the revision. Nobody shares its socket. */
const reopening = (watches: number): MonthPart =>
  part(
    `a watch opened anew, with the question for the rules`,
    watches * REOPENINGS,
    boundedOperation("watch: opened from a revision that the isolate has not").usage,
    // What the rules cost that are not those of now.
    {
      objectRequests:
        boundedOperation("get by a user with a role: rules older than 4 s").bound.calls -
        boundedOperation("get by a user with a role: warm").bound.calls,
    },
    awake(2 * AWAKE_SECONDS.wake),
    cpu(WORKER_CPU_MS),
  );

/** Nothing is written, so cron visits it each day. Its watches are in the Worker, and its objects sleep. */
function quietCluster(): MonthPart[] {
  return [
    reopening(50),
    part("a minute of an open watch, in the Worker", 50 * MINUTES, cpu(WATCH_CPU_MS_PER_MINUTE)),
    part("the full visit of a day", DAYS, boundedOperation("the visit of each day: an idle cluster").usage, awake(1)),
  ];
}

/** Each kubelet renews its Lease and tells its status, each kube-proxy watches Services, slices and its own Node. */
function nodesWithKubeProxy(): MonthPart[] {
  const nodes = 50;
  const heartbeats = nodes * (MINUTES / 5);
  const write = [awake(AWAKE_SECONDS.write), cpu(WORKER_CPU_MS)];
  return [
    part(
      "a Lease renewed, each 10 s",
      nodes * EACH_10_SECONDS,
      boundedOperation("Lease: renewed, with the trimming of its history").usage,
      ...write,
    ),
    part("a heartbeat in a Node's status, each 5 minutes", heartbeats, boundedOperation("Node: heartbeat in its status").usage, ...write),
    part("the store of Nodes, before it tells 49 watches that a heartbeat was not theirs", heartbeats, awake(PROGRESS_SECONDS)),
    part(
      "a look at the Leases, each 5 s",
      2 * EACH_10_SECONDS,
      boundedOperation("look at the Leases of Nodes").usage,
      awake(3 * AWAKE_SECONDS.read),
    ),
    part("the question for the rules, each 2 s", 5 * EACH_10_SECONDS, { objectRequests: 1 }, awake(AWAKE_SECONDS.read)),
    reopening(3 * nodes),
    part("a minute of an open watch, in the Worker", 3 * nodes * MINUTES, cpu(WATCH_CPU_MS_PER_MINUTE)),
    part(
      "a minute's tick of a cluster with writes, with a portion of repair's sweep",
      MINUTES,
      boundedOperation("minute's tick: a cluster with writes, with a portion of repair's sweep").usage,
      awake(10 * AWAKE_SECONDS.read),
    ),
    part("the full visit of an hour", 24 * DAYS, boundedOperation("the visit of each day: an idle cluster").usage, awake(1)),
  ];
}

function monthOf(what: string, parts: readonly MonthPart[], goal: number): Month {
  const usage = usageOf(parts.map(({ usage: each, times }) => [each, times] as const));
  return { what, parts, usage, usageAimed: usage, goal };
}

function month(
  what: string,
  parts: readonly (readonly [Operation, number])[],
  { trimming = {}, goal }: { trimming?: Usage; goal?: number } = {},
): Month {
  const bounded = parts.map(([operation, times]) => ({ ...boundedOperation(operation), times }));
  const trimmed: readonly [Usage, number] = [trimming, MILLION];
  return {
    what,
    usage: usageOf([...bounded.map(({ usage, times }) => [usage, times] as const), trimmed]),
    usageAimed: usageOf([...bounded.map(({ usageAimed, times }) => [usageAimed, times] as const), trimmed]),
    ...(goal === undefined ? {} : { goal }),
  };
}

export function sumOf(rows: readonly { rows: number }[]): number {
  return rows.reduce((sum, { rows }) => sum + rows, 0);
}
