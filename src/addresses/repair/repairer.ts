/**
 * The repair controller brings Services, IPAddresses and owners' rows together again wherever a crash, a forced deletion or a bug has parted
 * them (I2). It proposes, the stores dispose (rules 5–8, 13): what it has read may be old by the time it acts.
 *
 * A pass reads
 * - the changes since its cursors (sweep.ts),
 * - suspects of earlier passes: IPAddresses too young to be judged, addresses that were under way (look-again.ts),
 * - at most once a minute, when cron or its alarm asks, a portion of everything (sweep.ts),
 *
 * looks up their counterparts (lookup.ts), judges them (rules.ts) and proposes (service-effects.ts, address-effects.ts). A healthy cluster is
 * only read; nothing is written but the cursors, once in a pass, if they moved. Rows are compared in the order of addresses, in which neighbours
 * have the same owner. A full sweep ends with every owner's bitmap (owner-check.ts). Every three minutes a sweep compares node ports with their
 * rows, too (node-port-check.ts). On the way it tells of load balancers that nobody serves (unserved-load-balancers.ts).
 *
 * It runs in the frame of all controllers: cursors and suspects are saved after the proposals, so what they cover is looked at again.
 */
import { leastOf } from "../../core/base/extremes";
import { GENTLE_TURNS, URGENT_TURNS } from "../../core/base/loop-turns";
import { Pace, REST_GENTLY, REST_URGENTLY } from "../../core/base/pause";
import type { PassResult } from "../../controllers/frame/controller";
import { Frame } from "../../controllers/frame/frame";
import type { Round as FrameRound } from "../../controllers/frame/round";
import { AddressEffects } from "./address-effects";
import { LOOK_AGAIN_MS } from "./look-again";
import { isLeakId } from "./leak-sights";
import { Lookup, PAGE } from "./lookup";
import { NodePortCheck } from "./node-port-check";
import { OwnerCheck } from "./owner-check";
import type { RepairPorts } from "./repair-ports";
import { RepairReports } from "./repair-reports";
import { emptyRound, wantSuspect } from "./round";
import { ServiceEffects } from "./service-effects";
import { PORTION, STORES, Sweep } from "./sweep";
import { UnservedLoadBalancers } from "./unserved-load-balancers";

/** After this time the pass asks for another one. */
const PASS_BUDGET_MS = 10_000;
/** Suspects that are being looked at are due again after this time, should the pass not come to its end; longer than any grace. */
const SUSPECT_LEASE_MS = 10 * 60_000;

export class Repairer {
  readonly #owners: OwnerCheck;
  readonly #nodePorts: NodePortCheck;
  readonly #sweep: Sweep;
  readonly #lookup: Lookup;
  readonly #services: ServiceEffects;
  readonly #addresses: AddressEffects;
  readonly #unserved: UnservedLoadBalancers;
  readonly #frame: Frame;
  #sweeps = true;
  #hasFailed = false;

