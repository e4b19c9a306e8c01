/** Which fault met which step of the protocol: a simulation that never loses the answer of an activation shows nothing about it. */
import type { HandoffRow } from "../../../src/addresses/coordinator/state/coordinator-storage";
import type { CopyChunk, OwnerConfig } from "../../../src/addresses/rpc/service-cidr";
import { MISSING } from "./platform/earlier-release";
import { KV_FAULTS } from "./platform/faulty-kv";
import type { Contents } from "../memory/coordinator-storage";

/** What happens to a message, to the clock of who gets it, or to an object at a message. */
const MESSAGE_FAULTS = ["lost", "replyLost", "repeated", "slow", "clockJump", "callerDies", "calledDiesBefore", "calledDiesAfter"] as const;
/** What happens to an object at a commit. */
const COMMIT_FAULTS = ["crashBefore", "crashAfter", "lostTransaction"] as const;

export type FaultKind = (typeof MESSAGE_FAULTS)[number] | (typeof COMMIT_FAULTS)[number];

/** Calls that only read: nothing is committed in them. */
const READ_STEPS = {
  create: ["topology", "countedTopology", "countFree", "pendingReleases"],
  bootstrap: ["readyTopology"],
  release: ["audit"],
  topology: ["countTaken"],
  handoff: ["cut", "copyOut"],
  repair: ["feed", "writers", "rowsOf", "checkBitmap", "makeWhole", "makeHeld", "giveUp"],
  namespace: ["learnNamespace", "emptyNamespace", "listNamespaces", "getNamespace"],
  collection: ["linkChanges", "listLinks", "readLinks"],
} as const;
/** Calls of controllers, whose clocks do not jump. */
const POKE_STEPS = { controllers: ["pokeNamespaces", "pokeRepair", "pokeCollector"], visits: ["askVisits", "visit"] } as const;
/** Calls of a shard of the directory of clusters. What it writes in one step is with the answer, or is not. */
const SHARD_STEPS = { shards: ["enterShard", "leaveShard", "pokeShard"] } as const;
/** Calls that write. */
const WRITE_STEPS = {
  create: ["allocate", "createAddresses"],
  release: ["deleteAddresses", "release"],
  topology: ["own", "allow", "fence", "close", "reopen", "retire"],
  seeding: ["claimPrefixes", "seed"],
  handoff: ["freeze", "open", "chunk", "seal", "activate", "drop", "thaw", "discard"],
  repair: ["restore"],
  namespace: ["closeNamespace", "reportNamespace", "finalizeNamespace"],
  collection: ["collect", "unlink", "finishDeletion"],
} as const;
/** Transactions of a store or of the Coordinator: no call, so nothing of it can be lost on the way. */
const COMMIT_STEPS = {
  create: ["take"],
  release: ["pend", "settle"],
  topology: ["claim", "beginFence", "confirm", "ready", "deleting", "gone", "dropClaim"],
  seeding: ["intendSeed", "seeded"],
  handoff: ["begin", "commit", "end", "rest"],
  repair: ["repairTurn"],
  namespace: ["emptyBatch"],
  collection: ["noteGraph"],
} as const;
/** What controllers have to come to. */
export const CONTROLLER_OCCURRENCES = [
  "pass of repair crashed",
  "pass of namespaces crashed",
  "alarm of repair not set",
  "alarm of namespaces not set",
  "pass of garbage-collection crashed",
  "alarm of garbage-collection not set",
  "namespaces waited long",
  "namespace finalized after a crash",
  "Foreground deletion ended after a crash",
  "dependent orphaned",
  "dependent kept by another owner",
] as const;
/** What a shard of the directory of clusters has to come to. */
const SHARD_OCCURRENCES = [
  "shard died in a visit",
  "alarm of a shard not set",
  "alarm of a shard lost",
  "alarm of a busy shard",
  "note of a cluster in KV",
  "ended cluster noted",
  "idle visit",
] as const;
/** What clients that watch through sockets have to come to (relay/sim-watchers.ts). */
const WATCH_OCCURRENCES = [
  "watched store slept",
  "watched store died",
  "watch woken with its state",
  "watch woken without its state",
  "store died between a socket and its state",
  "client gone while its store slept",
  "isolate replaced under watches",
  "watch resumed",
] as const;
/** What two releases in one cluster have to come to (releases.ts). */
const RELEASE_OCCURRENCES = [
  ...MISSING,
  "object rolled back",
  "object brought forward",
  "controller called by the release before",
  "cron of the release before",
  "watch at a store of the release before",
] as const;
/** What no fault has to meet, and what histories have to come to all the same. */
export const OCCURRENCES = [
  "topology copy used",
  "free counts loaded",
  "default Service made again",
  ...KV_FAULTS.map((fault) => `KV ${fault}` as const),
  ...CONTROLLER_OCCURRENCES,
  ...SHARD_OCCURRENCES,
  ...WATCH_OCCURRENCES,
  ...RELEASE_OCCURRENCES,
] as const;
export type Occurrence = (typeof OCCURRENCES)[number];

type StepsOf<T extends Record<string, readonly string[]>> = T[keyof T][number];
export type ProtocolStep =
  | StepsOf<typeof READ_STEPS>
  | StepsOf<typeof SHARD_STEPS>
  | StepsOf<typeof POKE_STEPS>
  | StepsOf<typeof WRITE_STEPS>
  | StepsOf<typeof COMMIT_STEPS>;

