/**
 * How far repair has read the two stores. It follows their histories, and sweeps everything in portions: at most one portion a minute, so that what
 * no change announces is found too.
 *
 * A full sweep does not wait between its portions. It makes up for a history that was lost (rule 23) or never read, follows a change of the
 * configuration, and can be asked for.
 *
 * At a crash: `saveMoved` comes after the proposals of what was read, so what was read since is read again.
 */
import type { FedChange } from "../../api/rpc/object-feed";
import { chunksOf } from "../../core/base/chunks";
import type { Pace } from "../../core/base/pause";
import { PAGE } from "./lookup";
import { type RepairedStore, type Progress, type RepairPorts, PORTIONED_AT, SWEEP_ASKED, SWEEPS_ENDED } from "./repair-ports";
import type { NodePortCheck } from "./node-port-check";
import type { RepairReports } from "./repair-reports";
import { noteAddressChange, noteServiceChange, noteSweptAddress, noteSweptService, type RepairRound } from "./round";

export const STORES: readonly RepairedStore[] = ["services", "ipaddresses"];

/** Changes read by one call. Most are of healthy objects, and they must not come faster than they are read. */
const CHANGES = 400;
/** Objects of one portion of the sweep, per store: 10,000 Services are swept in five minutes. */
export const PORTION = 2_000;
const PORTION_INTERVAL_MS = 50_000;

/** Since when a full sweep is under way (milliseconds since the epoch); 0 = none is. */
const SWEEPING_SINCE = "sweeping";
/** Somebody waits for the full sweep. */
const SWEEP_AWAITED = "sweepAwaited";

/** One read of a store: where reading goes on if the round succeeds. */
export interface ReadPage {
  what: RepairedStore;
  progress: Progress;
  /** `progress` differs from the saved one */
  moved: boolean;
  more: boolean;
  /** the sweep of the store came to its end with this page */
  isLast: boolean;
}

/** The same with what was read. */
interface FetchedPage extends ReadPage {
  changes: FedChange[];
  /** of the sweep */
  objects: string[];
  /** the sweep compares node ports with their rows */
  compares: boolean;
}

export class Sweep {
  /** during a pass: how far it has come, and which stores' progress is not saved */
  readonly #progress = new Map<RepairedStore, Progress>();
  readonly #moved = new Set<RepairedStore>();
  /** when the portion under way began, in milliseconds since the epoch */
  #portionAt = 0;

  constructor(
    private readonly ports: Pick<RepairPorts, "clock" | "ipAddresses" | "recorder" | "services" | "storage">,
    private readonly reports: Pick<RepairReports, "ofUnreadable">,
    private readonly nodePorts: Pick<NodePortCheck, "begin" | "isComparing">,
    /** called when a full sweep begins */
    private readonly begun: () => void,
  ) {}

  /** Loads what earlier passes have read. */
  load(): void {
    for (const what of STORES) this.#progress.set(what, this.ports.storage.progressLoad(what));
  }

