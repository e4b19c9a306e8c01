/**
 * What an operation may cost, with everything that follows its answer: one table. The tests of test/object/economy hold it, docs/edge.md shows it.
 * Who lowers a figure lowers the bound in the same commit; nobody raises one. Where the aim is reached, `aim` goes.
 */

/** What is counted, each apart. */
export const METERS = ["rows", "calls", "made", "alarms", "values", "puts"] as const;
export type Meter = (typeof METERS)[number];

/**
 * `rows`: rows of SQLite that all objects write, those of indexes included. `calls`: of objects, whoever makes them. `made`: objects that were not
 * there before. Each is made where its first caller is, and never moves. `alarms`: of setAlarm.
 * `values`: that objects keep beside their tables (`storage.kv`). `puts`: writes and deletions of the key-value store DIRECTORY. The platform bills
 * an alarm and a value as one row each, and a put as five.
 */
export type Count = Record<Meter, number>;

export interface Bound extends Partial<Readonly<Count>> {
  /** What is wanted, where a bound is above it. A meter that has no bound here may not move. */
  readonly aim?: Partial<Readonly<Count>>;
}

export const ECONOMY = {
  "Service: created alone": { rows: 18, calls: 16 },
  "Service: one of 40 created at once": { rows: 12, calls: 3 },
  "Service: update that no controller copies": { rows: 2, calls: 1 },
  "Service: update of a label, which slices and Endpoints copy": { rows: 9, calls: 10 },
  "Service: deleted alone": { rows: 20, calls: 24 },
  "Service: one of 40 deleted at once": { rows: 11, calls: 3, values: 0.5 },
  // Of the class of pools. Its address is a row of another store, and a note beside the Service. The controller of pools counts it.
  "load balancer of a pool: created alone": { rows: 26, calls: 22, values: 1 },
  "load balancer of a pool: one of 40 created at once": { rows: 15, calls: 4, values: 1 },
  "load balancer of a pool: deleted alone": { rows: 28, calls: 33, values: 1 },
  "load balancer of a pool: one of 40 deleted at once": { rows: 14, calls: 4, alarms: 0.1, values: 1.5 },
  // Of another class, beside a pool for load balancers: what a Service costs, and its node port.
  "load balancer of another class: created alone": { rows: 19, calls: 16 },
  // One call asks whether a pool has the address. Without such a pool in the cluster there is none.
  "load balancer of another class: its status gets an address": { rows: 2, calls: 2 },
  "IPAddressClaim: created alone": { rows: 12, calls: 16 },
  "IPAddressClaim: one of 40 created at once": { rows: 4.5, calls: 2 },
  // Its address is a row at the root, whose controller of pools counts it, beside what a claim of the cluster costs.
  "IPAddressClaim of a pool of the root: created alone": { rows: 16, calls: 22 },
  "IPAddressClaim of a pool of the root: one of 40 created at once": { rows: 6, calls: 2 },
  "Lease: created": { rows: 2, calls: 1 },
  "Lease of a Node: created": { rows: 3, calls: 4 },
  "Lease: renewed, with the trimming of its history": { rows: 1, calls: 1 },
  "Node: heartbeat in its status": { rows: 2, calls: 1 },
  // Each five seconds while a Node is there, whose alarm it is.
  "look at the Leases of Nodes": { rows: 0, calls: 1, alarms: 1 },
  "Pod: created": { rows: 2, calls: 5, alarms: 1 },
  "Pod: becomes ready": { rows: 12, calls: 11 },
  "Pod: deleted with grace 0": { rows: 11, calls: 13, alarms: 1 },
  "Event: created": { rows: 2, calls: 1 },
  "EndpointSlice: updated": { rows: 2, calls: 1 },
  "minute's tick: an idle cluster": {},
  // One call of these is the poke of the shard, which all its clusters share.
  "minute's tick: a cluster whose writes have been met": { calls: 2 },
  "minute's tick: a cluster with writes": { rows: 2, calls: 11 },
  "minute's tick: a cluster with writes, with a portion of repair's sweep": { rows: 4, calls: 12 },
  "minute's tick: the first one behind the last writes": { rows: 6, calls: 11 },
  // The full visit, which is the same after each hour of writes, and the compaction of each store that was ever used: all objects start.
  "the visit of each day: an idle cluster": { rows: 3, calls: 100, alarms: 1, values: 1 },
  // The objects: the record, four stores with what a cluster begins with, its range, repair, and the controller that follows the Service `kubernetes`.
  // Its shard is one more where it is the first cluster there; an alarm and four values are the shard's. Three
  // values are the list's of all clusters: the name, its stamp, and what the record tells of it.
  // Two calls are the controller's of its object, which does the same as the request, in case that dies. They are those of the new cluster: the object
  // and its controller are in `default`, which the meter leaves out (docs/edge.md says what they cost).
  // One more asks the list of all clusters whether the cluster is there, so that its object says where that is.
  "cluster: made": { rows: 113, calls: 34, made: 10, alarms: 7, values: 10, puts: 3 },
  // A full visit of what the beginning has used. The value is the shard's: a tick, of which it keeps every second one, because it is dropped meanwhile.
  "cluster: its first tick": { rows: 5, calls: 15, values: 1 },
  // Of the stores that the beginning has used. Two calls and two values are the shard's, whose round of an hour outlives it.
  "cluster: its first hour's compaction": { calls: 7, values: 2 },
  "get in a cluster that nobody made": { calls: 1 },
  "get by a user with a role: warm": { calls: 1 },
  "get by a user with a role: rules older than 4 s": { calls: 2 },
  // In the cluster `default`, of which nobody asks whether it was made, there is one less. After a change of the rules three more, and a value.
  "get by a user with a role: everything asleep": { calls: 4 },
  "watch: opened from a revision that the isolate has not": { calls: 1 },
  // Beside another one of the isolate that sees the same.
  "watch: opened from a revision that the isolate has": {},
  "watch: a change reaches 50 clients of an isolate": { rows: 2, calls: 1 },
  // The Node, and a socket to each store, which other polls of the isolate share.
  "page of a node: a poll that waits, and nothing changes": { calls: 3 },
  "page of a node: a slice changes, and 20 polls are told": { rows: 2, calls: 24 },
  "health check of a node: warm": { calls: 1 },
  "health check of a node: asleep": { rows: 0, calls: 3 },
  "trimming of history: per change": { rows: 1 },
  "trimming of history: per change of 40 at once": { rows: 0.25 },
} as const satisfies Record<string, Bound>;

export type Operation = keyof typeof ECONOMY;

/**
 * How many calls of objects an answer waits for, one behind the other: each takes the way from where the caller is to where the object is. "Everything
 * asleep" is an isolate that knows nothing, and objects that start.
 */
export const HOPS = {
  "get by a user: warm": 1,
  "get by a user: everything asleep": 3,
  "create by a user: warm": 3,
  "create by a user: everything asleep": 5,
} as const satisfies Record<string, number>;
