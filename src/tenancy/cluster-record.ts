/**
 * The record of one cluster name: whether the cluster exists, which life of the name it is, its list of controllers, and a deletion under way.
 *
 *   absent ── open ──► active ── remove ──► deleting ── every object wiped, keys forgotten ──► absent, of the next life
 *
 * What must hold
 * - An object of a cluster is called only under the id of a life that this record has opened.
 * - The place of a cluster is chosen when it begins, and stored with its life. No object moves.
 * - The list of all clusters has the name before the cluster begins, and until it has ended: whoever looks for a cluster asks the list first. Each life
 *   enters it under a stamp of its own, so that no late call of an earlier one takes it out. What is lost on the way the next reader of the list has told.
 * - A deletion names the life that is meant. So a late or repeated call ends no later cluster of the name.
 * - Who asks for a beginning, for controllers or for quotas names the object that says so, in its generation. A call of an object that has ended, or of an
 *   older generation, is late and changes nothing. So is one that means another life, and one of an object that was made before the one that spoke last.
 * - A deletion ends. Its work is stored as rows; after a crash the object's alarm continues where it stopped. Each step may be repeated.
 * - A wiped object stays wiped: it refuses every call for ever, and the next life has objects of other names. So a deletion waits for no
 *   late call, and no late call brings data back.
 * - A cluster with Service ranges of its own has begun when the objects that make its first range know them. Until then nobody learns its id: a request
 *   would make the first range of the variable. So it is with quotas that its namespaces start with: a request would make a namespace without one.
 * - A list of controllers is stored, then told to every object. Who has not heard is told again by the alarm. Stores hear first: when a controller begins
 *   to look at everything, no store leaves out a poke any more.
 */
import type { NamespaceQuotas, QuotaAmounts } from "../api/rpc/namespace-quotas";
import { inParallel } from "../core/base/in-parallel";
import type { Clock, Recorder } from "../core/base/ports";
import { withTimeout } from "../core/base/timeout";
import type { ControllerList, ControllersSetting } from "../core/config/controllers";
import {
  CLUSTER_GONE,
  type ClusterFacts,
  DIRECTORY_SILENT,
  type ClusterRecordRpc,
  type ClusterSource,
  type ClusterState,
  type ListedCluster,
  type ToldSetting,
} from "./rpc";
import { clusterId, lifeIn } from "./cluster-id";
import type { Location } from "../core/config/location";
import type { BeginningRow, ClusterObject, ControllersRow, QuotasRow, RecordRow, RecordStorage } from "./record-storage";

/** Objects called at the same time: enough to be quick, few enough for the connections that one invocation may have open. */
const CALLED_TOGETHER = 6;
/** Objects of one run, within the calls that one invocation may make; the alarm begins the next run. */
const WIPED_PER_RUN = 300;
/** How often an object may name further owners. Ranges that are made during the deletion have new ones. */
const LISTINGS_MAX = 20;
/** Dropping many rows takes longer than a usual call. */
const WIPE_TIMEOUT_MS = 30_000;
/** An object that is called for the first time makes its tables. */
const TELL_TIMEOUT_MS = 5_000;
const DIRECTORY_TIMEOUT_MS = 5_000;
/** A call comes later than its caller waits for it. Behind that, an older generation, or an object that has ended, says that the object was brought back in time. */
const LATE_MS = 60_000;
/** Of objects that have ended. A name has fewer lives within LATE_MS. */
const ENDED_MAX = 100;
const RETRY_BASE_MS = 500;
const RETRY_MAX_MS = 30_000;

