/**
 * The pass of an endpoint controller: read what changed, look at the Services that it touches, write, save.
 *
 * - Nothing is looked at before every feed has been read to its end once: what a controller knows of its own writes dies with its object, and the
 *   feeds have them all.
 * - Rows and cursors are saved at the end of a round, and with them the Services that still wait. A crash before reads the same changes again.
 * - A Service whose write is refused waits longer each time, alone. A store that does not answer ends the round, and the loop tries again later.
 * - A pass that finds nothing reads its feeds and nothing else. It ends when its budget is used up, and the next one goes on.
 * - After each round with looks the pass rests three times as long as it worked: during a burst many changes make one write, and clients share the
 *   thread.
 */
import { inParallel } from "../../core/base/in-parallel";
import { Pace, REST_MODESTLY } from "../../core/base/pause";
import type { Clock, Recorder } from "../../core/base/ports";
import type { PassResult } from "../../controllers/controller";
import type { DueService } from "../sources/service-members";
import type { DueServices } from "./due-services";
import type { FollowedStore } from "./followed-store";
import type { KeptRows } from "./kept-rows";

/** Services looked at in one round; behind them the feeds are read again, so that a live change waits for few of a crowd. */
const LOOKS_MAX = 50;
/** Writes under way at once: they share the stores' commits, and leave room for clients. */
export const WRITES_AT_ONCE = 16;
/** After this time no look begins, and another pass is asked for. */
const PASS_BUDGET_MS = 60_000;

/** `later`: the Service waits for another look. `silent`: so it does, and its store is not asked again in this round. */
export type LookResult = "done" | "later" | "silent";

export interface PassParts {
  clock: Clock;
  recorder: Recorder;
  rows: KeptRows;
  stores: readonly FollowedStore[];
  due: DueServices;
  /** reads the rows; called once, first */
  load(): void;
  look(due: DueService): Promise<LookResult>;
}

export class EndpointPass {
  #isLoaded = false;
  #begunAt = 0;

  constructor(private readonly parts: PassParts) {}

  /** One pass. Rejects when the rows cannot be read. */
  async run(): Promise<PassResult> {
    const { clock, due, rows, load } = this.parts;
    if (!this.#isLoaded) {
      rows.load();
      load();
      this.#isLoaded = true;
    }
    this.#begunAt = clock.now();
    for (;;) {
      const pace = new Pace(clock, REST_MODESTLY);
      const isComplete = await this.#pull();
      const looked = await this.#look();
      if (!this.#save() || looked === "silent" || !isComplete) return { left: true };
      const againAt = due.earliest;
      if (looked === 0) return { left: false, againAt };
      await pace.rest();
      if (againAt === undefined || againAt > clock.now() || !this.#hasTime) return { left: false, againAt };
    }
  }

  get #hasTime(): boolean {
    return this.parts.clock.now() - this.#begunAt < PASS_BUDGET_MS;
  }

  async #pull(): Promise<boolean> {
    const pulled = await Promise.all(this.parts.stores.map((store) => store.pull(() => this.#hasTime)));
    return pulled.every(Boolean);
  }

  /** Looks at Services that are due; answers their number. */
  async #look(): Promise<number | "silent"> {
    const { clock, due, recorder, stores, look } = this.parts;
    if (!stores.every((store) => store.isRead)) return 0;
    const services = due.dueBy(clock.now(), LOOKS_MAX);
    let looked = 0;
    let isSilent = false;
    await inParallel(services, WRITES_AT_ONCE, async (service) => {
      if (isSilent || !this.#hasTime) return;
      looked++;
      const result = await look(service).catch((error: unknown): LookResult => {
        recorder.log("warn", "a look at the endpoints of a Service failed", { service: service.key, error: String(error) });
        return "silent";
      });
      if (result === "done") due.done(service.key);
      else due.failed(service.key, clock.now());
      isSilent ||= result === "silent";
    });
    return isSilent ? "silent" : looked;
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