  constructor(private readonly ports: RepairPorts) {
    const reports = new RepairReports(ports);
    this.#lookup = new Lookup(ports, reports);
    this.#owners = new OwnerCheck({ ...ports, owners: () => this.#lookup.owners() });
    this.#nodePorts = new NodePortCheck(ports);
    this.#unserved = new UnservedLoadBalancers(ports);
    this.#sweep = new Sweep(ports, reports, this.#nodePorts, () => {
      this.#owners.restart();
      this.#unserved.lookAtAll();
    });
    this.#services = new ServiceEffects(ports, this.#lookup, reports);
    this.#addresses = new AddressEffects(ports, this.#lookup, reports);
    const { clock, events, nodePortEvents } = ports;
    this.#frame = new Frame(ports, {
      rows: { load: () => this.#sweep.load(), save: () => this.#save() },
      work: (round) => this.#pass(round),
      due: () => this.#nextAt(),
      // A pass that its budget cut goes on at once. Only a failure waits, longer each time.
      retryAt: () => (this.#hasFailed ? undefined : clock.now()),
      events: { flush: () => Promise.all([events.flush(), nodePortEvents.flush()]) },
      budgetMs: PASS_BUDGET_MS,
    });
  }

  /** One pass; with `sweeps`, the portion of everything too, if it is due. What is left goes on at once, unless something failed. */
  run({ sweeps = true } = {}): Promise<PassResult> {
    this.#sweeps = sweeps;
    this.#hasFailed = false;
    return this.#frame.run();
  }

  /** A disk that takes nothing is a failure: the next pass waits longer each time. */
  #save(): void {
    try {
      this.#sweep.saveMoved();
      this.#nodePorts.save();
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  async #pass(round: FrameRound): Promise<void> {
    try {
      if (await this.#rounds(round)) round.leave();
    } catch (error) {
      this.#hasFailed = true;
      this.ports.storage.count("", 1);
      throw error;
    }
  }

  /** Answers whether there is more to do now. */
  async #rounds(round: FrameRound): Promise<boolean> {
    const endAt = this.ports.clock.now() + PASS_BUDGET_MS;
    this.#nodePorts.load();
    this.#sweep.begin();
    this.#lookup.begin();
    const portionDue = this.#sweeps && this.#sweep.takePortion();
    const findsLeaks = this.#nodePorts.mayFindLeaks;
    const pace = this.#pace();
    let left = true;
    for (let portion = portionDue ? PORTION : 0; left && round.mayGoOn(); portion = Math.max(0, portion - PAGE)) {
      left = await this.#page(round, portion > 0, pace);
      left ||= portion > PAGE && this.#sweep.isUnderWay;
      if (left) await pace.rest();
    }
    if (!left && this.#sweep.isFull) left = await this.#checkEveryOwner(endAt, pace);
    // However much there is to do: the bitmaps must not wait for a cluster at rest. Behind a comparison of node ports they have the next pass.
    else if ((portionDue && !this.#nodePorts.isToGoOn) || findsLeaks) await this.#owners.run(false, endAt, pace);
    if (portionDue) this.#sweep.endPortion();
    return left;
  }

  /** Audits can wait for a pass. It cannot wait for them: the histories that it reads are kept for a while only. */
  #pace(): Pace {
    const { clock } = this.ports;
    if (this.#sweep.isAwaited) return new Pace(clock, REST_URGENTLY, URGENT_TURNS.loop(clock, { isFirst: true }));
    return new Pace(clock, REST_GENTLY, GENTLE_TURNS.loop(clock, { isFirst: true }));
  }

  /** When the next suspect or load balancer is due; undefined = none will be. */
  #nextAt(): number | undefined {
    const times = [this.ports.storage.suspectEarliest(), this.#unserved.nextAt].filter((at) => at !== undefined);
    return times.length > 0 ? leastOf(times) : undefined;
  }

  /** The last part of a full sweep. Answers whether there is more to do now. */
  async #checkEveryOwner(endAt: number, pace: Pace): Promise<boolean> {
    const through = await this.#owners.run(true, endAt, pace);
    if (through) this.#sweep.end();
    return !through || this.#sweep.isAsked;
  }

  /** One page of everything that there is to read. Answers whether there is more. */
  async #page(pass: FrameRound, portion: boolean, pace: Pace): Promise<boolean> {
    const { clock, storage } = this.ports;
    const round = emptyRound();
    const leaseUntil = clock.now() + SUSPECT_LEASE_MS;
    const suspects = storage.suspectsTake(clock.now(), PAGE, leaseUntil);
    try {
      for (const id of suspects) if (!isLeakId(id)) wantSuspect(round, id);
      const read = await Promise.all(STORES.map((what) => this.#sweep.fetch(what, portion)));
      for (const page of read) await this.#sweep.note(page, round, pace);
      this.#unserved.want(round);
      await this.#lookup.complete(round, pace);
      pass.noteRead(round.services.size + round.addresses.size);
      if (portion) await pace.rest();
      await this.#services.repair(round, await this.#lookup.rangesFor(round), pace, () => this.#nodePorts.comparison(round));
      await pace.breathe();
      await this.#addresses.repair(round, pace);
      await pace.breathe();
      await this.#nodePorts.compare(round);
      await pace.breathe();
      await this.#nodePorts.lookAgain(suspects);
      await this.#unserved.look(round);
      for (const page of read) this.#sweep.advance(page);
      if (read.some(({ what, isLast }) => what === "services" && isLast)) this.#nodePorts.ended();
      if (this.#sweep.isFull || this.#nodePorts.mayFindLeaks) await this.#nodePorts.findLeaks(pace);
      if (suspects.length > 0) storage.suspectsDone(leaseUntil);
      return suspects.length === PAGE || read.some(({ more }) => more);
    } catch (error) {
      for (const id of suspects) storage.suspectPut(id, clock.now() + LOOK_AGAIN_MS);
      throw error;
    }
  }
}