export interface RecordPorts {
  storage: RecordStorage;
  clock: Clock;
  recorder: Recorder;
  /** the object's alarm, durable with the writes of the turn */
  wakeAt(atMs: number): void;
  /** what a cluster consists of, besides owners */
  objects(): readonly ClusterObject[];
  /** `Wipeable.wipe` of one object */
  wipe(id: string, object: ClusterObject, listed: string[]): Promise<string[]>;
  /** `SwitchedObject.setControllers` of one object */
  tell(id: string, object: ClusterObject, setting: ControllersSetting): Promise<void>;
  /** `RangedObject.beginWith` of each object that makes something of the ranges; false where the cluster has begun with others */
  beginWith(id: string, serviceRanges: readonly string[]): Promise<boolean>;
  /** `QuotaSeedingStore.setNamespaceQuotas` */
  tellQuotas(id: string, quotas: NamespaceQuotas): Promise<void>;
  /** notes in the directory which controllers cron is not to call */
  noteControllers(id: string, list: ControllerList | null): Promise<void>;
  /** removes what the directory has under the id, copies included */
  forget(id: string): Promise<void>;
  /** whether the directory knows a cluster of this id */
  isInDirectory(id: string): Promise<boolean>;
  /** a word that nobody has had before */
  newStamp(): string;
  /** enters the name in the list of all clusters; durable when it resolves */
  enlist(stamp: string): Promise<void>;
  /**
   * tells the list of all clusters what the cluster is: the id of its life, null where it ends, and everything that the list shows. false = the entry there
   * has another stamp
   */
  noteLife(id: string | null, told: Omit<ListedCluster, "name">): Promise<boolean>;
  /** takes the name out of the list of all clusters, where its entry has this stamp; durable when it resolves */
  unlist(stamp: string): Promise<void>;
  /** lets cron visit the cluster soon; may be lost */
  noteBusy(id: string): void;
}

/** What a cluster is to begin with. `serviceRanges`: absent = those of the variable. `quotas`: absent = none. */
interface BeginningWish {
  readonly serviceRanges?: readonly string[] | undefined;
  readonly quotas?: QuotaAmounts | undefined;
}

/** What was said last of the controllers, or of the quotas; the version is the time at which that was. */
type SaidRow = Pick<ControllersRow, "source" | "version">;

export class ClusterRecord implements ClusterRecordRpc {
  #attempt = 0;
  #running: Promise<void> | undefined;
  #telling: Promise<unknown> = Promise.resolve();
  /** of the last setting that this instance began: later than what any object knows */
  #begunVersion: number | undefined;
  #enlisting: Promise<void> | undefined;
  /** what beginnings tell the list of all clusters just now */
  #lastWord: { readonly word: string; readonly told: Promise<unknown> } | undefined;
  #founding: Promise<void> | undefined;
  /** read once; null = there is none */
  #beginning: BeginningRow | null | undefined;
  /** calls under way that may begin the cluster */
  #openings = 0;

  constructor(
    private readonly name: string,
    private readonly ports: RecordPorts,
  ) {}