/** Steps that few histories come to: what befalls them is drawn more often, so that all of it is met. */
const RARE_STEPS: ReadonlySet<ProtocolStep> = new Set<ProtocolStep>([
  "checkBitmap",
  "writers",
  "giveUp",
  "makeWhole",
  "makeHeld",
  "restore",
  "repairTurn",
  "closeNamespace",
  "emptyNamespace",
  "listNamespaces",
  "getNamespace",
  "reportNamespace",
  "finalizeNamespace",
  "pokeNamespaces",
  "emptyBatch",
  "pokeCollector",
  "listLinks",
  "collect",
  "unlink",
  "finishDeletion",
  "pokeRepair",
  "askVisits",
  "visit",
  "enterShard",
  "leaveShard",
  "readyTopology",
  "close",
  "reopen",
  "thaw",
  "discard",
]);

export function isRareStep(step: ProtocolStep | undefined): boolean {
  return step !== undefined && RARE_STEPS.has(step);
}

/** Every pair `fault step` that has to be met, and every occurrence. */
export function wantedMarks(): string[] {
  const pairs = (faults: readonly FaultKind[], steps: Readonly<Record<string, readonly ProtocolStep[]>>): string[] =>
    Object.values(steps).flatMap((of) => of.flatMap((step) => faults.map((fault) => `${fault} ${step}`)));
  return [
    ...pairs(MESSAGE_FAULTS, READ_STEPS),
    ...pairs(MESSAGE_FAULTS, SHARD_STEPS),
    ...pairs(
      MESSAGE_FAULTS.filter((fault) => fault !== "clockJump"),
      POKE_STEPS,
    ),
    ...pairs([...MESSAGE_FAULTS, ...COMMIT_FAULTS], WRITE_STEPS),
    ...pairs(COMMIT_FAULTS, COMMIT_STEPS),
    ...OCCURRENCES,
  ];
}

/** What a configuration means for the owner that has `before`; the first that applies. */
export function stepOfConfigure(before: Omit<OwnerConfig, "epoch"> | undefined, next: OwnerConfig): ProtocolStep | undefined {
  const was: Pick<OwnerConfig, "owned" | "frozen" | "receiving" | "ranges" | "closed"> = before ?? {
    owned: [],
    frozen: [],
    receiving: [],
    ranges: [],
  };
  const idsOf = (config: Pick<OwnerConfig, "receiving">): number[] => config.receiving.map(({ handoff }) => handoff);
  if (next.frozen.some((prefix) => !was.frozen.includes(prefix))) return "freeze";
  if (idsOf(next).some((id) => !idsOf(was).includes(id))) return "open";
  if (was.receiving.some(({ prefixes }) => prefixes.some((prefix) => next.owned.includes(prefix)))) return "activate";
  if (idsOf(was).some((id) => !idsOf(next).includes(id))) return "discard";
  if (was.frozen.some((prefix) => next.owned.includes(prefix) && !next.frozen.includes(prefix))) return "thaw";
  if (next.retired) return "retire";
  if (was.frozen.length > next.frozen.length) return "drop";
  if (was.ranges.some((prefix) => !next.ranges.includes(prefix))) return "fence";
  if (next.ranges.some((prefix) => !was.ranges.includes(prefix))) return "allow";
  if (next.owned.some((prefix) => !was.owned.includes(prefix))) return "own";
  if (next.closed !== was.closed) return next.closed ? "close" : "reopen";
  return undefined;
}

export function stepOfReceive(chunk: CopyChunk): ProtocolStep {
  return chunk.seal ? "seal" : "chunk";
}

/** What a transaction of the Coordinator does. */
export function stepsOfCommit(before: Contents, after: Contents): ProtocolStep[] {
  return [...stepsOfHandoffs(before.handoffs, after.handoffs), ...stepsOfObjects(before, after), ...stepsOfClaims(before, after)];
}

function stepsOfHandoffs(before: Record<string, HandoffRow>, after: Record<string, HandoffRow>): ProtocolStep[] {
  const steps: ProtocolStep[] = [];
  for (const uid of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[uid]?.phase, after[uid]?.phase];
    if (was === is) continue;
    if (is === "copying") steps.push("begin");
    else if (is === "activating") steps.push("commit");
    else if (is === "resting") steps.push("rest");
    else if (was === "activating") steps.push("end");
  }
  return steps;
}

function stepsOfObjects(before: Contents, after: Contents): ProtocolStep[] {
  const steps: ProtocolStep[] = [];
  for (const [uid, row] of Object.entries(after.cidrs)) {
    const was = before.cidrs[uid];
    if (row.fencedUntil > (was?.fencedUntil ?? 0)) steps.push("beginFence");
    if (row.deleting && !was?.deleting) steps.push("deleting");
  }
  if (Object.keys(before.cidrs).some((uid) => !after.cidrs[uid])) steps.push("gone");
  if (Object.entries(after.ranges).some(([key, { ready }]) => ready && !before.ranges[key]?.ready)) steps.push("ready");
  if (Object.entries(after.owners).some(([uid, { ackedEpoch }]) => ackedEpoch > (before.owners[uid]?.ackedEpoch ?? 0)))
    steps.push("confirm");
  return steps;
}

function stepsOfClaims(before: Contents, after: Contents): ProtocolStep[] {
  const steps: ProtocolStep[] = [];
  const claims = Object.entries(after.claims);
  if (claims.some(([base, { seeded }]) => !seeded && !before.claims[base])) steps.push("claim");
  if (claims.some(([base, { seeded }]) => seeded && before.claims[base]?.seeded === false)) steps.push("seeded");
  if (Object.keys(before.claims).some((base) => !after.claims[base])) steps.push("dropClaim");
  if (Object.keys(after.seedings).some((token) => !before.seedings[token])) steps.push("intendSeed");
  return steps;
}
