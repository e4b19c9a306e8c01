/**
 * Whether the jobs of cron have run recently in a cluster that has writes. They run for minutes behind each write. So half an hour without one is a fault that an
 * operator has to mend: cron does not fire, or its jobs fail. Where cron has more clusters than one run visits, each waits for its turn, and the
 * length of the rounds is added to the half hour. A restart mends nothing, so liveness never depends on these jobs.
 */
import type { Clock } from "../../core/base/ports";

/** Much longer than a deployment takes until its crons fire (15 minutes). */
const LATE_MS = 30 * 60_000;
/** A good result counts for so long. */
const LOOK_AGAIN_MS = 10 * 60_000;
/** A bad one, after which somebody waits for a good one. */
const LOOK_AGAIN_LATE_MS = 60_000;

export interface JobTime {
  /** "repair, last at" */
  readonly text: string;
  /** when it was last done or, of work that waits, when it was due; in milliseconds since the epoch, 0 = never */
  readonly atMs: number;
  /** until when a cron that fires may leave it undone, in milliseconds since the epoch */
  readonly dueMs: number;
}

export class LateJobs {
  readonly #seen = new Map<string, { atMs: number; problem: string | undefined }>();

  constructor(
    private readonly clock: Pick<Clock, "now">,
    private readonly clustersMax: number,
  ) {}

  /** Undefined = nothing is late, or nobody knows. `writtenForMs`: how long the cluster has been written to. `look` is called at times, after half an hour of writes. */
  async problem(cluster: string, writtenForMs: number, look: () => Promise<readonly JobTime[]>): Promise<string | undefined> {
    if (writtenForMs < LATE_MS) {
      this.#seen.delete(cluster);
      return undefined;
    }
    const seen = this.#seen.get(cluster);
    const nowMs = this.clock.now();
    const ageMs = nowMs - (seen?.atMs ?? 0);
    if (seen && ageMs >= 0 && ageMs < (seen.problem === undefined ? LOOK_AGAIN_MS : LOOK_AGAIN_LATE_MS)) return seen.problem;
    const late = (await look()).filter(({ dueMs }) => nowMs - dueMs >= LATE_MS);
    const problem = late.length > 0 ? `late: ${late.map(({ text, atMs }) => `${text} ${timeText(atMs)}`).join("; ")}` : undefined;
    if (this.#seen.size >= this.clustersMax) this.#seen.clear();
    this.#seen.set(cluster, { atMs: nowMs, problem });
    return problem;
  }
}

function timeText(atMs: number): string {
  return atMs === 0 ? "no time" : new Date(atMs).toISOString();
}
