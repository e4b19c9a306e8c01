/**
 * The frame that the passes of every controller run in.
 *
 * A controller brings what is stored in line with what somebody asked for: it reads what changed, finds out what is wrong now, and puts it right. Only the
 * middle differs from one controller to the next. The frame does the rest, so a controller is a small description:
 *
 *   what it keeps      facts about objects, as rows of its own (followed/kept-facts.ts)
 *   what it follows    the stores that feed these facts (followed/followed-store.ts)
 *   plan               everything that is to be done by these facts, as a list. It has no effect
 *   write              how one piece of this list is done
 *   due                when it has work although nothing changes
 *
 * The controller that gives each ConfigMap with the label `stamp` the annotation `stamped`, whole:
 *
 *   const rows = new KeptRows(storage);
 *   const facts = new KeptFacts<ConfigMap, Stamp>(rows, "stamps", stampOf);
 *   const frame = new Frame(ports, {
 *     rows,
 *     keeps: [facts],
 *     follows: () => [new FollowedStore("configmaps", ports.configMaps, facts.reader, rows, ports.recorder)],
 *     work: {
 *       plan: () => [...facts.keys].filter((key) => facts.get(key)?.isMissing),
 *       write: async (key) => outcomeOf(await ports.configMaps.write(stampRequest(key))),
 *       nameOf: (key) => key,
 *     },
 *   });
 *   return new Controller(setting, frame.pass);
 *
 * docs/internals/writing-a-controller.md has one more, with its tests.
 *
 * ## A pass
 *
 *   1 load      once in the life of the object: rows become facts
 *   2 pull      changes become facts. Each store that may have some is read on from its cursor, or listed where its history does not reach back
 *   3 plan      facts become pieces of work. An incomplete pull makes no plan, because a fact that is missing looks like an object that is gone
 *   4 write     pieces are done, several at once, until the budget is used up. What a store refuses waits, longer each time
 *   5 save      facts and cursors become rows, in one transaction
 *   6 tell      what may be told only after it is on disk; then events are written
 *
 * A poke names the store that has changed, and how far that has come. So a pass reads the stores that spoke, and a poke of what was read asks for no
 * pass. All stores are read by the first pass of an object, by a pass of alarm or cron, and behind a pass that left work. They are, too, after a poke
 * that names none: that of a full visit by cron, and that of an object of the release before. A poke that is lost costs time alone: the next change of
 * its store brings what it told, and so does cron's visit to the store within a minute (api/store/feeds/deliveries.ts).
 *
 * Steps 2 to 5 are a round. Most passes have one. A controller whose own writes make new work, or whose work comes in lots, asks for further rounds.
 *
 * ## What is on disk if the object dies
 *
 * There is one order of saving, for every controller: the save is behind the work, and cursors move in it, or later.
 *
 *   dies in     on disk                                      what the next pass does
 *   1           the rows of an earlier save                  loads them
 *   2, 3        the same; the stores hold the news           reads the same changes from the same cursor, and makes the same plan
 *   4           the same; the stores hold some writes, too   the same. It reads its own writes with the changes, and finds those pieces done
 *   5           before or after: it is one transaction       the same as in 4, or as in 6
 *   6           facts, and cursors of at most a minute ago   reads what came behind the cursors again, over facts that know it. Then it plans from the
 *                                                            facts, and finds nothing to do. What was not told is told again
 *
 * A controller of many objects saves facts in the middle of 2, too, behind a page of a store and without its cursor (followed/kept-rows.ts). Then a death
 * reads these pages again, over facts that know them.
 *
 * A pass that only read on saves nothing, so the cursors stay in memory: for a minute, or until they are CURSOR_LAG_MAX changes ahead of those on disk.
 * A death reads these changes again. Where the history has lost them, the store is listed. So what is read must bear repetition, too: a fact follows
 * from the object alone, and never from how often or when it was met. What counts changes saves its rows without `mayWait`, as node-lifecycle does.
 *
 * So a death repeats work and loses none. A piece of work must therefore bear repetition: it names the uid or the version that it was planned for, or it
 * compares first. A save that fails is a death at 5 without the death: what was collected stays in memory, and is saved with the next round.
 *
 * ## Notes for those who write a controller
 *
 * - Facts and not events decide. `plan` gets no list of changes: changes that nobody heard of would be lost. It looks at all facts, which are in memory.
 * - Stores are as old as their last pokes. What one store has is no proof that another one was read as far, so a fact that is missing beside a fresh
 *   one may still come. Where that would do harm, ask that store by name (`objectsNamed`), or have it read first (`mustRead`).
 * - Memory that is not kept (a cache, an awaited answer) may be gone at each pass. Nothing may depend on it.
 * - The plan has no effect, and a write has one. A write reads the object again where the fact could be old.
 * - A pass ends itself. After `budgetMs` it reads no other page and begins no other piece, and leaves the rest to the next pass.
 * - Time is no change: who waits for a time says so by `due`, which becomes the object's alarm.
 * - A second pass right after the first one does nothing. The tests of each controller show that.
 *
 * ## Why a frame
 *
 * - One code path: a poke, an alarm, cron and the first start of an object run the same pass. No path is used only after a crash.
 * - One place for what goes wrong between a read and a save. The frame's own tests kill it at every await (test/unit/controllers/frame).
 * - One status (status.ts). It says what the last pass read, did and left. It says since when work is left, and when the next pass is due.
 */