  /**
   * Begins a full sweep if one was asked for, or if a history is to be made up for. A full sweep that is under way comes to its end first: asking
   * again and again does not keep it from that.
   */
  begin(): void {
    const { storage } = this.ports;
    if (this.isFull) return;
    const asked = this.isAsked;
    if (!asked && !STORES.some((what) => this.#progressOf(what).urgent)) return;
    if (asked) {
      // Before anything else: a sweep that a crash ends begins with these again.
      for (const what of STORES) {
        const progress = { ...this.#progressOf(what), sweptTo: "", urgent: true };
        this.#progress.set(what, progress);
        storage.progressSave(what, progress);
      }
      storage.numberSet(SWEEP_AWAITED, 1);
      storage.numberSet(SWEEP_ASKED, 0);
    }
    this.#startFull();
  }

  #startFull(): void {
    const { clock, storage } = this.ports;
    storage.numberSet(SWEEPING_SINCE, clock.now());
    this.begun();
  }

  /** Everything was looked at: the full sweep ends. */
  end(): void {
    const { clock, recorder, storage } = this.ports;
    recorder.log("info", "repair looked at everything", { durationMs: clock.now() - this.#fullSince });
    storage.numberSet(SWEEPING_SINCE, 0);
    storage.numberSet(SWEEP_AWAITED, 0);
    storage.numberSet(SWEEPS_ENDED, storage.numberGet(SWEEPS_ENDED) + 1);
  }

  get isFull(): boolean {
    return this.#fullSince !== 0;
  }

  get #fullSince(): number {
    return this.ports.storage.numberGet(SWEEPING_SINCE);
  }

  /** Another full sweep is to begin. */
  get isAsked(): boolean {
    return this.ports.storage.numberGet(SWEEP_ASKED) !== 0;
  }

  get isAwaited(): boolean {
    return this.ports.storage.numberGet(SWEEP_AWAITED) !== 0;
  }

  /** The sweep stands somewhere between its beginning and its end. */
  get isUnderWay(): boolean {
    return STORES.some((what) => this.#progressOf(what).sweptTo !== "");
  }

  /** Whether the next portion is due. A pass that fails has ended none, so the next one tries again. */
  takePortion(): boolean {
    const { clock, storage } = this.ports;
    this.#portionAt = clock.now();
    const sinceMs = this.#portionAt - storage.numberGet(PORTIONED_AT);
    // A clock that was set back must not stop the sweep.
    return sinceMs >= PORTION_INTERVAL_MS || sinceMs < 0;
  }

  /** The pass with the portion came to its end. */
  endPortion(): void {
    this.ports.storage.numberSet(PORTIONED_AT, this.#portionAt);
  }

  /** Reads the changes since the cursor, and with `portion` a page of the sweep. A store whose history was lost or never read is swept at once. */
  async fetch(what: RepairedStore, portion: boolean): Promise<FetchedPage> {
    const store = what === "services" ? this.ports.services : this.ports.ipAddresses;
    const progress = { ...this.#progressOf(what) };
    const fetched: FetchedPage = { what, progress, moved: false, more: false, isLast: false, changes: [], objects: [], compares: false };
    // Both by one call, unless the history turns out to be lost: then the sweep begins anew.
    const asked = portion || progress.urgent ? { after: progress.sweptTo, limit: PAGE } : undefined;
    const changes = progress.cursor ? await store.objectsSince(progress.cursor, CHANGES, asked) : { kind: "expired" as const };
    if (changes.kind === "expired") {
      if (!progress.urgent) this.#startFull();
      Object.assign(progress, { cursor: undefined, sweptTo: "", urgent: true });
    } else {
      fetched.changes = changes.changes;
      fetched.moved = changes.cursor.revision !== progress.cursor?.revision;
      fetched.more = changes.more;
      progress.cursor = changes.cursor;
    }
    if (!portion && !progress.urgent) return fetched;
    if (what === "services" && progress.sweptTo === "") this.nodePorts.begin(this.#fullSince);
    fetched.compares = this.nodePorts.isComparing;
    const along = changes.kind === "changes" ? changes.page : undefined;
    const page = along ?? (await store.objectsAfter(progress.sweptTo, PAGE));
    fetched.objects = page.objects;
    // The history after the first page has what changes while the sweep goes on.
    progress.cursor ??= page.cursor;
    fetched.moved ||= progress.urgent || page.next !== progress.sweptTo;
    progress.sweptTo = page.next;
    if (page.next === "") progress.urgent = false;
    return { ...fetched, more: fetched.more || progress.urgent, isLast: page.next === "" };
  }

  /** Notes what was read: some objects at a time, so that others get the thread between. */
  async note({ what, changes, objects, compares }: FetchedPage, round: RepairRound, pace: Pick<Pace, "breathe">): Promise<void> {
    const noteChange = what === "services" ? noteServiceChange : noteAddressChange;
    const noteSwept = (object: string): boolean =>
      what === "services" ? noteSweptService(round, object, compares) : noteSweptAddress(round, object);
    for (const chunk of chunksOf(changes, PAGE)) {
      for (const change of chunk) if (!noteChange(round, change)) this.reports.ofUnreadable(what, change.object);
      await pace.breathe();
    }
    for (const object of objects) if (!noteSwept(object)) this.reports.ofUnreadable(what, object);
    await pace.breathe();
  }

  /** The proposals of what was read are made: the next round reads on behind it. */
  advance({ what, progress, moved }: ReadPage): void {
    if (!moved) return;
    this.#progress.set(what, progress);
    this.#moved.add(what);
  }

  /** Saves how far the pass has come, once. */
  saveMoved(): void {
    for (const what of this.#moved) this.ports.storage.progressSave(what, this.#progressOf(what));
    this.#moved.clear();
  }

  #progressOf(what: RepairedStore): Progress {
    return this.#progress.get(what) ?? { cursor: undefined, sweptTo: "", urgent: true };
  }
}
