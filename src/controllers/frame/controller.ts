/**
 * The loop that every controller runs in: one pass at a time, the next one when somebody asks or the alarm rings.
 *
 * - A poke carries nothing and may be lost or repeated. It only asks for a pass soon; cron pokes too.
 * - A pass that leaves work, or fails, is repeated by the alarm: first after RETRY_BASE_MS, then after twice as long, up to RETRY_MAX_MS.
 * - A crash in a pass loses the pass and nothing else: a pass takes no input, so the next poke, alarm or cron does the work.
 * - An alarm that cannot be set is logged. The next pass is cron's then.
 * - While the controller is switched off, nothing begins a pass. A pass under way when that happens is the last one. Switched on, it looks at everything.
 * - A pass that does not end in PASS_MAX_MS is taken for hung. Its object restarts, and the alarm asks the new one for a pass.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { ControllerRpc } from "../../api/rpc/store";
import type { RowStorage } from "../followed/row-storage";
import { type ControllerStatus, type ControllerStatusRpc, NO_REPORT, type PassReport, StatusBook } from "./status";

/** The first wait of a pass that left work. It is also the shortest wait for a time that a pass names. */
export const RETRY_BASE_MS = 500;
/** The longest wait of a pass that left work. */
export const RETRY_MAX_MS = 30_000;
/**
 * How long a pass may take. Each pass ends itself much sooner: its calls have timeouts, and it has a budget behind which it begins nothing. So only a
 * fault of ours takes longer. The platform lets the alarm of an object run for the same time.
 */
export const PASS_MAX_MS = 15 * 60_000;
/** How long the restart of a hung pass waits for its alarm to be set. */
export const RESTART_WAIT_MS = 5_000;

/** What a pass says at its end. */
export interface PassResult {
  /** another pass is needed, although nothing may change meanwhile */
  left: boolean;
  /** a pass is needed at that time, in milliseconds since the epoch */
  againAt?: number | undefined;
  /** what the pass did, for the status; absent = it counts nothing */
  report?: PassReport;
  /** The pass was put off and has looked at nothing, so the status does not count it. */
  isPutOff?: true;
}

/**
 * One pass over everything that there is to do. `isPoked`: since the last pass only pokes have asked, which tell of changes; otherwise the alarm or
 * cron has. It may reject: the pass is then repeated as one that left work.
 */
export type Pass = (isPoked: boolean) => Promise<PassResult>;

export interface ControllerPorts {
  clock: Pick<Clock, "now" | "after">;
  recorder: Recorder;
  /** sets the object's alarm, in milliseconds since the epoch; rejects when it cannot be set */
  wakeAt(atMs: number): Promise<void>;
  /** removes the object's alarm */
  cancelAlarm(): Promise<void>;
  /** whether the controller is switched on now */
  isOn(): boolean;
  /** keeps the object alive until the work is done */
  background(work: Promise<void>): void;
  /** where a failure that lasts is kept; absent = in memory */
  tables?: { rows?: RowStorage };
  /** Ends the object, whose next call or alarm starts it anew, after what it has stored is safe. The only way to end a hung pass. */
  restart(reason: string): void;
}

export class Controller implements ControllerRpc, ControllerStatusRpc {
  readonly #book: StatusBook;
  #attempt = 0;
  #running: Promise<void> | undefined;
  #pokedMeanwhile = false;
  /** somebody else than a poke has asked for the next pass */
  #isDue = false;

  constructor(
    private readonly ports: ControllerPorts,
    private readonly onePass: Pass,
  ) {
    this.#book = new StatusBook(() => ports.clock.now(), ports.tables?.rows);
  }

  controllerStatus(): Promise<ControllerStatus | null> {
    return Promise.resolve(this.ports.isOn() ? this.#book.status : null);
  }

  /** Asks for a pass because something changed. Answers at once; the pass goes on behind it. */
  poke(): Promise<void> {
    if (!this.ports.isOn()) return Promise.resolve();
    this.#attempt = 0;
    this.ports.background(this.#pass());
    return Promise.resolve();
  }

  /** Asks for a pass although nothing may have changed, as cron does. Answers at once. */
  ask(): Promise<void> {
    this.#isDue = true;
    return this.poke();
  }

  /** The object's alarm rang. Resolves when the pass is over, and never rejects. */
  async alarm(): Promise<void> {
    this.#book.next(undefined);
    if (!this.ports.isOn()) return;
    this.#isDue = true;
    await this.#pass();
  }

  /** To be called when the controller was switched on or off. */
  async switched(): Promise<void> {
    await (this.ports.isOn() ? this.ask() : this.ports.cancelAlarm());
  }

  /** A call during a pass asks for another pass behind it. Never rejects. */
  #pass(): Promise<void> {
    if (this.#running) {
      this.#pokedMeanwhile = true;
      return this.#running;
    }
    return (this.#running = this.#run());
  }

  /** Passes until nobody has asked meanwhile. A poke after the last look begins a new run: nothing is awaited between the two. */
  async #run(): Promise<void> {
    const { clock, recorder } = this.ports;
    do {
      let isOver = false;
      const cancel = clock.after(PASS_MAX_MS, () => void this.#restartUnless(() => isOver));
      this.#pokedMeanwhile = false;
      const isPoked = !this.#isDue;
      this.#isDue = false;
      let result: PassResult;
      this.#book.began();
      try {
        result = await this.onePass(isPoked);
      } catch (error) {
        recorder.log("warn", "controller pass failed", { error: String(error) });
        result = { left: true, report: { ...NO_REPORT, left: true, error: String(error) } };
      }
      const { left, againAt, isPutOff, report = { ...NO_REPORT, left } } = result;
      if (isPutOff) this.#book.putOff();
      else this.#book.ended(report);
      const retryAt = clock.now() + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempt);
      this.#attempt = left ? this.#attempt + 1 : 0;
      if (!this.ports.isOn()) this.#pokedMeanwhile = false;
      else if (left) await this.#wakeAt(retryAt);
      else if (againAt !== undefined) await this.#wakeAt(Math.max(againAt, clock.now() + RETRY_BASE_MS));
      cancel();
      isOver = true;
    } while (this.#pokedMeanwhile);
    this.#running = undefined;
  }

  /** Sets the alarm and restarts the object, unless the pass ends meanwhile. Storage that does not answer holds up no restart. Never rejects. */
  async #restartUnless(isOver: () => boolean): Promise<void> {
    const { clock, recorder, restart } = this.ports;
    await withTimeout(clock, RESTART_WAIT_MS, this.#wakeAt(clock.now() + RETRY_BASE_MS)).catch(() => undefined);
    if (isOver()) return;
    const reason = "controller pass does not end, its object restarts";
    recorder.log("error", reason, { afterMs: PASS_MAX_MS });
    restart(reason);
  }

  async #wakeAt(atMs: number): Promise<void> {
    try {
      await this.ports.wakeAt(atMs);
      this.#book.next(atMs);
    } catch (error) {
      this.ports.recorder.log("warn", "the alarm of a controller could not be set", { error: String(error) });
    }
  }
}
