/**
 * The Coordinator of one cluster: who writes which addresses, and what may be given out now.
 *
 * Its rows say what is: objects, claims, the configuration of each owner with its epoch. Every change of them ends in `advance`, in the same
 * transaction, which gives the next epoch its complete configuration. `kick` compares the rows with what the others have confirmed and starts
 * a job for each difference; a finished job kicks again. There is no other state, so a crash at any await is answered by planning anew, and
 * every job may run twice.
 *
 *     write -> store -> intents (claims, fences) -> advance -> kick -> plan -> jobs: configure, seed, show ready, release, hand over, drop
 *                                                      ^                               |
 *                                                      +---------- mutate -------------+
 *
 * Calls go to owners and the ipaddresses store only, never upward (PROTOCOL rule 18); topology reads never wait for a job.
 */
import { Batcher } from "../../core/base/batch";
import { EarliestAlarm } from "../../core/base/earliest-alarm";
import { HANDOFF_ROWS_MAX } from "../../core/base/limits";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import type { CoordinatorRpc, Topology } from "../rpc/coordinator";
import type { OwnerContent } from "../topology/owner-content";
import type { EventRecorder, EventReport } from "../../api/events/event-recorder";
import { advance } from "./advance";
import { alignConfiguredRow } from "./configured-ranges";
import { configureOwner } from "./configuring";
import type { JobContext } from "./context";
import type { CidrRow, CoordinatorStorage } from "./coordinator-storage";
import { createFailedReport, defaultRangeReport, defaultReadyFailedReport, upgraded, upgradeFailedReport } from "./default-range";
import { releaseObject } from "./deletion";
import { copyRows, handOver, lookTimes } from "./handing-over";
import { FreeHints } from "./free-hints";
import { ServiceCIDRIntents } from "./intents";
import { JobRunner, type JobOutcome } from "./job-runner";
import { actionKey, planActions, type Action } from "./plan";
import type { AlarmPort, CoordinatorPeers, ServiceCIDRObjects } from "./coordinator-ports";
import { SeedListing } from "./seed-listing";
import { seedOwner } from "./seeding";
import {
  addFinalizer,
  DEFAULT_SERVICE_CIDR,
  defaultServiceCIDR,
  delayed,
  READY,
  readyFailedReport,
  withReadyCondition,
} from "./service-cidr-object";
import type { CoordinatorSettings } from "./settings";
import { MirroredStorage } from "./mirrored-storage";
import { trimClaims } from "./trimming";
import { type View, viewOf } from "./view";

/** While jobs run, the alarm stands this far ahead: it finds what a crash interrupts. */
const CRASH_ALARM_MS = 10_000;
/** After a write, until its first job runs. */
const WAKE_ALARM_MS = 1_000;
/** How long the first request waits for the default ServiceCIDR to be created, and `maintain` and the alarm for running jobs. */
const BOOTSTRAP_WAIT_MS = 5_000;
const JOBS_WAIT_MS = 20_000;
/** A problem that lasts is told again within the hour that an event lives. */
const TELL_AGAIN_MS = 30 * 60_000;

export interface CoordinatorPorts {
  storage: CoordinatorStorage;
  objects: ServiceCIDRObjects;
  peers: CoordinatorPeers;
  alarm: AlarmPort;
  clock: Clock;
  random: Random;
  recorder: Recorder;
  /** what is told of the default ServiceCIDR */
  events: Pick<EventRecorder, "report">;
  /** what is told of any other */
  rangeEvents: Pick<EventRecorder, "report">;
  /** addresses that a hand-off freezes at once; HANDOFF_ROWS_MAX unless a test wants many small lots */
  handoffRowsMax?: number;
}

export class Coordinator implements CoordinatorRpc {
  /** to be plugged into the `servicecidrs` store of the same object */
  readonly intents: ServiceCIDRIntents;
  readonly #ports: CoordinatorPorts;
  readonly #settings: CoordinatorSettings;
  readonly #jobs: JobRunner;
  readonly #together: Batcher<() => void, undefined>;
  readonly #hints: FreeHints;
  readonly #listing: SeedListing;
  readonly #observers = new Set<() => void>();
  readonly #alarm: EarliestAlarm;
  #kicksSoon = false;
  /** what was reported of ServiceCIDRs in the last time, and when */
  readonly #told = new Map<string, number>();