import { leastOf } from "../../core/base/extremes";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { StoreNews } from "../../api/rpc/store";
import { hearing, type Pass, type PassResult, RETRY_MAX_MS } from "./controller";
import { type Plan, PlannedWork } from "./planned-work";
import { PassRound, type Round } from "./round";
import { Spacing } from "./spacing";
import type { Watch } from "./watch";

/** After this time a pass reads no other page and begins no other piece of work. */
const BUDGET_MS = 60_000;
/** How long a pass waits for its events to be written: the rest is written behind it. */
const EVENTS_WAIT_MS = 1_000;
/** How far stores were read is saved at most once in this time, unless it is far ahead of what is on disk. A crash reads the changes of it again. */
const CURSORS_WAIT_MS = 60_000;

/** A store that is followed. */
export interface Followed {
  /** Reads what changed. Answers whether everything was read; never rejects. After `mayGoOn` says no, it reads no other page. */
  pull(mayGoOn: () => boolean): Promise<boolean>;
  /** changes and objects that were read since this object began */
  readonly read: number;
  /** why the last pull could not read; undefined = it could */
  readonly failure: string | undefined;
  /** Whether it may have something that was not read; absent = always. Otherwise a round passes it over. */
  readonly isBehind?: boolean;
  /** Whether a poke told of something that was not read, so that a pass is needed; absent = each poke may have. */
  readonly wants?: boolean;
  /** A poke told of some store. */
  hears?(news: StoreNews): void;
  /** The next round reads the store, whatever pokes say. */
  mustRead?(): void;
  /** Takes the controller's own writes as read, as far as that is sure; called behind the work of each round. */
  takeOwn?(): void;
}

/** What the controller keeps on disk. KeptRows, most often. */
export interface Saved {
  /** To be called once, first. Throws when storage does. */
  load(): void;
  /**
   * Writes everything that was collected since the last time, in one transaction. Throws when storage does; then the next save has it. `mayWait`: how
   * far stores were read need not be written, so that a crash reads the same again.
   */
  save(mayWait?: boolean): void;
}

export interface Description<Work> {
  readonly rows?: Saved;
  /** what is read from the rows before the first pass, in this order */
  readonly keeps?: readonly { load(): void }[];
  /** One step after the other is read, and the stores of a step at once. The next step is asked for when the one before has been read to its end. */
  follows?(): Iterable<Followed | readonly Followed[]>;
  /** how facts become writes; or the work of a round as one function, where its pieces are no list; absent = what is saved is told, and nothing written */
  readonly work?: Plan<Work> | ((round: Round) => Promise<void>);
  /**
   * When the controller has work although nothing changes, in milliseconds since the epoch; undefined = never.
   *
   * @param isRefused whether a piece of work of this name waits after a refusal: the frame knows when
   */
  due?(isRefused: (name: string) => boolean): number | undefined;
  /** Whether another round of this pass has work already. It is asked after each round that leaves nothing. */
  goesOn?(round: Round): boolean;
  /** pieces of work that wait, for the status; absent = those that were refused */
  waiting?(): number;
  /** Behind the work of a round, before it is saved. */
  ended?(): void;
  /** Behind a save: what is on disk may be told. */
  saved?(): void;
  /** Work is done although some store could not be read. Later steps are read as well. */
  readonly actsOnPart?: true;
  /** the rest after each round */
  pace?(): { restWhileBusy(): Promise<void> };
  /** events that the controller reports */
  readonly events?: { flush(): Promise<unknown> };
  /** notices that nothing ran for some time: then what was counted meanwhile counts anew */
  readonly absence?: { readonly watch: Watch; isWaiting(): boolean; away(lateMs: number): void };
  /** Passes begin at most once in this time, however many pokes come. */
  readonly everyMs?: number;
  /** When a pass that left work is repeated, in milliseconds since the epoch; absent or undefined = later and later, as the loop does. */
  retryAt?(): number | undefined;
  /** absent = a minute */
  readonly budgetMs?: number;
}

