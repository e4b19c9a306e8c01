/** Which fault met which step of a hand-off: a simulation that never loses the answer of an activation shows nothing about it. */
import type { CopyChunk, OwnerConfig } from "../../src/rpc/service-cidr";
import type { HandoffRow } from "../../src/coordinator/coordinator-storage";

export type FaultKind = "lost" | "replyLost" | "repeated" | "slow" | "crashBefore" | "crashAfter" | "lostTransaction";

/** Calls that only read: nothing is committed in them. */
const READ_STEPS = ["cut", "copyOut"] as const;
/** Calls that write. */
const WRITE_STEPS = ["freeze", "open", "chunk", "seal", "activate", "drop", "thaw", "discard"] as const;
/** Transactions of the Coordinator: no call, so nothing of it can be lost on the way. */
const COMMIT_STEPS = ["begin", "commit", "end", "rest"] as const;
export type HandoffStep = (typeof READ_STEPS)[number] | (typeof WRITE_STEPS)[number] | (typeof COMMIT_STEPS)[number];

const NETWORK_FAULTS: readonly FaultKind[] = ["lost", "replyLost", "repeated", "slow"];
const COMMIT_FAULTS: readonly FaultKind[] = ["crashBefore", "crashAfter", "lostTransaction"];

/** Every pair that has to be met; a transaction of the Coordinator that is lost without a crash is a crash before it, as far as others see. */
export function wantedMarks(): string[] {
  const pairs = (faults: readonly FaultKind[], steps: readonly HandoffStep[]): string[] =>
    steps.flatMap((step) => faults.map((fault) => `${fault} ${step}`));
  return [
    ...pairs(NETWORK_FAULTS, [...READ_STEPS, ...WRITE_STEPS]),
    ...pairs(COMMIT_FAULTS, WRITE_STEPS),
    ...pairs(["crashBefore", "crashAfter"], COMMIT_STEPS),
  ];
}

/** What a configuration means for the owner that has `before`; the first that applies. */
export function stepOfConfigure(before: Omit<OwnerConfig, "epoch"> | undefined, next: OwnerConfig): HandoffStep | undefined {
  const was: Pick<OwnerConfig, "owned" | "frozen" | "receiving"> = before ?? { owned: [], frozen: [], receiving: [] };
  const idsOf = (config: Pick<OwnerConfig, "receiving">): number[] => config.receiving.map(({ handoff }) => handoff);
  if (next.frozen.some((prefix) => !was.frozen.includes(prefix))) return "freeze";
  if (idsOf(next).some((id) => !idsOf(was).includes(id))) return "open";
  if (was.receiving.some(({ prefixes }) => prefixes.some((prefix) => next.owned.includes(prefix)))) return "activate";
  if (idsOf(was).some((id) => !idsOf(next).includes(id))) return "discard";
  if (was.frozen.some((prefix) => next.owned.includes(prefix) && !next.frozen.includes(prefix))) return "thaw";
  return was.frozen.length > next.frozen.length ? "drop" : undefined;
}

export function stepOfReceive(chunk: CopyChunk): HandoffStep {
  return chunk.seal ? "seal" : "chunk";
}

/** What a transaction of the Coordinator does to hand-offs; the first difference counts. */
export function stepOfCommit(before: Record<string, HandoffRow>, after: Record<string, HandoffRow>): HandoffStep | undefined {
  for (const uid of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[uid]?.phase, after[uid]?.phase];
    if (was === is) continue;
    if (is === "copying") return "begin";
    if (is === "activating") return "commit";
    if (is === "resting") return "rest";
    if (was === "activating") return "end";
  }
  return undefined;
}