  constructor(ports: CoordinatorPorts, settings: CoordinatorSettings) {
    const storage = new MirroredStorage(ports.storage);
    this.#ports = { ...ports, storage };
    this.#settings = settings;
    this.#alarm = new EarliestAlarm(ports.clock, (atMs) => ports.alarm.arm(atMs));
    this.#jobs = new JobRunner(ports, () => this.#kickSoon());
    this.#together = new Batcher({
      clock: ports.clock,
      apply: (works) => {
        this.#mutate(() => works.forEach((work) => work()));
        return works.map(() => undefined);
      },
      refuse: () => undefined,
      // What is in memory of the rows forgets itself with their transaction.
      onFailure: () => undefined,
      queueWeightMax: Infinity,
    });
    this.#hints = new FreeHints(ports.clock, ports.peers, (uid, epoch) => this.#compareEpoch(uid, epoch));
    this.#listing = new SeedListing({ clock: ports.clock, peers: ports.peers, view: () => this.#view() });
    this.intents = new ServiceCIDRIntents({
      storage,
      clock: ports.clock,
      view: () => this.#view(),
      mutate: (work) => this.#mutate(work),
      kick: () => this.kick(),
      wakeSoon: () => this.#alarm.byWithTransaction(ports.clock.now() + WAKE_ALARM_MS),
      until: (predicate, timeoutMs) => this.#until(predicate, timeoutMs),
    });
  }

  async topology(): Promise<Topology> {
    await this.bootstrapped();
    return this.#topologyNow();
  }

  async countedTopology(): Promise<Topology> {
    await this.bootstrapped();
    const { owners } = this.#topologyNow();
    const answers = await this.#hints.ask(owners.map(({ uid }) => uid));
    const view = this.#view();
    const counted = answers.filter(({ epoch, free }) => {
      const row = view.owners.get(free.ownerUid);
      return row?.epoch === epoch && (JSON.parse(row.content) as OwnerContent).frozen.length === 0;
    });
    return { ...this.#topologyNow(), free: counted.map(({ free }) => free) };
  }

  async readyTopology(waitMs: number): Promise<Topology> {
    await this.bootstrapped();
    await this.#until(() => !this.#isDefaultComing(), waitMs);
    return this.#topologyNow();
  }

  /** Looks at everything now, whatever its delay, and waits for it a while. */
  async maintain(): Promise<void> {
    this.#jobs.hurry();
    this.kick();
    await this.#until(() => this.#jobs.running === 0, JOBS_WAIT_MS);
  }

  /** The object's alarm: never rejects, and leaves an alarm behind as long as there is something to do (PROTOCOL rule 19). */
  async alarm(): Promise<void> {
    this.#alarm.rang();
    this.kick();
    try {
      await this.#until(() => this.#jobs.running === 0, JOBS_WAIT_MS);
    } finally {
      this.#guarded(() => this.#arm());
    }
  }

  /**
   * Resolves when the default ServiceCIDR object exists, or what counts in its place; the first request of a cluster makes it, repeats are
   * no-ops.
   */
  async bootstrapped(): Promise<void> {
    if (this.#default()) return;
    this.kick();
    await this.#until(() => this.#default() !== undefined, BOOTSTRAP_WAIT_MS);
  }

  /** Starts what there is to do and is due. Cheap and harmless when there is nothing. */
  kick(): void {
    this.#guarded(() => {
      const { storage, clock, random } = this.#ports;
      const view = storage.transaction(() => {
        alignConfiguredRow(storage, this.#settings.onlyRanges, () => random.uuid());
        return advance(storage, this.#settings, clock.now());
      });
      const actions = planActions(view, this.#settings.defaultRanges, clock.now());
      const planned = new Map(actions.map((action) => [actionKey(action), action]));
      this.#jobs.retain(new Set(planned.keys()));
      for (const [key, action] of planned) this.#jobs.offer(key, () => this.#perform(action));
      this.#arm();
    });
    this.#guarded(() => this.#tellOfDefault());
    for (const observer of [...this.#observers]) this.#guarded(observer);
  }

  /** The same once for all jobs that end in one turn. */
  #kickSoon(): void {
    if (this.#kicksSoon) return;
    this.#kicksSoon = true;
    void this.#ports.clock.nextTurn().then(() => {
      this.#kicksSoon = false;
      this.kick();
    });
  }

  /** For work that nobody waits for: a failure is logged, and the next alarm, request or cron tries again. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#ports.recorder.log("error", "coordinator.failed", { error: String(error) });
    }
  }

  async #perform(action: Action): Promise<JobOutcome> {
    const context = this.#context();
    switch (action.kind) {
      case "bootstrap":
        return this.#createDefault();
      case "extendDefault":
        return this.#extendDefault(action.cidr);
      case "configure":
        this.#hints.forget(action.uid);
        return configureOwner(context, action);
      case "seed":
        return seedOwner(context, action.uid);
      case "addFinalizer":
        return this.#edit(action.cidr, (object) => {
          const after = { ...object };
          addFinalizer(after);
          return after;
        });
      case "showReady":
        return this.#showReady(action.cidr);
      case "handOver":
        return handOver(context, action.uid, () => context.view().isLeaving(action.uid));
      case "showDelayed":
        return this.#edit(action.cidr, (object) => {
          const waitsFor = this.#view().awaited(action.cidr.uid, context.clock.now());
          return waitsFor.length > 0 ? withReadyCondition(object, delayed(waitsFor), context.clock.now()) : undefined;
        });
      case "copyRows":
        return copyRows(context, action);
      case "release":
        return releaseObject(context, action.cidr);
      case "dropClaims":
        return trimClaims(context, action.uid);
    }
  }

  async #edit(cidr: CidrRow, mutate: Parameters<ServiceCIDRObjects["updateInternal"]>[2]): Promise<JobOutcome> {
    const changed = await this.#ports.objects.updateInternal({ namespace: "", name: cidr.name }, cidr.uid, mutate);
    return changed ? "done" : "failed";
  }

  async #showReady(cidr: CidrRow): Promise<JobOutcome> {
    const { clock, objects, rangeEvents } = this.#ports;
    try {
      return await this.#edit(cidr, (object) => (this.#isReady(cidr) ? withReadyCondition(object, READY, clock.now()) : undefined));
    } catch (error) {
      const object = objects.read(cidr.name);
      if (object && cidr.name === DEFAULT_SERVICE_CIDR) this.#tell(defaultReadyFailedReport(object));
      else if (object) this.#tell(readyFailedReport(object), rangeEvents);
      throw error;
    }
  }

  #context(): JobContext {
    const { storage, objects, peers, clock, recorder, rangeEvents, handoffRowsMax = HANDOFF_ROWS_MAX } = this.#ports;
    return {
      storage,
      objects,
      peers,
      clock,
      recorder,
      events: rangeEvents,
      listing: this.#listing,
      handoffRowsMax,
      doubt: (ownerUid) => this.#doubt(ownerUid),
      view: () => this.#view(),
      mutate: (work) => this.#mutate(work),
      mutateTogether: (work) => this.#together.submit(work),
    };
  }

  #mutate(work: () => void): void {
    const { storage, clock } = this.#ports;
    storage.transaction(() => {
      work();
      advance(storage, this.#settings, clock.now());
    });
  }

  async #createDefault(): Promise<JobOutcome> {
    try {
      return (await this.#ports.objects.createInternal(defaultServiceCIDR(this.#settings.defaultRanges))) ? "done" : "failed";
    } catch (error) {
      this.#tell(createFailedReport());
      throw error;
    }
  }

  async #extendDefault(cidr: CidrRow): Promise<JobOutcome> {
    const { defaultRanges } = this.#settings;
    const before = this.#ports.objects.read(cidr.name);
    try {
      return await this.#edit(cidr, (object) => upgraded(object, defaultRanges));
    } catch (error) {
      if (before) this.#tell(upgradeFailedReport(before, defaultRanges, String(error)));
      throw error;
    }
  }

  /** Once per life of this object and again from time to time, as long as the object and the configuration do not agree. */
  #tellOfDefault(): void {
    const object = this.#settings.onlyRanges ? undefined : this.#ports.objects.read(DEFAULT_SERVICE_CIDR);
    const report = object && defaultRangeReport(object, this.#settings.defaultRanges);
    if (report) this.#tell(report);
  }

  #tell(report: EventReport, events = this.#ports.events): void {
    const now = this.#ports.clock.now();
    for (const [told, at] of this.#told) if (now - at >= TELL_AGAIN_MS) this.#told.delete(told);
    const note = `${report.regarding.uid ?? ""} ${report.note}`;
    if (this.#told.has(note)) return;
    this.#told.set(note, now);
    events.report(report);
  }

  #view(): View {
    return viewOf(this.#ports.storage.load(), this.#settings);
  }

  #topologyNow(): Topology {
    const view = this.#view();
    const owners = [...new Set(view.claims.map((claim) => claim.ownerUid))];
    this.#hints.renew(owners);
    return {
      epoch: view.epoch,
      claims: view.claims.map(({ prefix, ownerUid }) => ({ prefix, ownerUid })),
      ranges: view.ranges
        .filter((range) => view.isCover(range))
        .map(({ prefix, uid }) => ({ prefix, name: view.cidrs.get(uid)?.name ?? "" })),
      ...(this.#settings.staticBands ? {} : { withoutBands: true }),
      owners: owners.flatMap((uid) => view.owners.get(uid) ?? []).map(({ uid, epoch }) => ({ uid, epoch })),
      free: this.#hints.of(owners),
    };
  }

  /**
   * An owner that has another configuration than it confirmed is told again: the rows here, or its own, are of another time (restored from a
   * backup), and what follows is decided by its answer. Of an answer that the last confirmation has overtaken nothing but a repeat follows.
   */
  #compareEpoch(ownerUid: string, epoch: number): void {
    if (this.#view().owners.get(ownerUid)?.epoch === epoch) return;
    this.#doubt(ownerUid);
    this.#kickSoon();
  }

  #doubt(ownerUid: string): void {
    const row = this.#view().owners.get(ownerUid);
    if (!row || row.ackedEpoch !== row.epoch) return;
    this.#ports.recorder.log("warn", "coordinator.owner-differs", { owner: ownerUid, epoch: row.epoch });
    this.#mutate(() => this.#ports.storage.ownerSave({ ...row, ackedEpoch: 0 }));
  }

  /** The row of the default ServiceCIDR, or of the configured ranges where they alone count. */
  #default(): CidrRow | undefined {
    const name = this.#settings.onlyRanges ? "" : DEFAULT_SERVICE_CIDR;
    return this.#ports.storage.load().cidrs.find((row) => row.name === name);
  }

  /** It does not give out addresses yet, and will by itself. */
  #isDefaultComing(): boolean {
    const row = this.#default();
    return !row || (!row.deleting && !row.suspended && row.fencedUntil === 0 && !this.#isReady(row));
  }

  #isReady(cidr: CidrRow): boolean {
    return this.#view()
      .rangesOf(cidr.uid)
      .every((range) => range.ready);
  }

  async #until(predicate: () => boolean, timeoutMs: number): Promise<boolean> {
    if (predicate()) return true;
    return new Promise((resolve) => {
      const end = (result: boolean): void => {
        this.#observers.delete(observer);
        cancel();
        resolve(result);
      };
      const observer = (): void => {
        if (predicate()) end(true);
      };
      const cancel = this.#ports.clock.after(timeoutMs, () => end(false));
      this.#observers.add(observer);
    });
  }

  /** Asks for the alarm at the next time that something is due. */
  #arm(): void {
    const now = this.#ports.clock.now();
    const { cidrs, owners, handoffs } = this.#ports.storage.load();
    const times = cidrs.flatMap((cidr) => (cidr.fencedUntil > 0 ? [cidr.fencedUntil] : []));
    times.push(...owners.flatMap((owner) => (owner.closedUntil > 0 ? [owner.closedUntil] : [])));
    times.push(...handoffs.flatMap(lookTimes).filter((at) => at > now));
    const due = this.#jobs.nextDue();
    if (due !== undefined) times.push(due);
    if (this.#jobs.running > 0) times.push(now + CRASH_ALARM_MS);
    if (times.length > 0) this.#alarm.by(Math.max(Math.min(...times), now + 1));
  }
}
