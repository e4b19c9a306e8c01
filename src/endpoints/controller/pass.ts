/**
 * The pass of an endpoint controller: read what changed, look at the Services that it touches, write, save.
 *
 * - Nothing is looked at before every feed has been read to its end once: what a controller knows of its own writes dies with its object, and the
 *   feeds have them all.
 * - Rows and cursors are saved at the end of a round, and with them the Services that still wait. A crash before reads the same changes again.
 * - A Service whose write is refused waits alone, longer each time. No change shortens the wait, so churn under a full quota makes no storm. A store
 *   that does not answer ends the round, and the loop tries again later.
 * - Nodes are read after the Pods that refer to them. So the Node of a Pod is known when the Pod is.
 * - A write without an answer may have been carried out. So every feed is read again before the next look.
 * - A pass that finds nothing reads its feeds and nothing else. It ends when its budget is used up, and the next one goes on.
 * - Rounds with room look at Services of which nothing was told (resync.ts).
 * - While others wait for the thread, the pass rests after each round: three times as long as it worked, a second at most. So a burst of changes makes
 *   few writes, and clients share the thread. On a free thread the pass goes on at once.
 */
import { inParallel } from "../../core/base/in-parallel";
import { Pace, REST_MODESTLY } from "../../core/base/pause";
import type { Clock, Recorder } from "../../core/base/ports";
import type { PassResult } from "../../controllers/frame/controller";
import type { DueService } from "../sources/service-members";
import type { DueServices } from "./due-services";
import type { FollowedStore } from "../../controllers/followed/followed-store";
import type { KeptRows } from "../../controllers/followed/kept-rows";
import type { Resync } from "./resync";

/** Services looked at in one round; behind them the feeds are read again, so that a live change waits for few of a crowd. */
const LOOKS_MAX = 100;
/** Writes under way at once: they share the stores' commits, and leave room for clients. */
export const WRITES_AT_ONCE = 16;
/** After this time no look begins, and another pass is asked for. */
const PASS_BUDGET_MS = 60_000;

/**
 * - `later`: the Service waits for another look, which a change makes earlier
 * - `refused`: so it does, and no change makes it earlier
 * - `closed`: the same, but without a change there is no look: its namespace is being emptied
 * - `silent`: as later, and its store is not asked again in this round
 */
export type LookResult = "done" | "later" | "refused" | "closed" | "silent";

export interface PassParts {
  clock: Clock;
  recorder: Recorder;
  rows: KeptRows;
  stores: readonly FollowedStore[];
  /** what the objects of the others refer to */
  referredTo: readonly FollowedStore[];
  due: DueServices;
  resync: Resync;
  /** reads the rows; called once, first */
  load(): void;
  /** `isCurrent`: every store was read to its end in this round. */
  look(due: DueService, isCurrent: boolean): Promise<LookResult>;
}

export class EndpointPass {
  #isLoaded = false;
  #begunAt = 0;
  /** In the last round of looks a store did not answer. What it has written is in its feed and nowhere else. */
  #wasSilent = false;

  constructor(private readonly parts: PassParts) {}

  /** One pass. Rejects when the rows cannot be read. */
  async run(): Promise<PassResult> {
    const { clock, due, resync, rows, load } = this.parts;
    if (!this.#isLoaded) {
      rows.load();
      load();
      this.#isLoaded = true;
    }
    this.#begunAt = clock.now();
    for (;;) {
      const pace = new Pace(clock, REST_MODESTLY);
      const isComplete = await this.#pull();
      const looked = await this.#look(isComplete);
      if (!this.#save() || looked === "silent" || !isComplete) return { left: true };
      const againAt = due.earliest;
      await pace.restWhileBusy();
      if (looked === 0) return { left: false, againAt };
      const isDue = resync.isUnderWay || (againAt !== undefined && againAt <= clock.now());
      if (!isDue) return { left: false, againAt };
      if (!this.#hasTime) return { left: false, againAt: clock.now() };
    }
  }

  get #hasTime(): boolean {
    return this.parts.clock.now() - this.#begunAt < PASS_BUDGET_MS;
  }

  async #pull(): Promise<boolean> {
    const { stores, referredTo } = this.parts;
    const isRead = await this.#read(stores);
    return (await this.#read(referredTo)) && isRead;
  }

  async #read(stores: readonly FollowedStore[]): Promise<boolean> {
    const pulled = await Promise.all(stores.map((store) => store.pull(() => this.#hasTime)));
    return pulled.every(Boolean);
  }

  /** Looks at Services that are due; answers their number. */
  async #look(isCurrent: boolean): Promise<number | "silent"> {
    const { clock, due, resync, recorder, stores, referredTo, look } = this.parts;
    if (![...stores, ...referredTo].every((store) => store.isRead)) return 0;
    if (this.#wasSilent && !isCurrent) return 0;
    const services = due.dueBy(clock.now(), LOOKS_MAX);
    services.push(...resync.take(clock.now(), LOOKS_MAX - services.length, (key) => due.has(key)));
    let looked = 0;
    let isSilent = false;
    await inParallel(services, WRITES_AT_ONCE, async (service) => {
      if (isSilent || !this.#hasTime) return this.#keep(service);
      looked++;
      const result = await look(service, isCurrent).catch((error: unknown): LookResult => {
        recorder.log("warn", "a look at the endpoints of a Service failed", { service: service.key, error: String(error) });
        return "silent";
      });
      this.#note(service, result);
      isSilent ||= result === "silent";
    });
    this.#wasSilent = isSilent;
    return isSilent ? "silent" : looked;
  }

  #note(service: DueService, result: LookResult): void {
    const { due, clock } = this.parts;
    const { key } = service;
    if (result === "done") return due.done(key);
    this.#keep(service);
    if (result === "refused" || result === "closed") due.refused(key, clock.now(), result === "closed");
    else due.failed(key, clock.now());
  }

  /** A Service of the resync waits for a look from now on. */
  #keep(service: DueService): void {
    const { due, clock } = this.parts;
    if (!due.has(service.key)) due.add(service, clock.now());
  }

  #save(): boolean {
    try {
      this.parts.rows.save();
      return true;
    } catch (error) {
      this.parts.recorder.log("warn", "a controller of endpoints could not store what it learned", { error: String(error) });
      return false;
    }
  }
}
