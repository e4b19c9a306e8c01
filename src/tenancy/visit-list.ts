/**
 * The objects of a cluster that cron visits, and no others. In each tick these are those that asked for visits and were not found settled since. In a
 * full visit they are all that ever had something to do. A tick of a cluster at rest is then one call, and that of a busy one grows with the stores that
 * had writes. An object that nobody ever used is not made by cron.
 *
 * - An object is a row from before it has its answer. A crash here loses none.
 * - A row of the list goes when a visit finds the object settled that began after it asked last. An object that asks meanwhile keeps its row.
 * - One object, repair, is in the list as long as any other is.
 * - Who has asked once, or has entered, is known for ever by a row of its own. A store asks before its first write, so a store that is not known holds
 *   nothing but what it began with (api/store/feeds/deliveries.ts).
 * - What never got into the list is found by a full visit. It is due FULL_BUSY_MS after the last one in a cluster with rows, and FULL_IDLE_MS after it in
 *   others. The first tick of a cluster is one. So is the first tick behind the start of a local server: with the process everybody died.
 *
 * A store that runs an earlier release enters nowhere. It enters when it starts under this one (controllers/plain-store.ts). One may have been written to and
 * not have started since. Then nobody is taken for unused until a full visit has called everybody, and each store has said whether it was ever written to.
 * Such a store shows by any of these:
 *
 * - Repair began under an earlier release.
 * - Cron has ticked there since, as after a rollback: earlier releases note ticks and sweeps by other marks.
 * - An object of an earlier release has called a controller since, as during a deployment (controllers/frame/older-callers.ts).
 * - An object is in the list and was never entered.
 */