  /** To be called when the object starts: its work continues, also without its alarm (rule 19). */
  resume(): void {
    const { storage, clock } = this.ports;
    const phase = storage.load()?.phase;
    if (phase === "deleting" || (phase === "active" && (this.#untold() || this.#unfounded() || this.#untoldQuotas())))
      this.ports.wakeAt(clock.now());
  }

  async look(): Promise<ClusterState> {
    await this.#learn();
    await this.#found();
    return this.#stateOf(this.ports.storage.load());
  }

  async listed(stamp: string): Promise<ClusterState> {
    const { storage } = this.ports;
    await this.#learn();
    await this.#found();
    const state = this.#stateOf(storage.load());
    if (state.phase !== "absent") {
      storage.noteLife("");
      await this.#tellListBehind(stamp);
    } else if (this.#openings === 0) {
      // The next beginning enters the name anew, whatever comes of this.
      storage.noteStamp(undefined);
      await this.#answered(this.ports.unlist(stamp));
    }
    return state;
  }

  open(source?: ClusterSource): Promise<{ state: ClusterState; opened: boolean }> {
    return this.#open(undefined, {}, source);
  }

  openIn(location: Location, source?: ClusterSource): Promise<{ state: ClusterState; opened: boolean }> {
    return this.#open(location, {}, source);
  }

  openWith(
    serviceRanges: readonly string[] | undefined,
    location: Location | undefined,
    source?: ClusterSource,
    quotas?: QuotaAmounts,
  ): Promise<{ state: ClusterState; opened: boolean }> {
    return this.#open(location, { serviceRanges, quotas }, source);
  }

  async #open(
    location: Location | undefined,
    wish: BeginningWish,
    source: ClusterSource | undefined,
  ): Promise<{ state: ClusterState; opened: boolean }> {
    if (this.#hasEnded(source)) return { state: await this.look(), opened: false };
    this.#openings++;
    try {
      return await this.#begun(location, wish, source);
    } finally {
      this.#openings--;
    }
  }

  async #begun(
    location: Location | undefined,
    { serviceRanges: ranges, quotas }: BeginningWish,
    source: ClusterSource | undefined,
  ): Promise<{ state: ClusterState; opened: boolean }> {
    const { storage, clock } = this.ports;
    await this.#learn();
    // A life that ends meanwhile takes its name out of the list.
    do await this.#enlist();
    while (storage.stamp() === undefined);
    const row = storage.load();
    const { name } = this;
    // The object may have ended while the list was told. Its entry stays in doubt, and the next reader has it taken out.
    const opened = (!row || row.phase === "absent") && !this.#hasEnded(source);
    const life = lifeIn(location, row?.life ?? 1);
    const id = clusterId(name, life);
    const begun: RecordRow = { name, life, phase: "active", createdAt: clock.now(), deletedAt: 0 };
    if (opened && (ranges ?? quotas)) {
      storage.transaction(() => {
        storage.save(begun);
        if (ranges) this.#saveBeginning({ id, serviceRanges: ranges, isTold: false });
        if (quotas) storage.quotasSave({ version: this.#nextQuotas(), hard: quotas, isTold: false, isFirst: true, source });
      });
      // After a crash from here on the alarm goes on.
      this.ports.wakeAt(clock.now() + RETRY_BASE_MS);
    } else if (opened) {
      storage.save(begun);
      // Its objects would tell the same one by one.
      this.ports.noteBusy(id);
    }
    await this.#found();
    await this.#tellListTogether();
    return { state: this.#stateOf(storage.load()), opened };
  }

  async setControllers(list: ControllerList | null, source?: ClusterSource): Promise<ToldSetting> {
    const { storage, clock } = this.ports;
    await this.#learn();
    await this.#found();
    const row = storage.load();
    if (row?.phase !== "active") return { state: this.#stateOf(row), isTold: false };
    const id = clusterId(this.name, row.life);
    const last = storage.controllersLoad();
    if (this.#isLate(id, source, last)) return { state: this.#stateOf(row), isTold: this.#untold() === undefined, isLate: true };
    this.#noteReplaced(source, last);
    // Who makes a cluster and the controller of its object ask for one list at once: a later version would cut short what the other one waits for.
    if (last?.isTold === false && last.version === this.#begunVersion && String(last.list) === String(list)) {
      if (source) storage.controllersSave({ ...last, source });
      await this.#telling;
      const left = this.#untold();
      if (left?.version === last.version) await this.#tell(id, left);
    } else {
      // Otherwise the same list is a later version, too: the objects may know later ones than a record that was brought back from a backup.
      const version = Math.max((last?.version ?? 0) + 1, clock.now());
      const untold: ControllersRow = { version, list, isTold: false, source };
      this.#begunVersion = version;
      storage.controllersSave(untold);
      // After a crash from here on the alarm goes on.
      this.ports.wakeAt(clock.now() + RETRY_BASE_MS);
      await this.#tell(id, untold);
    }
    return { state: this.#stateOf(storage.load()), isTold: this.#untold() === undefined };
  }

  async setQuotas(hard: QuotaAmounts | null, source?: ClusterSource): Promise<ToldSetting> {
    const { storage, clock } = this.ports;
    await this.#learn();
    await this.#found();
    const row = storage.load();
    if (row?.phase !== "active") return { state: this.#stateOf(row), isTold: false };
    const id = clusterId(this.name, row.life);
    const last = storage.quotasLoad();
    if (this.#isLate(id, source, last)) {
      return { state: this.#stateOf(row), isTold: this.#untoldQuotas() === undefined, isLate: true };
    }
    this.#noteReplaced(source, last);
    const untold: QuotasRow = { version: this.#nextQuotas(), hard, isTold: false, source };
    storage.quotasSave(untold);
    // After a crash from here on the alarm goes on.
    this.ports.wakeAt(clock.now() + RETRY_BASE_MS);
    await this.#tellQuotas(id, untold);
    return { state: this.#stateOf(storage.load()), isTold: this.#untoldQuotas() === undefined };
  }

  /** The version of the next quotas: later than any that an object knows. */
  #nextQuotas(): number {
    const { storage, clock } = this.ports;
    return Math.max((storage.quotasLoad()?.version ?? 0) + 1, clock.now());
  }

  /**
   * Whether what is said of the cluster of this id comes late: from an older generation than that of the last word, or from an object that has ended.
   * So is a word about another life, and one of an object that was made before another one which has spoken since.
   */
  #isLate(id: string, source: ClusterSource | undefined, last: SaidRow | undefined): boolean {
    if (!source) return false;
    if ((source.life ?? id) !== id || this.#hasEnded(source)) return true;
    const { storage } = this.ports;
    const isOlder =
      source.uid !== undefined && last?.source?.uid === source.uid && (source.generation ?? 0) < (last.source.generation ?? 0);
    if (isOlder && this.#isFresh(last)) return true;
    return [storage.controllersLoad(), storage.quotasLoad()].some((said) => isOfOlder(source, said?.source) && this.#isFresh(said));
  }

  /** Whether calls may be under way that were sent before this was said. */
  #isFresh(said: SaidRow | undefined): boolean {
    return said !== undefined && this.ports.clock.now() < said.version + LATE_MS;
  }

  #hasEnded({ uid }: ClusterSource = {}): boolean {
    const ended = uid === undefined ? undefined : this.ports.storage.endedLoad()?.find((one) => one.uid === uid);
    return ended !== undefined && this.ports.clock.now() < ended.endedAt + LATE_MS;
  }

  /** Another object stands for the cluster: what comes from the one before is late from now on. */
  #noteReplaced(source: ClusterSource | undefined, last: SaidRow | undefined): void {
    if (source?.uid !== undefined && last?.source?.uid !== source.uid) this.#noteEnded(last?.source);
  }

  #noteEnded({ uid }: ClusterSource = {}): void {
    if (uid === undefined) return;
    const { storage, clock } = this.ports;
    const now = clock.now();
    const others = (storage.endedLoad() ?? []).filter((one) => one.uid !== uid && now < one.endedAt + LATE_MS);
    storage.endedSave([...others, { uid, endedAt: now }].slice(-ENDED_MAX));
  }

  /** Whether the store of Namespaces has heard; where it has not, that is logged. */
  async #tellQuotas(id: string, { version, hard }: QuotasRow): Promise<boolean> {
    const { clock, recorder, storage } = this.ports;
    try {
      await withTimeout(clock, TELL_TIMEOUT_MS, this.ports.tellQuotas(id, { version, hard }));
    } catch (error) {
      recorder.log("warn", "the store of Namespaces has not heard of its quotas", { id, error: String(error) });
      return false;
    }
    const last = storage.quotasLoad();
    if (last?.version === version && storage.load()?.phase === "active") storage.quotasSave({ ...withoutFirst(last), isTold: true });
    return true;
  }

  #untoldQuotas(): QuotasRow | undefined {
    const row = this.ports.storage.quotasLoad();
    return row?.isTold === false ? row : undefined;
  }

  async remove(meant?: string, source?: ClusterSource): Promise<ClusterState> {
    const { storage, clock } = this.ports;
    await this.#learn();
    const row = storage.load();
    const id = row && clusterId(this.name, row.life);
    const ends = row?.phase === "active" && id !== undefined && (meant ?? id) === id;
    if (!ends && !this.#hasEnded(source)) this.#noteEnded(source);
    if (ends) {
      storage.transaction(() => {
        this.#noteEnded(source);
        storage.save({ ...row, phase: "deleting", deletedAt: clock.now() });
        storage.objectsAdd(this.ports.objects());
        storage.noteLife("");
      });
      this.ports.wakeAt(clock.now());
      this.ports.noteBusy(id);
      await this.#tellList();
    }
    return this.#stateOf(storage.load());
  }

  async carryOn(id: string): Promise<void> {
    const row = this.ports.storage.load();
    const isLiving = row !== undefined && row.phase !== "absent" && clusterId(this.name, row.life) === id;
    if (!isLiving) await this.ports.forget(id);
    else if (row.phase === "deleting") this.ports.wakeAt(this.ports.clock.now());
    else this.#tellAnew();
  }

  /** The list of the cluster, and its quotas, if it has any, are told again by the alarm. */
  #tellAnew(): void {
    const { storage, clock } = this.ports;
    const row = storage.controllersLoad();
    const quotas = storage.quotasLoad();
    if (row?.list) storage.controllersSave({ ...row, isTold: false });
    // Also that there are none: the store may have been brought back to a time with some. Rows of the release before keep `isFirst` behind the beginning.
    if (quotas) storage.quotasSave({ ...(quotas.isTold ? withoutFirst(quotas) : quotas), isTold: false });
    if (row?.list || quotas) this.ports.wakeAt(clock.now());
  }

  /** The object's alarm: continues the deletion. Never rejects. */
  alarm(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** A cluster that is older than records gets its record at the first look. Rejects with DIRECTORY_SILENT while the directory does not answer. */
  async #learn(): Promise<void> {
    const { storage, clock } = this.ports;
    if (storage.load()) return;
    const asked = this.ports.isInDirectory(clusterId(this.name, 1));
    const entered = await withTimeout(clock, DIRECTORY_TIMEOUT_MS, asked).catch(silent);
    if (entered && !storage.load()) storage.save({ name: this.name, life: 1, phase: "active", createdAt: clock.now(), deletedAt: 0 });
  }

  /** A new cluster with ranges or quotas of its own has begun when this resolves. Rejects while its objects do not know them. */
  async #found(): Promise<void> {
    // Another life may have begun while the objects of one were told.
    while (this.#isBeginning()) {
      this.#founding ??= this.#foundOnce().finally(() => (this.#founding = undefined));
      await this.#founding;
    }
  }

  async #foundOnce(): Promise<void> {
    const { storage } = this.ports;
    const row = storage.load();
    const id = row && clusterId(this.name, row.life);
    const beginning = this.#unfounded();
    const quotas = this.#firstQuotas();
    if (id === undefined) return;
    if (beginning) await this.#foundWith(beginning);
    if (quotas && !(await this.#tellQuotas(id, quotas))) silent("the store of Namespaces");
    const now = storage.load();
    if (now?.phase === "active" && clusterId(this.name, now.life) === id && !this.#isBeginning()) this.ports.noteBusy(id);
  }

  #isBeginning(): boolean {
    return (this.#unfounded() ?? this.#firstQuotas()) !== undefined;
  }

  /** The quotas with which the cluster that is there begins, while the store of Namespaces may not know of them. */
  #firstQuotas(): QuotasRow | undefined {
    const quotas = this.#untoldQuotas();
    return quotas?.isFirst && this.ports.storage.load()?.phase === "active" ? quotas : undefined;
  }

  async #foundWith({ id, serviceRanges }: BeginningRow): Promise<void> {
    const begun = await withTimeout(this.ports.clock, TELL_TIMEOUT_MS, this.ports.beginWith(id, serviceRanges)).catch(silent);
    const still = this.#unfounded();
    if (still?.id !== id) return;
    // Objects of the release before may have begun with the variable's ranges. That stays: then the cluster has none of its own.
    if (!begun) this.ports.recorder.log("error", "a cluster has begun with other ranges than it was to have", { id });
    this.#saveBeginning(begun ? { ...still, isTold: true } : { id: "", serviceRanges: [], isTold: true });
  }

  /** The beginning of the cluster that is there, while its objects may not know of it. */
  #unfounded(): BeginningRow | undefined {
    const beginning = this.#beginningOf(this.ports.storage.load());
    return beginning?.isTold === false ? beginning : undefined;
  }

  /** undefined = the cluster of the row has no ranges of its own, or is not there. */
  #beginningOf(row: RecordRow | undefined): BeginningRow | undefined {
    this.#beginning ??= this.ports.storage.beginningLoad() ?? null;
    return row?.phase === "active" && this.#beginning?.id === clusterId(this.name, row.life) ? this.#beginning : undefined;
  }

  #saveBeginning(row: BeginningRow): void {
    // Lost with a transaction that throws.
    this.#beginning = undefined;
    this.ports.storage.beginningSave(row);
  }

  /** Calls that come meanwhile share the stamp. Rejects with DIRECTORY_SILENT while the list of all clusters does not answer. */
  async #enlist(): Promise<void> {
    const { storage, clock } = this.ports;
    if (storage.stamp() !== undefined) return;
    const enlist = async (): Promise<void> => {
      const stamp = this.ports.newStamp();
      await withTimeout(clock, DIRECTORY_TIMEOUT_MS, this.ports.enlist(stamp)).catch(silent);
      storage.noteStamp(stamp);
    };
    await (this.#enlisting ??= enlist().finally(() => (this.#enlisting = undefined)));
  }

  /**
   * A reader has seen an entry of this stamp. He may be late, and the entry that of an earlier life: its stamp counts only if the list has it still, and not
   * this record's own one. The two differ where this record, or the list, was brought back in time.
   */
  async #tellListBehind(stamp: string): Promise<void> {
    const { storage } = this.ports;
    const own = storage.stamp();
    if (own !== undefined && (await this.#tellList(own)) !== false) return;
    const id = this.#facts()?.id;
    const isTaken = await this.#tellList(stamp);
    // Another life, or another stamp, may have come meanwhile.
    if (isTaken && this.#facts()?.id === id && storage.stamp() === own) storage.noteStamp(stamp);
  }

  /** The request that makes a cluster and the controller of Clusters open it at once: the same word goes once. */
  async #tellListTogether(): Promise<void> {
    const facts = this.#facts();
    const word = `${this.ports.storage.stamp() ?? ""} ${facts ? markOf(facts) : ""}`;
    if (this.#lastWord?.word !== word) {
      const told = this.#tellList().finally(() => {
        if (this.#lastWord?.told === told) this.#lastWord = undefined;
      });
      this.#lastWord = { word, told };
    }
    await this.#lastWord.told;
  }

  /**
   * Saves isolates the question to this record, and readers of the list. What is not told, or late, costs a question: the objects of another life refuse
   * every call. A crash before the note: it is told again.
   *
   * @returns whether the list has it under this stamp; undefined = it does not answer
   */
  async #tellList(stamp = this.ports.storage.stamp() ?? ""): Promise<boolean | undefined> {
    const { storage } = this.ports;
    const facts = this.#facts();
    if (!facts || markOf(facts) === storage.notedLife()) return true;
    const isTaken = await this.#answered(this.ports.noteLife(facts.deletedAt === 0 ? facts.id : null, { stamp, facts }));
    const now = this.#facts();
    if (!isTaken || !now) return isTaken;
    if (markOf(now) === markOf(facts)) {
      storage.noteLife(markOf(facts));
      return true;
    }
    // The release before takes the word that comes last.
    storage.noteLife("");
    return this.#tellList(stamp);
  }

  /** What the list of all clusters is to show; undefined = nothing. */
  #facts(): ClusterFacts | undefined {
    const row = this.ports.storage.load();
    if (!row || row.phase === "absent" || this.#isBeginning()) return undefined;
    return { id: clusterId(this.name, row.life), createdAt: row.createdAt, deletedAt: row.phase === "deleting" ? row.deletedAt : 0 };
  }

  /** undefined = the list of clusters does not answer. */
  async #answered<T>(call: Promise<T>): Promise<T | undefined> {
    const { clock, recorder } = this.ports;
    try {
      return await withTimeout(clock, DIRECTORY_TIMEOUT_MS, call);
    } catch (error) {
      recorder.log("warn", "the list of clusters does not answer", { cluster: this.name, error: String(error) });
      return undefined;
    }
  }

  #stateOf(row: RecordRow | undefined): ClusterState {
    if (!row || row.phase === "absent") return { phase: "absent" };
    const { phase, createdAt, deletedAt } = row;
    const id = clusterId(this.name, row.life);
    if (phase === "active") {
      const controllers = this.ports.storage.controllersLoad()?.list ?? null;
      const { serviceRanges } = this.#beginningOf(row) ?? {};
      const quotas = this.ports.storage.quotasLoad()?.hard;
      const more = { ...(serviceRanges && { serviceRanges }), ...(quotas && { quotas }) };
      const isTold = !this.#untold() && !this.#untoldQuotas();
      return { phase, id, createdAt, controllers, ...more, ...(!isTold && { isTold: false as const }) };
    }
    return { phase, id, createdAt, deletedAt, ...this.ports.storage.objectCounts() };
  }

