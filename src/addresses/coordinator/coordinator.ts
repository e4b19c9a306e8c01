/**
 * The Coordinator of one cluster: who writes which addresses, and which addresses may be given out now.
 *
 * Its rows say what is: objects, claims, and the configuration of each owner with its epoch. Every change of the rows ends in `advance`, in the
 * same transaction, which gives the next epoch its complete configuration. `kick` compares the rows with what the others have confirmed (the
 * plan) and starts a job for each difference; a finished job kicks again. There is no other state. So planning anew answers a crash at any
 * await, and every job may run twice.
 *
 *     write -> store -> intents (claims, fences) -> advance -> kick -> job-plan -> job-runner -> jobs/*
 *                                                      ^                                           |
 *                                                      +------------------ mutate -----------------+
 *
 * Calls go to owners and the ipaddresses store only, never upward (rule 18); topology reads never wait for a job.
 */
import type { EventRecorder } from "../../api/events/event-recorder";
import { Batcher } from "../../core/turns/batch";
import { EarliestAlarm } from "../../core/base/earliest-alarm";
import { HANDOFF_ROWS_MAX } from "../rpc/limits";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import type { CoordinatorRpc, Topology } from "../rpc/topology";
import type { OwnerContent } from "../topology/owner-content";
import { advance } from "./advance";
import { alignConfiguredRow } from "./state/configured-ranges";
import type { AlarmPort, CoordinatorPeers, PoolsBeside, ServiceCIDRObjects } from "./coordinator-ports";
import type { CoordinatorSettings } from "./state/coordinator-settings";
import type { CidrRow, CoordinatorStorage } from "./state/coordinator-storage";
import { defaultRangeReport } from "./default-range";
import { doubtOwner } from "./doubt-owner";
import { nextLook } from "./state/due-times";
import { FreeHints } from "./free-hints";
import { ServiceCIDRIntents } from "./intents";
import type { JobContext } from "./job-context";
import { actionKey, planActions } from "./job-plan";
import { JobRunner } from "./job-runner";
import { MirroredStorage } from "./state/mirrored-storage";
import { performAction } from "./perform-action";
import { RangeReports } from "./range-reports";
import { SeedListing } from "./seed-listing";
import { DEFAULT_SERVICE_CIDR } from "./state/service-cidr-object";
import { topologyOf, writersOf } from "./state/topology-answer";
import { type TopologyView, viewOf } from "./state/topology-view";
import { Waiters } from "./waiters";

/** While jobs run, the alarm stands this far ahead: it finds what a crash interrupts. */
const CRASH_ALARM_MS = 10_000;
/** From a write to its alarm, which starts its jobs if a crash came between. */
const WAKE_ALARM_MS = 1_000;
/** How long the first request waits for the default ServiceCIDR to be created. */
const BOOTSTRAP_WAIT_MS = 5_000;
/** How long `maintain` and the alarm wait for running jobs. */
const JOBS_WAIT_MS = 20_000;

export interface CoordinatorPorts {
  storage: CoordinatorStorage;
  objects: ServiceCIDRObjects;
  peers: CoordinatorPeers;
  /** absent = the cluster has no pools */
  pools?: Pick<PoolsBeside, "met">;
  alarm: AlarmPort;
  clock: Clock;
  random: Random;
  recorder: Recorder;
  /** reports about the default ServiceCIDR */
  events: Pick<EventRecorder, "report">;
  /** reports about any other */
  rangeEvents: Pick<EventRecorder, "report">;
  /** addresses that a hand-off freezes at once; HANDOFF_ROWS_MAX unless a test wants many small lots */
  handoffRowsMax?: number;
}

export class Coordinator implements CoordinatorRpc {
  /** to be plugged into the `servicecidrs` store of the same object */
  readonly intents: ServiceCIDRIntents;
  readonly #ports: CoordinatorPorts;
  readonly #settings: CoordinatorSettings;
  readonly #context: JobContext;
  readonly #jobs: JobRunner;
  readonly #hints: FreeHints;
  readonly #waiters: Waiters;
  readonly #alarm: EarliestAlarm;
  #kicksSoon = false;

  constructor(ports: CoordinatorPorts, settings: CoordinatorSettings) {
    const storage = new MirroredStorage(ports.storage);
    const { clock, peers } = ports;
    const [view, mutate] = [() => this.#view(), (work: () => void) => this.#mutate(work)];
    this.#ports = { ...ports, storage };
    this.#settings = settings;
    this.#alarm = new EarliestAlarm(clock, (atMs) => ports.alarm.arm(atMs));
    this.#jobs = new JobRunner(ports, () => this.#kickSoon());
    this.#waiters = new Waiters(clock);
    this.#hints = new FreeHints(clock, peers, (uid, epoch) => this.#compareEpoch(uid, epoch));
    const together = new Batcher<() => void, undefined>({
      clock,
      apply: (works) => {
        this.#mutate(() => works.forEach((work) => work()));
        return works.map(() => undefined);
      },
      refuse: () => undefined,
      // MirroredStorage forgets its copy of the rows with their transaction.
      onFailure: () => undefined,
      queueWeightMax: Infinity,
    });
    this.#context = {
      settings,
      storage,
      objects: ports.objects,
      peers,
      ...(ports.pools && { pools: ports.pools }),
      clock,
      recorder: ports.recorder,
      reports: new RangeReports(ports),
      hints: this.#hints,
      listing: new SeedListing({ clock, peers, view }),
      handoffRowsMax: ports.handoffRowsMax ?? HANDOFF_ROWS_MAX,
      view,
      mutate,
      mutateTogether: (work) => together.submit(work),
    };
    this.intents = new ServiceCIDRIntents({
      storage,
      clock,
      view,
      mutate,
      kick: () => this.kick(),
      wakeSoon: () => this.#alarm.byWithTransaction(clock.now() + WAKE_ALARM_MS),
      until: (predicate, timeoutMs) => this.#waiters.until(predicate, timeoutMs),
    });
  }