import { inParallel } from "../core/base/in-parallel";
import type { Clock, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import type { VisitListRpc, VisitOutcome } from "../api/rpc/visits";

/** A full visit costs as much as an hour of ticks of a cluster at rest. */
const FULL_BUSY_MS = 3_600_000;
/** Visits of a cluster at rest are a day apart, the first one less far behind its last writes. So the first or the second is a full one. */
const FULL_IDLE_MS = 12 * FULL_BUSY_MS;
/** A visit waits a little for passes. One that takes longer is met by the next visit. */
const VISIT_TIMEOUT_MS = 5_000;
const VISITED_TOGETHER = 6;
/** of the rows of the list */
export const LIST_KIND = "visits";
/** of the rows of those that are known for ever */
export const ENTERED_KIND = "entered";
/** How the names of controllers begin. */
export const CONTROLLERS_PREFIX = "controllers/";
/** The key of the row that says that nobody is missing. Its text has the controllers that there were. No object has this name. */
const WHOLE = "";
/** Its text where somebody may be missing. */
const IN_DOUBT = "";

/** Rows of the object that keeps the list. Every method is synchronous. */
export interface VisitRows {
  rows(kind: string): Iterable<[key: string, text: string]>;
  rowPut(kind: string, key: string, text: string): void;
  rowDelete(kind: string, key: string): void;
}

/** Somebody of an earlier release may have used objects that are not known here. */
export interface OlderTicks {
  /** cron has ticked there, or has swept */
  readonly haveBeen: boolean;
  /** everybody is known now */
  forget(): void;
}

export interface VisitListPorts {
  clock: Clock;
  recorder: Recorder;
  rows: VisitRows;
  /** One visit; undefined = no object has this name, as after a change of the release. */
  visit(name: string): Promise<VisitOutcome> | undefined;
  /** Who is in the list as long as anybody else is, and is visited in each tick until then: it looks at what the others leave. */
  last: string;
  /** stores that every cluster uses: full visits call them, and nobody takes them for unused */
  always: readonly string[];
  /** names of all controllers of this release */
  controllers: readonly string[];
  /** The cluster begins with this life: nobody has used anything before. */
  isNew: boolean;
  older: OlderTicks;
  /** the other stores, and whether something was ever written to them */
  stores(): readonly { name: string; isUsed(): Promise<boolean> }[];
}

export class VisitList implements VisitListRpc {
  /** by name, how often the object has asked in this life */
  #asked: Map<string, number> | undefined;
  /** by name, as the rows are */
  #entered: Map<string, string> | undefined;
  /** how often somebody of an earlier release was heard of in this life */
  #doubts = 0;

  constructor(private readonly ports: VisitListPorts) {
    if (ports.isNew) this.#putWhole();
  }

  get isEmpty(): boolean {
    return this.#listed.size === 0;
  }

  askVisits(name: string): Promise<boolean> {
    const before = this.#listed.get(name);
    this.#enter(name);
    for (const one of [name, this.ports.last]) {
      if (!this.#listed.has(one)) this.ports.rows.rowPut(LIST_KIND, one, "");
      this.#listed.set(one, (this.#listed.get(one) ?? 0) + 1);
    }
    return Promise.resolve(before !== undefined);
  }

  enter(name: string): Promise<void> {
    this.#enter(name);
    return Promise.resolve();
  }

  /** Somebody of an earlier release has called: there may be stores that are used and are not known. Durable when it resolves. */
  doubt(): Promise<void> {
    this.#doubts++;
    this.#put(WHOLE, IN_DOUBT);
    return Promise.resolve();
  }

  entered(): Promise<readonly string[] | null> {
    return Promise.resolve(this.#isWhole ? this.#known : null);
  }

  /** Whether a full visit is due. `fullMs`: when the last one was; `startedMs`: start of a local server, or 0. All in milliseconds since the epoch. */
  isFullDue(fullMs: number, nowMs: number, startedMs: number): boolean {
    // The tick of the last one is called again where its answer was lost. A clock that was set back hides no full visit.
    return nowMs <= fullMs || fullMs < startedMs || nowMs - fullMs >= (this.isEmpty ? FULL_IDLE_MS : FULL_BUSY_MS);
  }

  /** Visits everybody in the list; answers whether any of them needs a further visit. Never rejects. */
  async visitAll(): Promise<VisitOutcome> {
    const { last } = this.ports;
    const found = [...this.#listed].filter(([name]) => name !== last);
    const askedLast = this.#listed.get(last);
    const looked = this.#visit(last);
    await inParallel(found, VISITED_TOGETHER, async ([name, asked]) => {
      if ((await this.#visit(name)) === "settled") this.#remove(name, asked);
    });
    // A store is settled only if it had no turn since the visit before, so this look has met what it left.
    if ((await looked) === "settled" && this.#listed.size === 1) this.#remove(last, askedLast);
    return this.isEmpty ? "settled" : "left";
  }

  /**
   * A full visit: of stores first, whose pokes may wake controllers that have not begun. Answers as visitAll does. `unknown`: cron has to call everybody,
   * because somebody may be missing here. Never rejects.
   */
  async visitInFull(): Promise<VisitOutcome | "unknown"> {
    if (!this.#isWhole) return "unknown";
    this.#enterNewControllers();
    const isController = (name: string): boolean => name.startsWith(CONTROLLERS_PREFIX);
    const unlisted = this.#known.filter((name) => !this.#listed.has(name));
    const missed = async (name: string): Promise<void> => {
      if ((await this.#visit(name)) === "left") await this.askVisits(name);
    };
    await inParallel(
      unlisted.filter((name) => !isController(name)),
      VISITED_TOGETHER,
      missed,
    );
    const outcome = await this.visitAll();
    await inParallel(unlisted.filter(isController), VISITED_TOGETHER, missed);
    return this.isEmpty ? outcome : "left";
  }

  /** Asks each store whether it was ever written to; from then on everybody is known. A store that does not answer leaves that to the next full visit. */
  async learn(): Promise<void> {
    const { clock, older, recorder, stores } = this.ports;
    const doubts = this.#doubts;
    let isWhole = true;
    await inParallel([...stores()], VISITED_TOGETHER, async ({ name, isUsed }) => {
      try {
        if (await withTimeout(clock, VISIT_TIMEOUT_MS, isUsed())) this.#enter(name);
      } catch (error) {
        isWhole = false;
        recorder.log("warn", "a store could not say whether it is used", { name, error: String(error) });
      }
    });
    if (!isWhole || this.#doubts !== doubts) return;
    for (const name of this.ports.controllers) this.#enter(CONTROLLERS_PREFIX + name);
    for (const name of this.#listed.keys()) this.#enter(name);
    older.forget();
    this.#putWhole();
  }

  /** `asked`: how often it had asked when the visit began. */
  #remove(name: string, asked: number | undefined): void {
    if (this.#listed.get(name) !== asked) return;
    this.ports.rows.rowDelete(LIST_KIND, name);
    this.#listed.delete(name);
  }

  async #visit(name: string): Promise<VisitOutcome> {
    const { clock, recorder, visit } = this.ports;
    try {
      const visited = visit(name);
      return visited ? await withTimeout(clock, VISIT_TIMEOUT_MS, visited) : "settled";
    } catch (error) {
      recorder.log("warn", "an object could not be visited", { name, error: String(error) });
      return "left";
    }
  }

  #enter(name: string): void {
    if (!this.#isKnown(name)) this.#put(name, "");
  }

  #put(name: string, text: string): void {
    if (this.#rows.get(name) === text) return;
    this.ports.rows.rowPut(ENTERED_KIND, name, text);
    this.#rows.set(name, text);
  }

  #putWhole(): void {
    this.#put(WHOLE, [...this.ports.controllers].sort().join());
  }

  /** Those that a release has brought since: nobody has poked them yet. */
  #enterNewControllers(): void {
    const known = this.#rows.get(WHOLE)?.split(",") ?? [];
    for (const name of this.ports.controllers) if (!known.includes(name)) this.#enter(CONTROLLERS_PREFIX + name);
    this.#putWhole();
  }

  #isKnown(name: string): boolean {
    return name === this.ports.last || this.ports.always.includes(name) || this.#rows.has(name);
  }

  get #isWhole(): boolean {
    return (this.#rows.get(WHOLE) ?? IN_DOUBT) !== IN_DOUBT && !this.ports.older.haveBeen;
  }

  /** Everybody that a full visit calls, besides `last`. */
  get #known(): string[] {
    return [...this.ports.always, ...[...this.#rows.keys()].filter((name) => name !== WHOLE)];
  }

  get #rows(): Map<string, string> {
    if (this.#entered) return this.#entered;
    this.#entered = new Map(this.ports.rows.rows(ENTERED_KIND));
    // A release with these rows enters before it lists.
    if (this.#entered.has(WHOLE) && ![...this.#listed.keys()].every((name) => this.#isKnown(name))) this.#put(WHOLE, IN_DOUBT);
    return this.#entered;
  }

  get #listed(): Map<string, number> {
    return (this.#asked ??= new Map([...this.ports.rows.rows(LIST_KIND)].map(([name]) => [name, 0])));
  }
}
