/**
 * What a controller says of itself, for `GET /check/controllers` and /metrics. Counts are in memory alone, so they begin anew with the controller's object.
 * A failure that lasts is a row, because the object may sleep between two tries. The second failure in a row writes it, and the first pass that leaves
 * nothing takes it away.
 */
import type { RowStorage } from "../followed/row-storage";

const KIND = "trouble";

/** Since when passes leave work, and the failure that was kept: that of the second failed pass in a row. */
interface Trouble {
  readonly sinceMs: number;
  readonly atMs: number;
  readonly message: string;
}

/** What became of the work of one pass, or of all passes. */
export interface WorkCounts {
  /** changes and objects that were read */
  read: number;
  /** pieces of work that were done */
  done: number;
  /** pieces of work that a store refused, or that the controller itself put off: they are tried again when their wait is over */
  putOff: number;
  /** pieces of work that failed, or were not begun in time: the next pass tries again */
  later: number;
}

/** What a pass reports. */
export interface PassReport extends WorkCounts {
  /** pieces of work that wait, after a refusal or for their time */
  waiting: number;
  /** Another pass is needed although nothing may change meanwhile. */
  left: boolean;
  /** the last failure; undefined = nothing failed */
  error?: string | undefined;
}

/** All times are in milliseconds since the epoch. */
export interface ControllerStatus {
  /** since when this status counts */
  sinceMs: number;
  /** passes that have ended */
  passes: number;
  /** those of them that failed, or left work */
  unfinished: number;
  totals: WorkCounts;
  /** when the pass under way began; absent = none is */
  runningSinceMs?: number;
  /** the last pass that has ended */
  last?: PassReport & { begunMs: number; endedMs: number };
  /** since when every pass has failed or left work; absent = the last one did neither. Of failures it outlives the object's sleep */
  behindSinceMs?: number;
  /** when the alarm asks for the next pass; absent = nothing is known of an alarm */
  nextMs?: number;
  /** the last failure of any pass */
  lastError?: { atMs: number; message: string };
}

/** A controller's object answers with its status, without beginning a pass. null: the controller is switched off. */
export interface ControllerStatusRpc {
  controllerStatus(): Promise<ControllerStatus | null>;
}

/** Nothing was read, and nothing done. */
export const NO_REPORT: PassReport = { read: 0, done: 0, putOff: 0, later: 0, waiting: 0, left: false };

/** One report of several. */
export function summed(reports: readonly (PassReport | undefined)[]): PassReport {
  const sum = { ...NO_REPORT };
  for (const report of reports) {
    if (!report) continue;
    for (const count of ["read", "done", "putOff", "later", "waiting"] as const) sum[count] += report[count];
    sum.left ||= report.left;
    sum.error = report.error ?? sum.error;
  }
  return sum;
}

/** The status of one controller, as its passes come and go. */
export class StatusBook {
  readonly #sinceMs: number;
  readonly #totals: WorkCounts = { read: 0, done: 0, putOff: 0, later: 0 };
  #passes = 0;
  #unfinished = 0;
  #begunMs: number | undefined;
  #last: ControllerStatus["last"];
  #behindSinceMs: number | undefined;
  #nextMs: number | undefined;
  #lastError: ControllerStatus["lastError"];
  /** failed passes in a row */
  #failures = 0;
  /** undefined = the row was not read yet, null = there is none */
  #trouble: Trouble | null | undefined;

  /** @param rows absent = a failure is in memory alone, too */
  constructor(
    private readonly now: () => number,
    private readonly rows?: RowStorage,
  ) {
    this.#sinceMs = now();
  }

  began(): void {
    this.#begunMs = this.now();
  }

  /** What began was no pass. */
  putOff(): void {
    this.#begunMs = undefined;
  }

  ended(report: PassReport): void {
    const nowMs = this.now();
    const { left } = report;
    this.#last = { ...report, begunMs: this.#begunMs ?? nowMs, endedMs: nowMs };
    this.#begunMs = undefined;
    this.#passes++;
    for (const count of ["read", "done", "putOff", "later"] as const) this.#totals[count] += report[count];
    if (report.error !== undefined) this.#lastError = { atMs: nowMs, message: report.error };
    if (left) this.#unfinished++;
    this.#behindSinceMs = left ? (this.#behindSinceMs ?? nowMs) : undefined;
    this.#failures = report.error === undefined ? 0 : this.#failures + 1;
    if (!left) this.#keep(null);
    else if (report.error !== undefined && this.#failures > 1 && !this.#kept)
      this.#keep({ sinceMs: this.#behindSinceMs ?? nowMs, atMs: nowMs, message: report.error });
  }

  /** @param atMs when the alarm rings; undefined = it has rung */
  next(atMs: number | undefined): void {
    this.#nextMs = atMs;
  }

  /** A disk that does not answer is told of by the pass: no status fails one. */
  get #kept(): Trouble | null {
    try {
      if (this.#trouble === undefined) {
        const [row] = this.rows?.rows(KIND) ?? [];
        this.#trouble = row ? (JSON.parse(row[1]) as Trouble) : null;
      }
      return this.#trouble;
    } catch {
      return null;
    }
  }

  #keep(trouble: Trouble | null): void {
    const { rows } = this;
    if (!trouble && !this.#kept) return;
    try {
      rows?.transaction(() => (trouble ? rows.rowPut(KIND, "", JSON.stringify(trouble)) : rows.rowDelete(KIND, "")));
      this.#trouble = trouble;
    } catch {
      // as said above
    }
  }

  get status(): ControllerStatus {
    const kept = this.#kept;
    const behindSinceMs = kept?.sinceMs ?? this.#behindSinceMs;
    const lastError = this.#lastError ?? (kept ? { atMs: kept.atMs, message: kept.message } : undefined);
    return {
      sinceMs: this.#sinceMs,
      passes: this.#passes,
      unfinished: this.#unfinished,
      totals: { ...this.#totals },
      ...(this.#begunMs !== undefined && { runningSinceMs: this.#begunMs }),
      ...(this.#last && { last: this.#last }),
      ...(behindSinceMs !== undefined && { behindSinceMs }),
      ...(this.#nextMs !== undefined && { nextMs: this.#nextMs }),
      ...(lastError && { lastError }),
    };
  }
}