  async #run(): Promise<void> {
    const { storage, clock, recorder } = this.ports;
    if (this.#isBeginning() && !(await this.#foundLater())) return;
    const row = storage.load();
    const untold = this.#untold();
    const quotas = this.#untoldQuotas();
    if (row?.phase === "active" && quotas && !(await this.#tellQuotas(clusterId(this.name, row.life), quotas))) {
      this.ports.wakeAt(clock.now() + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempt++));
      return;
    }
    if (row?.phase === "active" && untold) return this.#tellAgain(clusterId(this.name, row.life), untold);
    if (row?.phase !== "deleting") return;
    const id = clusterId(this.name, row.life);
    let failures = 0;
    try {
      // A later release, which goes on with the deletion, may have objects that the release before did not know.
      storage.objectsAdd(this.ports.objects());
      await this.#tellList();
      failures = await this.#wipeSome(id);
      if (failures === 0 && storage.objectsLeft(1).length === 0) {
        await withTimeout(clock, DIRECTORY_TIMEOUT_MS, this.ports.forget(id));
        await withTimeout(clock, DIRECTORY_TIMEOUT_MS, this.ports.unlist(storage.stamp() ?? ""));
        storage.transaction(() => {
          storage.objectsClear();
          storage.noteStamp(undefined);
          storage.noteLife("");
          const controllers = storage.controllersLoad();
          if (controllers) storage.controllersSave({ version: controllers.version + 1, list: null, isTold: true });
          const quotas = storage.quotasLoad();
          if (quotas) storage.quotasSave({ version: quotas.version + 1, hard: null, isTold: true });
          storage.save({ ...row, life: row.life + 1, phase: "absent", createdAt: 0, deletedAt: 0 });
        });
        recorder.log("info", "cluster deleted", { id });
        this.#attempt = 0;
        return;
      }
    } catch (error) {
      failures++;
      recorder.log("warn", "deletion of a cluster failed", { id, error: String(error) });
    }
    if (failures === 0) this.#attempt = 0;
    const delayMs = failures > 0 ? Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempt++) : 0;
    this.ports.wakeAt(clock.now() + delayMs);
    if (failures > 0) this.ports.noteBusy(id);
  }

  /** Whether the cluster has begun; if not, the alarm tries again. */
  async #foundLater(): Promise<boolean> {
    const { clock, recorder } = this.ports;
    try {
      await this.#found();
      await this.#tellListTogether();
      this.#attempt = 0;
      return true;
    } catch (error) {
      recorder.log("warn", "a cluster could not begin with what it is to have", { cluster: this.name, error: String(error) });
      this.ports.wakeAt(clock.now() + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempt++));
      return false;
    }
  }

  /** The setting of which some object may not have heard. An object that a later release brought needs to hear of a list alone. */
  #untold(): ControllersRow | undefined {
    const row = this.ports.storage.controllersLoad();
    const isTold = row?.isTold !== false && (!row?.list || row.told?.join() === this.#names().join());
    return isTold ? undefined : row;
  }

  #names(): string[] {
    return this.ports.objects().map(({ kind, name }) => `${kind}/${name}`);
  }

  async #tellAgain(id: string, row: ControllersRow): Promise<void> {
    if (await this.#tell(id, row)) this.#attempt = 0;
    else this.ports.wakeAt(this.ports.clock.now() + Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempt++));
  }

  /** Tells every object, then cron, one setting after the other. Whether all have heard; each that has not was logged. */
  #tell(id: string, row: ControllersRow): Promise<boolean> {
    const run = this.#telling.then(() => this.#tellAll(id, row));
    this.#telling = run.catch(() => undefined);
    return run;
  }

  /** Stops where a later setting, or the end of the cluster, has come. */
  async #tellAll(id: string, row: ControllersRow): Promise<boolean> {
    const { storage, clock, recorder } = this.ports;
    const isLast = (): boolean => storage.controllersLoad()?.version === row.version && storage.load()?.phase === "active";
    const setting = { version: row.version, list: row.list };
    const told = async (what: string, call: Promise<void>): Promise<boolean> => {
      try {
        await withTimeout(clock, TELL_TIMEOUT_MS, call);
        return true;
      } catch (error) {
        recorder.log("warn", "an object has not heard of its controllers", { id, object: what, error: String(error) });
        return false;
      }
    };
    let isTold = true;
    const objects = this.ports.objects();
    const names = this.#names();
    for (const stage of [objects.filter(({ kind }) => kind === "store"), objects.filter(({ kind }) => kind === "controller")]) {
      await inParallel(stage, CALLED_TOGETHER, async (object) => {
        if (!isLast() || !(await told(object.name, this.ports.tell(id, object, setting)))) isTold = false;
      });
    }
    isTold &&= isLast() && (await told("directory", this.#note(id, row))) && isLast();
    // A call that joined may have brought a later source.
    if (isTold) storage.controllersSave({ ...row, source: storage.controllersLoad()?.source, isTold, told: names });
    return isTold;
  }

  /** A call that outlives its timeout may write over what a later setting wrote. Then that is told again. */
  #note(id: string, { version, list }: ControllersRow): Promise<void> {
    const { storage, clock } = this.ports;
    const settled = (): void => {
      const last = storage.controllersLoad();
      if (!last?.isTold || last.version === version || storage.load()?.phase !== "active") return;
      storage.controllersSave({ ...last, isTold: false });
      this.ports.wakeAt(clock.now());
    };
    const call = this.ports.noteControllers(id, list);
    void call.then(settled, settled);
    return call;
  }

  /** Wipes the objects in their order, a few at a time. A failure stops no other object. Answers the number of failures. */
  async #wipeSome(id: string): Promise<number> {
    const { storage, recorder } = this.ports;
    let failures = 0;
    await inParallel(storage.objectsLeft(WIPED_PER_RUN), CALLED_TOGETHER, async (object) => {
      try {
        await this.#wipeOne(id, object);
        storage.objectWiped(object);
      } catch (error) {
        failures++;
        recorder.log("warn", "an object could not be wiped", { id, kind: object.kind, name: object.name, error: String(error) });
      }
    });
    return failures;
  }

  async #wipeOne(id: string, object: ClusterObject): Promise<void> {
    const { storage, clock } = this.ports;
    for (let listing = 0; listing < LISTINGS_MAX; listing++) {
      let unlisted: string[];
      try {
        unlisted = await withTimeout(clock, WIPE_TIMEOUT_MS, this.ports.wipe(id, object, storage.objectsNamed("owner")));
      } catch (error) {
        if (String(error).includes(CLUSTER_GONE)) return;
        throw error;
      }
      // Durable before the next question to the only object that knows them.
      storage.objectsAdd(unlisted.map((name): ClusterObject => ({ kind: "owner", name })));
    }
    throw new Error("its owners of addresses keep growing in number");
  }
}

/** What is noted of facts that were told. Of a cluster that is active: its id, as the release before notes it. */
function markOf({ id, deletedAt }: ClusterFacts): string {
  return deletedAt === 0 ? id : `-${id}`;
}

/** The quotas of a cluster that has begun: what is told again later holds up nobody who looks. */
function withoutFirst({ isFirst: _, ...row }: QuotasRow): QuotasRow {
  return row;
}

/** Whether the object of the first source was made before that of the other one. A name has one object at a time, so it has ended. */
function isOfOlder({ uid, createdAt }: ClusterSource, other: ClusterSource | undefined): boolean {
  if (uid === undefined || other?.uid === undefined || uid === other.uid) return false;
  return createdAt !== undefined && other.createdAt !== undefined && createdAt < other.createdAt;
}

function silent(error: unknown): never {
  throw new Error(`${DIRECTORY_SILENT}: ${String(error)}`, { cause: error });
}
