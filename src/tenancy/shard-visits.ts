/** Visits of a shard to its clusters: what one is asked to do, what it answers, and the turn that bounds how many there are. */
import type { Clock, Recorder } from "../core/base/ports";
import type { Settings } from "../core/config/settings";
import { withTimeout } from "../core/base/timeout";
import type { ControllerFacts, ShardJob } from "./rpc";

/** Of one turn, far below what the platform allows to an invocation (10,000). Visits under way may exceed it. */
const CALLS_PER_TURN = 1_000;
const VISITED_TOGETHER = 6;
/** A cluster that answers nothing does not hold up the others for longer. */
export const VISIT_TIMEOUT_MS = 30_000;

export interface VisitRequest {
  id: string;
  /** `idle`: the daily visit of a cluster at rest */
  job: ShardJob | "idle";
  /** null = the variable counts there */
  facts: ControllerFacts | null;
  /** in milliseconds since the epoch */
  tickMs: number;
  /** of another Worker, whose tick it is; absent = the shard's own */
  settings?: Settings | undefined;
}

export interface VisitReport {
  /** of objects, those that these caused not counted */
  calls: number;
  errors: number;
  /** `rests`: nothing was left from before. `left`: the cluster needs a further visit by the next tick; `cut`: by the next minute, of this job alone */
  found: "rests" | "done" | "left" | "cut";
}

export interface ShardVisitPorts {
  clock: Clock;
  recorder: Recorder;
  /** Everything that the job has for the cluster. An ended cluster leaves the shard by it. */
  visit(request: VisitRequest): Promise<VisitReport>;
}

/** One turn: visits until its time or its calls are over. */
export class ShardTurn {
  #calls = 0;
  visits = 0;
  errors = 0;

  constructor(
    private readonly ports: ShardVisitPorts,
    private readonly begunAt: number,
    private readonly budgetMs: number,
  ) {}

  /** Whether this part of the turn is over, from 0 to 1. */
  isOver(part: number): boolean {
    const age = this.ports.clock.now() - this.begunAt;
    return this.#calls >= CALLS_PER_TURN * part || age >= this.budgetMs * part || age < 0;
  }

  /**
   * Visits clusters in their order, some at once, until this part of the turn is over. As many as are visited at once are so however late it is: every
   * turn goes on, and visits that hang hold it up no longer than one.
   *
   * @returns how many of them, from the first one on
   */
  async visitSome<T>(items: readonly T[], part: number, work: (item: T) => Promise<void>): Promise<number> {
    let begun = 0;
    const worker = async (): Promise<void> => {
      for (let item = items[begun]; item !== undefined && (begun < VISITED_TOGETHER || !this.isOver(part)); item = items[begun]) {
        begun++;
        await work(item);
      }
    };
    await Promise.all(Array.from({ length: VISITED_TOGETHER }, worker));
    return begun;
  }

  /** One visit. Never rejects. */
  async visit(request: VisitRequest): Promise<VisitReport> {
    const { clock, recorder, visit } = this.ports;
    this.visits++;
    let report: VisitReport;
    try {
      report = await withTimeout(clock, VISIT_TIMEOUT_MS, visit(request));
    } catch (error) {
      recorder.log("warn", "a cluster could not be visited", { cluster: request.id, job: request.job, error: String(error) });
      report = { calls: 1, errors: 1, found: "done" };
    }
    this.#calls += report.calls;
    this.errors += report.errors;
    return report;
  }
}