export interface FramePorts {
  clock: Pick<Clock, "now" | "after">;
  recorder: Recorder;
}

export class Frame<Work = never> {
  /** One pass, for the loop of the controller. */
  readonly pass: Pass;
  readonly #planned: PlannedWork<Work> | undefined;
  readonly #act: (round: PassRound) => Promise<void>;
  /** stores that were read, with what had been read of each at the beginning of the pass */
  readonly #read = new Map<Followed, number>();
  /** by store, the newest place that pokes told of */
  readonly #told = new Map<string, StoreNews>();
  #isLoaded = false;
  /** The last pass left work. */
  #hasLeft = false;
  /** when all cursors were saved last, in milliseconds since the epoch */
  #cursorsSavedAt = -Infinity;

  constructor(
    private readonly ports: FramePorts,
    private readonly description: Description<Work>,
  ) {
    const { work, everyMs } = description;
    if (!work || typeof work === "function") this.#act = work ?? (() => Promise.resolve());
    else {
      const planned = (this.#planned = new PlannedWork(ports, work));
      this.#act = (round) => planned.act(round);
    }
    const spacing = everyMs === undefined ? undefined : new Spacing(ports.clock, everyMs);
    this.pass = hearing(
      (isPoked) => (spacing ? spacing.run(isPoked, () => this.run(isPoked)) : this.run(isPoked)),
      () => this,
    );
  }

  /** What a poke says. undefined: it names no store, so the next pass reads all. */
  hears(news: readonly StoreNews[] | undefined): void {
    if (!news) {
      this.#cursorsSavedAt = -Infinity;
      return this.#mustReadAll();
    }
    for (const one of news) {
      if (one.revision >= (this.#told.get(one.store)?.revision ?? 0)) this.#told.set(one.store, one);
      for (const store of this.#read.keys()) store.hears?.(one);
    }
  }

  /** Whether what pokes said asks for a pass. What reads without followed stores, and what has not read yet, cannot know. */
  get wants(): boolean {
    return this.#read.size === 0 || [...this.#read.keys()].some(({ wants = true }) => wants);
  }

  /** Reads the rows, once. To be called before anything that is kept is used outside of a pass. Throws when storage does. */
  load(): void {
    if (this.#isLoaded) return;
    const { rows, keeps = [] } = this.description;
    rows?.load();
    for (const kept of keeps) kept.load();
    this.#isLoaded = true;
  }

  /** One pass at once. Rejects when the rows cannot be read. `isPoked`: only pokes ask for it, so it reads the stores that they named. */
  async run(isPoked = false): Promise<PassResult> {
    const { clock } = this.ports;
    const { budgetMs = BUDGET_MS, absence, events, retryAt } = this.description;
    this.load();
    const lateMs = absence?.watch.absenceMs(clock.now());
    if (lateMs !== undefined) absence?.away(lateMs);
    const endsAt = clock.now() + budgetMs;
    const pass = new PassRound(() => {
      this.#keepWatch();
      return clock.now() < endsAt;
    });
    if (!isPoked || this.#hasLeft) this.#mustReadAll();
    for (const store of this.#read.keys()) this.#read.set(store, store.read);
    this.#hasLeft = true;
    let againAt;
    do againAt = await this.#round(pass);
    while (againAt === "atOnce" && pass.mayGoOn());
    this.#hasLeft = pass.isLeft;
    const retry = pass.isLeft ? retryAt?.call(this.description) : undefined;
    // The rest is written behind the pass: a store of events that hangs holds up nothing.
    if (events) await withTimeout(clock, EVENTS_WAIT_MS, events.flush()).catch(() => undefined);
    const report = pass.report(this.#readInPass, this.description.waiting?.() ?? this.#planned?.waiting ?? 0);
    if (pass.isLeft && retry === undefined) return { left: true, report };
    const times = [retry, againAt === "atOnce" ? clock.now() : againAt].filter((at) => at !== undefined);
    return { left: false, ...(times.length > 0 && { againAt: leastOf(times) }), report };
  }

  /** Answers when the next round is due; `atOnce` = it has work now. */
  async #round(pass: PassRound): Promise<number | "atOnce" | undefined> {
    const { actsOnPart, goesOn, ended, pace } = this.description;
    const resting = pace?.();
    pass.begin();
    pass.isCurrent = await this.#pull(pass);
    if (!pass.isCurrent) pass.leave();
    if (pass.isCurrent || actsOnPart) await this.#work(pass);
    for (const store of this.#read.keys()) store.takeOwn?.();
    ended?.call(this.description);
    const againAt = this.#nextAt(pass);
    this.#watchUntil(pass.isLeft, againAt);
    this.#save(pass);
    if (pass.isLeft) return againAt;
    await resting?.restWhileBusy();
    return goesOn?.call(this.description, pass) ? "atOnce" : againAt;
  }

  /** Whether every store was read to its end. */
  async #pull(pass: PassRound): Promise<boolean> {
    const { follows, actsOnPart } = this.description;
    const mayGoOn = (): boolean => pass.mayGoOn();
    let isCurrent = true;
    for (const step of follows?.call(this.description) ?? []) {
      const stores: readonly Followed[] = "pull" in step ? [step] : step;
      for (const store of stores) if (!this.#read.has(store)) this.#meet(store);
      const pulled = await Promise.all(stores.map((store) => ((store.isBehind ?? true) ? store.pull(mayGoOn) : Promise.resolve(true))));
      isCurrent &&= pulled.every(Boolean);
      for (const [i, { failure }] of stores.entries()) {
        if (failure === undefined) continue;
        if (pulled[i]) pass.mention(failure);
        else pass.failed(failure);
      }
      if (!isCurrent && !actsOnPart) return false;
    }
    return isCurrent;
  }

  /** The store is read for the first time. What pokes told of it before says that it is used. */
  #meet(store: Followed): void {
    this.#read.set(store, store.read);
    for (const one of this.#told.values()) store.hears?.(one);
  }

  #mustReadAll(): void {
    for (const store of this.#read.keys()) store.mustRead?.();
  }

  async #work(pass: PassRound): Promise<void> {
    try {
      await this.#act(pass);
    } catch (error) {
      this.ports.recorder.log("warn", "controller pass failed", { error: String(error) });
      pass.failed(error);
    }
  }

  #save(pass: PassRound): void {
    const { rows, saved } = this.description;
    const nowMs = this.ports.clock.now();
    const age = nowMs - this.#cursorsSavedAt;
    const mayWait = age >= 0 && age < CURSORS_WAIT_MS;
    try {
      rows?.save(mayWait);
      if (!mayWait) this.#cursorsSavedAt = nowMs;
      saved?.call(this.description);
    } catch (error) {
      this.ports.recorder.log("warn", "a controller could not store what it learned", { error: String(error) });
      pass.failed(error);
    }
  }

  #nextAt(pass: PassRound): number | undefined {
    let due: number | undefined;
    try {
      due = this.description.due?.((name) => this.#planned?.isRefused(name) ?? false);
    } catch (error) {
      // What was learned is saved all the same.
      pass.failed(error);
    }
    const times = [due, this.#planned?.nextAt].filter((at) => at !== undefined);
    return times.length > 0 ? leastOf(times) : undefined;
  }

  get #readInPass(): number {
    let read = 0;
    for (const [store, before] of this.#read) read += store.read - before;
    return read;
  }

  /** Notes when the next pass is to be, if something that waits would suffer from an absence. */
  #watchUntil(isLeft: boolean, againAt: number | undefined): void {
    const { absence } = this.description;
    // The loop's own alarm asks for what is left.
    absence?.watch.set(absence.isWaiting() ? (isLeft ? this.ports.clock.now() + RETRY_MAX_MS : againAt) : undefined);
  }

  /** A pass that takes long is not away. A save that fails here is made at the end of the round. */
  #keepWatch(): void {
    const { absence, rows } = this.description;
    const nowMs = this.ports.clock.now();
    if (!absence?.watch.isLate(nowMs)) return;
    absence.watch.set(nowMs + RETRY_MAX_MS);
    try {
      rows?.save();
    } catch {
      // as said above
    }
  }
}