  async topology(): Promise<Topology> {
    await this.bootstrapped();
    return this.#topologyNow();
  }

  async countedTopology(): Promise<Topology> {
    await this.bootstrapped();
    const answers = await this.#hints.ask(this.#topologyNow().owners.map(({ uid }) => uid));
    const view = this.#view();
    const counted = answers.filter(({ epoch, free }) => {
      const row = view.owners.get(free.ownerUid);
      return row?.epoch === epoch && (JSON.parse(row.content) as OwnerContent).frozen.length === 0;
    });
    return { ...this.#topologyNow(), free: counted.map(({ free }) => free) };
  }

  async readyTopology(waitMs: number): Promise<Topology> {
    await this.bootstrapped();
    await this.#waiters.until(() => !this.#isDefaultComing(), waitMs);
    return this.#topologyNow();
  }

  /** Starts every job now, whatever its delay, and waits for them a while. */
  async maintain(): Promise<void> {
    this.#jobs.hurry();
    this.kick();
    await this.#jobsDone();
  }

  /** The object's alarm: never rejects, and leaves an alarm behind as long as there is something to do (rule 19). */
  async alarm(): Promise<void> {
    this.#alarm.rang();
    this.kick();
    try {
      await this.#jobsDone();
    } finally {
      this.#guarded(() => this.#arm());
    }
  }

  /**
   * Resolves when the default ServiceCIDR exists, or the row of the configured ranges where only they count. The first request of a cluster
   * creates it; repeats are no-ops.
   */
  async bootstrapped(): Promise<void> {
    if (this.#default()) return;
    this.kick();
    await this.#waiters.until(() => this.#default() !== undefined, BOOTSTRAP_WAIT_MS);
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
      for (const [key, action] of planned) this.#jobs.offer(key, () => performAction(this.#context, action));
      this.#arm();
    });
    this.#guarded(() => this.#reportDefault());
    for (const look of this.#waiters.looks) this.#guarded(look);
  }

  /** Kicks once for all jobs that end in one turn. */
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
      this.#ports.recorder.log("error", "the Coordinator failed", { error: String(error) });
    }
  }

  #jobsDone(): Promise<boolean> {
    return this.#waiters.until(() => this.#jobs.running === 0, JOBS_WAIT_MS);
  }

  #mutate(work: () => void): void {
    const { storage, clock } = this.#ports;
    storage.transaction(() => {
      work();
      advance(storage, this.#settings, clock.now());
    });
  }

  #view(): TopologyView {
    return viewOf(this.#ports.storage.load(), this.#settings);
  }

  #topologyNow(): Topology {
    const view = this.#view();
    const owners = writersOf(view);
    this.#hints.renew(owners);
    return topologyOf(view, this.#settings, this.#hints.of(owners));
  }

  /** An owner answered under `epoch`: one that has another configuration than the rows say is told its configuration again. */
  #compareEpoch(ownerUid: string, epoch: number): void {
    if (this.#view().owners.get(ownerUid)?.epoch === epoch) return;
    doubtOwner(this.#context, ownerUid);
    this.#kickSoon();
  }

  /** Reports once per life of this object, and again from time to time, while the default ServiceCIDR and the configuration disagree. */
  #reportDefault(): void {
    const object = this.#settings.onlyRanges ? undefined : this.#ports.objects.read(DEFAULT_SERVICE_CIDR);
    const report = object && defaultRangeReport(object, this.#settings.defaultRanges);
    if (report) this.#context.reports.ofDefault(report);
  }

  /** The row of the default ServiceCIDR, or of the configured ranges where only they count. */
  #default(): CidrRow | undefined {
    const name = this.#settings.onlyRanges ? "" : DEFAULT_SERVICE_CIDR;
    return this.#ports.storage.load().cidrs.find((row) => row.name === name);
  }

  /** Whether the default ServiceCIDR gives out no addresses yet, and will without anybody's help. */
  #isDefaultComing(): boolean {
    const row = this.#default();
    return !row || (!row.deleting && !row.suspended && row.fencedUntil === 0 && !this.#view().isReady(row.uid));
  }

  /** Asks for the alarm at the next time that something is due. */
  #arm(): void {
    const now = this.#ports.clock.now();
    const crashLook = this.#jobs.running > 0 ? now + CRASH_ALARM_MS : Infinity;
    const at = Math.min(nextLook(this.#ports.storage.load(), now), this.#jobs.nextDue() ?? Infinity, crashLook);
    if (at < Infinity) this.#alarm.by(Math.max(at, now + 1));
  }
}
