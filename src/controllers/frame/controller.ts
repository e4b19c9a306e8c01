/**
 * The loop that every controller runs in: one pass at a time, the next one when somebody asks or the alarm rings.
 *
 * - A poke may be lost or repeated. It asks for a pass soon. It may say which stores have changed, and up to where: then it asks for nothing if the
 *   pass has read so far. A poke that names no store is about all of them. Who pokes may wait until that was read, and so knows whether to poke again.
 * - A pass that leaves work, or fails, is repeated by the alarm: first after RETRY_BASE_MS, then after twice as long, up to RETRY_MAX_MS.
 * - A crash in a pass loses the pass and nothing else: a pass takes no input. Whoever waited for it pokes again, and the platform repeats an alarm.
 * - Before its first pass the object is made known to cron's full visits, which call no controller that never had a pass.
 * - An alarm that cannot be set is logged. Then the object asks for a visit by cron's next tick, and tells those who wait if that fails as well.
 * - While the controller is switched off, nothing begins a pass. A pass under way when that happens is the last one. Switched on, it looks at everything.
 * - A pass that does not end in PASS_MAX_MS is taken for hung. Its object restarts, and the alarm asks the new one for a pass.
 */
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { type ControllerRpc, type PokeAnswer, READ, type StoreNews } from "../../api/rpc/store";
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
export interface Pass extends Partial<PassHearing> {
  (isPoked: boolean): Promise<PassResult>;
}

/** What a pass makes of pokes; absent = each asks for a pass. */
export interface PassHearing {
  /** A poke told of these stores; undefined = it names none, so every store is read. */
  hears(news: readonly StoreNews[] | undefined): void;
  /** Whether what was heard asks for a pass: no, if everything was read that pokes told of. */
  readonly wants: boolean;
}

/** The pass that hears as another part of it does; `part` answers undefined while that is not made. */
export function hearing(run: (isPoked: boolean) => Promise<PassResult>, part: () => Partial<PassHearing> | undefined): Pass {
  const pass = (isPoked: boolean): Promise<PassResult> => run(isPoked);
  return Object.defineProperties(pass, {
    hears: { value: (news: readonly StoreNews[] | undefined) => part()?.hears?.(news) },
    wants: { get: () => part()?.wants ?? true },
  });
}

export interface ControllerPorts {
  clock: Pick<Clock, "now" | "after">;
  recorder: Recorder;
  /** sets the object's alarm, in milliseconds since the epoch; rejects when it cannot be set */
  wakeAt(atMs: number): Promise<void>;
  /** Asks for a poke by cron's next tick; rejects when nobody knows whether that comes. Absent = nobody visits. */
  askVisit?(): Promise<unknown>;
  /** Makes the object known to cron's full visits, once; it may reject. Absent = nobody visits, or everybody knows it. */
  enter?: () => Promise<void>;
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
  #hasEntered = false;
  #running: Promise<void> | undefined;
  #pokedMeanwhile = false;
  /** A poke told of stores during the pass. */
  #toldMeanwhile = false;
  /** somebody else than a poke has asked for the next pass */
  #isDue = false;
  /** who waits for the end of a pass that has not begun; told whether what they told is read, or sure to be */
  #waiting: ((isSure: boolean) => void)[] = [];

  constructor(
    private readonly ports: ControllerPorts,
    private readonly onePass: Pass,
  ) {
    this.#book = new StatusBook(() => ports.clock.now(), ports.tables?.rows);
  }

  controllerStatus(): Promise<ControllerStatus | null> {
    return Promise.resolve(this.ports.isOn() ? this.#book.status : null);
  }

  /** Asks for a pass because something changed, unless it was read already. See ControllerRpc. */
  poke(news?: readonly StoreNews[], untilRead?: true): Promise<PokeAnswer> {
    if (!this.ports.isOn()) return Promise.resolve(READ);
    this.onePass.hears?.(news);
    // What the pass under way has read may die with it.
    if (news && !this.#wants && !(untilRead && this.#running)) return Promise.resolve(READ);
    const read = untilRead ? this.#untilRead() : Promise.resolve(undefined);
    if (news && this.#running) this.#toldMeanwhile = true;
    else this.#begin();
    return read;
  }

  #untilRead(): Promise<typeof READ> {
    return new Promise((resolve, reject) => {
      this.#waiting.push((isSure) => (isSure ? resolve(READ) : reject(new Error("the controller has work left, and nothing wakes it"))));
    });
  }

  #begin(): void {
    this.#attempt = 0;
    this.ports.background(this.#pass());
  }

  get #wants(): boolean {
    return this.onePass.wants ?? true;
  }

  /** Asks for a pass although nothing may have changed, as cron does. See ControllerRpc. */
  ask(untilRead?: true): Promise<PokeAnswer> {
    this.#isDue = true;
    return this.poke(undefined, untilRead);
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
    if (!this.ports.isOn()) return this.ports.cancelAlarm();
    // The first pass may be lost with its object.
    await this.#askVisit();
    await this.ask();
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
    let isSure: boolean;
    if (!this.#hasEntered && this.ports.enter) await this.#enter(this.ports.enter);
    do {
      this.#toldMeanwhile = false;
      const waiting = this.#waiting.splice(0);
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
      isSure = true;
      if (!this.ports.isOn()) this.#pokedMeanwhile = this.#toldMeanwhile = false;
      else if (left) isSure = await this.#wakeAt(retryAt);
      else if (againAt !== undefined) isSure = await this.#wakeAt(Math.max(againAt, clock.now() + RETRY_BASE_MS));
      cancel();
      isOver = true;
      for (const told of waiting) told(isSure);
      // While a pass is under way its own writes are told, too: most often it has read them by its end.
      if (this.#toldMeanwhile && this.#wants) this.#pokedMeanwhile = true;
    } while (this.#pokedMeanwhile);
    this.#running = undefined;
    // Their news came during the last pass, which has read it.
    for (const told of this.#waiting.splice(0)) told(isSure);
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

  /** Whether the object will be woken: by its alarm, or by cron. Never rejects. */
  async #wakeAt(atMs: number): Promise<boolean> {
    try {
      await this.ports.wakeAt(atMs);
      this.#book.next(atMs);
      return true;
    } catch (error) {
      this.ports.recorder.log("warn", "the alarm of a controller could not be set", { error: String(error) });
      return this.#askVisit();
    }
  }

  /** A pass is not held up for good: where this fails, the next one tries again. Never rejects. */
  async #enter(enter: () => Promise<void>): Promise<void> {
    const { clock, recorder } = this.ports;
    try {
      await withTimeout(clock, RESTART_WAIT_MS, enter());
      this.#hasEntered = true;
    } catch (error) {
      recorder.log("warn", "a controller could not enter the list of visits", { error: String(error) });
    }
  }

  /** Whether cron's next tick visits the object. Never rejects. */
  async #askVisit(): Promise<boolean> {
    const { askVisit, clock, recorder } = this.ports;
    if (!askVisit) return false;
    try {
      await withTimeout(clock, RESTART_WAIT_MS, askVisit.call(this.ports));
      return true;
    } catch (error) {
      recorder.log("warn", "a controller could not ask for a visit", { error: String(error) });
      return false;
    }
  }
}
