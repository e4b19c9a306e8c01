/**
 * The repair controller: Services, IPAddresses and owners' rows are brought together again wherever a crash, a forced deletion or a bug
 * has parted them (I2). It proposes, the stores dispose (PROTOCOL rules 5–8, 13): what it has read may be old by the time it acts.
 *
 * A pass reads
 * - what changed since its cursors,
 * - what an earlier pass put off: IPAddresses too young to be judged, addresses that were under way,
 * - at most once a minute, asked by cron or its alarm, a slice of everything, so that what no change announces is found too,
 * judges it (rules.ts) and proposes. A healthy cluster is only read; nothing is written but the cursors, once in a pass, if they moved.
 *
 * A full sweep does not wait between its slices. It makes up for a history that was lost (rule 23) or never read, follows a change of the
 * configuration, and can be asked for. Rows are compared in the order of addresses, in which neighbours have the same owner.
 *
 * At a crash: cursors are saved after the proposals of what they cover, so it is looked at again; proposals may be repeated.
 */
import { Pace, REST_GENTLY, REST_URGENTLY } from "../../core/base/pause";
import { referenceTo } from "../../api/events/event-recorder";
import type { IPAddress, Service } from "../../api/meta/kubernetes";
import { keyOf } from "../../api/meta/object-key";
import type { Prefix } from "../../core/net/prefix";
import { ipAddressesDefinition } from "../../api/registry/ip-addresses/definition";
import { servicesDefinition } from "../../api/registry/services/definition";
import type { HeldAddress, RepairCounts, WholeResult, WrittenAddress } from "../rpc/repair";
import type { DeleteOptionsRequest, ObjectKey } from "../../api/rpc/store";
import type { PrefixIndex } from "../topology/prefix-index";
import { givesOut, rangeIndex } from "../topology/range-index";
import { isFamilyGone, legacyServiceEvent } from "./legacy-events";
import { OwnerCheck } from "./owner-check";
import { type Followed, type Progress, type RepairPorts, type RepairStorage, SLICED_MARK, SWEEP_MARK } from "./repair-ports";
import {
  addressId,
  emptyRound,
  noteAddressChange,
  noteServiceChange,
  noteSweptAddress,
  noteSweptService,
  parentKey,
  readIPAddress,
  readService,
  type Round,
  serviceId,
  wantParent,
  wantSuspect,
} from "./round";
import {
  type AddressFinding,
  addressEvent,
  type ClusterIP,
  clusterIPsOf,
  isHeldBy,
  judgeClusterIP,
  judgeIPAddress,
  readClusterIP,
  type ServiceFinding,
  serviceEvent,
} from "./rules";

/** Objects read by one call: its turn in the store stays far below 50 ms. */
const PAGE = 100;
/** Changes read by one call: most are of what is well, and they must not come faster than they are read. */
const CHANGES = 400;
/** Objects of one slice of the sweep, per store: 10,000 Services are swept in five minutes. */
const SLICE = 2_000;
const SLICE_INTERVAL_MS = 50_000;
/** After it the pass asks for another one. */
const PASS_BUDGET_MS = 10_000;
/** What could not be put right is looked at again after this time, then after twice as long, … and in the end each minute. */
const LOOK_AGAIN_MS = 1_000;
const LOOK_AGAIN_MAX_MS = 60_000;
/** Of what nobody can do anything about it is not told more often. */
const TELL_AGAIN_MS = 60_000;
/** While suspects are looked at they are due again after this time, should the pass not come to its end; longer than any grace. */
const SUSPECT_LEASE_MS = 10 * 60_000;
/** A full sweep is under way, since that time (milliseconds since the epoch). */
const SWEEPING_MARK = "sweeping";
/** Somebody waits for the full sweep. */
const AWAITED_MARK = "sweepAwaited";
/** Characters of a text that cannot be read which the log shows: its name, mostly. */
const UNREADABLE_SHOWN = 100;
/** Full sweeps that came to their end. */
const SWEEPS_MARK = "sweeps";

const NO_RANGES = rangeIndex([]);
const STORES: readonly Followed[] = ["services", "ipaddresses"];

interface Judged {
  service: Service;
  ip: ClusterIP;
  finding: ServiceFinding;
  item: HeldAddress;
}

/** A Service that somebody has to do something about, as far as is known. */
interface Doubt {
  service: Service;
  /** as clusterIPs has it */
  text: string;
  finding: Extract<ServiceFinding, "invalid" | "outOfRange" | "duplicate">;
}

interface WrongAddress {
  object: IPAddress;
  kind: Exclude<AddressFinding["kind"], "fine" | "young">;
}

export class Repairer {
  readonly #owners: OwnerCheck;
  /** while a pass runs: how far it has come, and what of that is not saved */
  readonly #progress = new Map<Followed, Progress>();
  readonly #moved = new Set<Followed>();
  #index: { ranges: readonly Prefix[]; index: PrefixIndex<Prefix> } | undefined;

  constructor(private readonly ports: RepairPorts) {
    this.#owners = new OwnerCheck(ports);
  }

  /**
   * One pass, with the slice of everything that may be due if it `sweeps`. `left`: there is more to do now. `againAt`: something is to be looked
   * at then (milliseconds since the epoch).
   */
  async run({ sweeps = true } = {}): Promise<{ left: boolean; againAt: number | undefined }> {
    const { clock, events, storage } = this.ports;
    const endAt = clock.now() + PASS_BUDGET_MS;
    let left = true;
    try {
      for (const what of STORES) this.#progress.set(what, storage.progressLoad(what));
      this.#beginSweep();
      const sliceDue = sweeps && this.#isSliceDue();
      if (sliceDue) storage.markSet(SLICED_MARK, clock.now());
      const pace = new Pace(clock, storage.markGet(AWAITED_MARK) === 0 ? REST_GENTLY : REST_URGENTLY);
      for (let slice = sliceDue ? SLICE : 0; left && clock.now() < endAt; slice = Math.max(0, slice - PAGE)) {
        left = await this.#round(slice > 0, pace);
        left ||= slice > PAGE && this.#isSweeping();
        if (left) await pace.rest();
      }
      if (!left && this.#isFullSweep()) left = await this.#checkEveryOwner(endAt, pace);
      // However much there is to do: the bitmaps must not wait for a cluster at rest.
      else if (sliceDue) await this.#owners.run(false, endAt, pace);
    } catch (error) {
      storage.count("", 1);
      throw error;
    } finally {
      for (const what of this.#moved) storage.progressSave(what, this.#progressOf(what));
      this.#moved.clear();
      await events.flush();
    }
    return { left, againAt: storage.suspectEarliest() };
  }

  /**
   * A sweep that was asked for, or that makes up for a history, begins with all there is. One that is under way comes to its end first: who asks
   * again and again does not keep it from that.
   */
  #beginSweep(): void {
    const { storage } = this.ports;
    if (this.#isFullSweep()) return;
    const asked = this.#isSweepAsked();
    if (!asked && !this.#isUrgent()) return;
    if (asked) {
      // Before anything else: a sweep that a crash ends begins with these.
      for (const what of STORES) {
        const progress = { ...this.#progressOf(what), sweptTo: "", urgent: true };
        this.#progress.set(what, progress);
        storage.progressSave(what, progress);
      }
      storage.markSet(AWAITED_MARK, 1);
      storage.markSet(SWEEP_MARK, 0);
    }
    this.#startFullSweep();
  }

  #startFullSweep(): void {
    const { clock, storage } = this.ports;
    storage.markSet(SWEEPING_MARK, clock.now());
    this.#owners.restart();
  }

  /** The end of a full sweep. Answers whether there is more to do now. */
  async #checkEveryOwner(endAt: number, pace: Pace): Promise<boolean> {
    const { clock, recorder, storage } = this.ports;
    const through = await this.#owners.run(true, endAt, pace);
    if (through) {
      recorder.log("info", "repair looked at everything", { durationMs: clock.now() - storage.markGet(SWEEPING_MARK) });
      storage.markSet(SWEEPING_MARK, 0);
      storage.markSet(AWAITED_MARK, 0);
      storage.markSet(SWEEPS_MARK, storage.markGet(SWEEPS_MARK) + 1);
    }
    return !through || this.#isSweepAsked();
  }

  /** One page of everything that there is to read; answers whether there is more. */
  async #round(slice: boolean, pace: Pace): Promise<boolean> {
    const { clock, storage } = this.ports;
    const round = emptyRound();
    const leaseUntil = clock.now() + SUSPECT_LEASE_MS;
    const suspects = storage.suspectsTake(clock.now(), PAGE, leaseUntil);
    try {
      for (const id of suspects) wantSuspect(round, id);
      const read = await Promise.all(STORES.map((what) => this.#read(what, round, slice)));
      await this.#lookUp(round);
      if (slice) await pace.rest();
      const ranges = await this.#rangesFor(round);
      await this.#repairServices(round, ranges);
      await this.#repairAddresses(round);
      for (const [i, what] of STORES.entries()) {
        const { progress, moved } = read[i] ?? {};
        if (progress && moved) this.#save(what, progress);
      }
      if (suspects.length > 0) storage.suspectsDone(leaseUntil);
      return suspects.length === PAGE || read.some(({ more }) => more);
    } catch (error) {
      for (const id of suspects) storage.suspectPut(id, clock.now() + LOOK_AGAIN_MS);
      throw error;
    }
  }

  /** Changes since the cursor, and a page of the sweep. A store that lost the history, or was never read, is swept at once. */
  async #read(what: Followed, round: Round, slice: boolean): Promise<{ progress: Progress; moved: boolean; more: boolean }> {
    const store = what === "services" ? this.ports.services : this.ports.ipAddresses;
    const [noteChange, noteSwept] =
      what === "services" ? ([noteServiceChange, noteSweptService] as const) : ([noteAddressChange, noteSweptAddress] as const);
    const progress = { ...this.#progressOf(what) };
    let moved = false;
    let more = false;
    const changes = progress.cursor ? await store.objectsSince(progress.cursor, CHANGES) : { kind: "expired" as const };
    if (changes.kind === "expired") {
      if (!progress.urgent) this.#startFullSweep();
      Object.assign(progress, { cursor: undefined, sweptTo: "", urgent: true });
    } else {
      for (const change of changes.changes) if (!noteChange(round, change)) this.#tellUnreadable(what, change.object);
      moved = changes.cursor.revision !== progress.cursor?.revision;
      more = changes.more;
      progress.cursor = changes.cursor;
    }
    if (!slice && !progress.urgent) return { progress, moved, more };
    const page = await store.objectsAfter(progress.sweptTo, PAGE);
    for (const object of page.objects) if (!noteSwept(round, object)) this.#tellUnreadable(what, object);
    // What changed while the sweep goes on is in the history after the first page.
    progress.cursor ??= page.cursor;
    moved ||= progress.urgent || page.next !== progress.sweptTo;
    progress.sweptTo = page.next;
    if (page.next === "") progress.urgent = false;
    return { progress, moved, more: more || progress.urgent };
  }

  /** The counterparts of what is judged, and what was only named. */
  async #lookUp(round: Round): Promise<void> {
    const { ipAddresses } = this.ports;
    await this.#readServices(round);
    const names = new Set([...round.addresses].flatMap(([name, object]) => (object ? [] : [name])));
    for (const service of round.services.values()) {
      for (const text of clusterIPsOf(service)) {
        const ip = readClusterIP(text);
        if (ip && !round.addresses.get(ip.address)) names.add(ip.address);
      }
    }
    for (const part of partsOf([...names])) {
      const found = await ipAddresses.objectsNamed(part.map((name) => ({ namespace: "", name })));
      part.forEach((name, i) => round.addresses.set(name, this.#found(round, addressId(name), found[i], readIPAddress)));
    }
    for (const object of round.addresses.values()) if (object) wantParent(round, object);
    await this.#readServices(round);
  }

  async #readServices(round: Round): Promise<void> {
    const wanted = [...round.wanted].filter(([key]) => !round.services.has(key));
    round.wanted.clear();
    for (const part of partsOf(wanted)) {
      const found = await this.ports.services.objectsNamed(part.map(([, key]) => key));
      part.forEach(([key], i) => {
        const service = this.#found(round, serviceId(key), found[i], readService);
        if (service) round.services.set(key, service);
      });
    }
  }

  async #rangesFor(round: Round): Promise<PrefixIndex<Prefix>> {
    if (round.services.size === 0) return NO_RANGES;
    const ranges = await this.ports.ranges();
    if (this.#index?.ranges !== ranges) this.#index = { ranges, index: rangeIndex(ranges) };
    return this.#index.index;
  }

  async #repairServices(round: Round, ranges: PrefixIndex<Prefix>): Promise<void> {
    const { services } = this.ports;
    const proposals: Judged[] = [];
    const doubts: Doubt[] = [];
    for (const service of round.services.values()) {
      for (const text of clusterIPsOf(service)) {
        const ip = readClusterIP(text);
        const finding = judged(round, ranges, service, ip);
        if (finding === "invalid" || finding === "outOfRange" || finding === "duplicate") doubts.push({ service, text, finding });
        else if (ip && finding && (finding !== "fine" || round.swept.has(ip.address) || round.suspects.has(keyOf(service)))) {
          proposals.push({ service, ip, finding, item: heldAddress(service, ip, finding, round.addresses.get(ip.address)) });
        }
      }
    }
    for (const part of partsOf(proposals)) {
      const results = await services.makeWhole(part.map(({ item }) => item));
      // What is left open, by its Service, and the addresses of which that is told.
      const open = new Map<string, Judged[]>();
      for (const [i, proposal] of part.entries()) {
        const { finding, item } = proposal;
        // A wrong object that holds the address for itself goes first; its row goes with it.
        if (results[i] === "heldByObject" && finding !== "fine" && item.object) await this.#deleteObject(item.address, item.object);
        const left = this.#concludeService(proposal, results[i] ?? "unavailable");
        if (left === "nothing") continue;
        const id = serviceId(keyOf(proposal.service));
        open.set(id, [...(open.get(id) ?? []), ...(left === "unknown" ? [proposal] : [])]);
      }
      for (const [id, unknown] of open) {
        if (this.#lookAgain(id, unknown.length > 0)) for (const { service, ip } of unknown) this.#tell("unknown", service, ip);
      }
    }
    await this.#tellDoubts(doubts);
  }

  /**
   * What came out of the history may have changed since: it is told only of a Service that is wrong still, and the same before and after
   * everything else was read anew.
   */
  async #tellDoubts(doubts: readonly Doubt[]): Promise<void> {
    const { services } = this.ports;
    for (const part of partsOf(doubts)) {
      const round = emptyRound();
      for (const { service } of part) wantSuspect(round, serviceId(keyOf(service)));
      await this.#lookUp(round);
      const ranges = await this.#rangesFor(round);
      const texts = await services.objectsNamed(part.map(({ service }) => objectKey(service)));
      for (const [i, { service: seen, text, finding }] of part.entries()) {
        const id = serviceId(keyOf(seen));
        const [before, after] = [round.services.get(keyOf(seen)), this.#found(round, id, texts[i], readService)];
        // Gone, or another one in its place, which the history tells of.
        if (!before || after?.metadata?.uid !== seen.metadata?.uid) continue;
        const ip = readClusterIP(text);
        const isSame = before.metadata?.resourceVersion === after?.metadata?.resourceVersion && clusterIPsOf(before).includes(text);
        if (isSame && judged(round, ranges, before, ip) === finding) this.#tell(finding, before, ip);
        else this.#lookAgain(id);
      }
    }
  }

  /** Tells what was done. Answers what is left: `unknown` = it is not known why, which is told. */
  #concludeService({ service, ip, finding }: Judged, result: WholeResult): "nothing" | "open" | "unknown" {
    switch (result) {
      case "restored":
        // An object that was right when it was read and is gone since.
        this.#tell(finding === "fine" ? "missing" : finding, service, ip);
        return "nothing";
      case "duplicate":
        this.#tell("duplicate", service, ip);
        return "nothing";
      case "heldByObject":
        // An object that is this Service's and right keeps the address for it.
        return finding === "fine" ? "nothing" : "open";
      case "unavailable":
        return "unknown";
      case "busy":
        return "open";
      case "notReady":
      case "whole":
      case "gone":
        return "nothing";
    }
  }

  /** Something is left open: it is looked at again, later each time. Answers whether that is to be told now, if it `tells`. */
  #lookAgain(id: string, tells = false): boolean {
    const { clock, storage } = this.ports;
    const { attempts, toldAt } = storage.suspectTries(id);
    const now = clock.now();
    // A clock that was set back must not silence it.
    const isTold = tells && (toldAt === 0 || now - toldAt >= TELL_AGAIN_MS || now < toldAt);
    const dueAt = now + Math.min(LOOK_AGAIN_MAX_MS, LOOK_AGAIN_MS * 2 ** attempts);
    storage.suspectPut(id, dueAt, { attempts: attempts + 1, toldAt: isTold ? now : toldAt });
    return isTold;
  }

  async #repairAddresses(round: Round): Promise<void> {
    const { clock, ipAddresses, storage } = this.ports;
    const wrong: WrongAddress[] = [];
    const swept: IPAddress[] = [];
    for (const [name, object] of round.addresses) {
      if (!object || isUncertain(round, name)) continue;
      const service = round.services.get(parentKey(object));
      const finding = judgeIPAddress(object, service, clock.now());
      if (finding.kind === "young") storage.suspectPut(addressId(name), finding.until);
      else if (finding.kind !== "fine") wrong.push({ object, kind: finding.kind });
      else if (round.swept.has(name) && !(service && isHeldBy(service, name))) swept.push(object);
    }
    await this.#repairRows(swept);
    for (const part of partsOf(await this.#stillWrong(wrong))) {
      const writers = await ipAddresses.writersOf(part.map(({ object }) => object.metadata?.name ?? ""));
      const released = await this.#giveUp(writers.filter((writer) => writer !== null));
      for (const [i, { object, kind }] of part.entries()) {
        const { name = "", uid = "" } = object.metadata ?? {};
        const gone = writers[i] ? released.has(name) : await this.#deleteObject(name, uid);
        if (!gone) {
          this.#lookAgain(addressId(name));
          continue;
        }
        this.#tellAddress(kind, object);
      }
    }
  }

  /** The rows of IPAddresses that clients made: no Service speaks for them. */
  async #repairRows(objects: readonly IPAddress[]): Promise<void> {
    const { ipAddresses, recorder, storage } = this.ports;
    for (const part of partsOf(objects)) {
      const items = part.map(({ metadata }) => ({ address: metadata?.name ?? "", object: metadata?.uid ?? "" }));
      const results = await ipAddresses.makeHeld(items);
      const restored = items.filter((_, i) => results[i] === "restored").map(({ address }) => address);
      items.forEach(({ address }, i) => {
        if (results[i] === "busy" || results[i] === "unavailable") this.#lookAgain(addressId(address));
      });
      if (restored.length === 0) continue;
      storage.count("repair", restored.length);
      recorder.log("warn", "addresses of IPAddress objects had no row at their owner", { addresses: restored.join(" ") });
    }
  }

  /** What came out of the history may have changed since: what would go is judged again by the objects of now. */
  async #stillWrong(wrong: readonly WrongAddress[]): Promise<WrongAddress[]> {
    const still: WrongAddress[] = [];
    const round = emptyRound();
    for (const part of partsOf(wrong)) {
      const names = part.map(({ object }) => ({ namespace: "", name: object.metadata?.name ?? "" }));
      const texts = await this.ports.ipAddresses.objectsNamed(names);
      const objects = names.map(({ name }, i) => this.#found(round, addressId(name), texts[i], readIPAddress));
      // Of what is there now: another object may have taken the name, and it is another Service's.
      const parents = part.map(({ object: { spec } }, i) => {
        const { namespace = "", name = "" } = (objects[i]?.spec ?? spec)?.parentRef ?? {};
        return { namespace, name };
      });
      const services = await this.ports.services.objectsNamed(parents).catch((error: unknown) => {
        for (const { object } of part) {
          if (this.#lookAgain(addressId(object.metadata?.name ?? ""), true)) this.#tellAddress("unknown", object);
        }
        throw error;
      });
      const now = this.ports.clock.now();
      for (const [i, { kind }] of part.entries()) {
        const object = objects[i];
        if (!object) continue;
        const id = serviceId(parentKey(object));
        const service = this.#found(round, id, services[i], readService);
        if (!round.unreadable.has(id) && judgeIPAddress(object, service, now).kind === kind) still.push({ object, kind });
      }
    }
    return still;
  }

  async #giveUp(writers: WrittenAddress[]): Promise<Set<string>> {
    if (writers.length === 0) return new Set();
    const results = await this.ports.services.giveUp(writers);
    return new Set(writers.flatMap(({ address }, i) => (results[i] === "released" ? [address] : [])));
  }

  /** An object that nobody here wrote, as a client would delete it: only this very one, and its finalizers are honoured. */
  async #deleteObject(name: string, uid: string): Promise<boolean> {
    const options: DeleteOptionsRequest = { dryRun: false, preconditions: { uid }, propagationPolicy: "", gracePeriodSeconds: undefined };
    const result = await this.ports.ipAddresses.write({ verb: "delete", key: { namespace: "", name }, options });
    return result.ok && result.gone;
  }

  /** What is there by that name; undefined = nothing, or what cannot be read, which the round knows then. */
  #found<T>(round: Round, id: string, text: string | null | undefined, read: (text: string) => T | undefined): T | undefined {
    if (text === null || text === undefined) return undefined;
    const object = read(text);
    if (object) return object;
    round.unreadable.add(id);
    this.#tellUnreadable(id, text);
    return undefined;
  }

  /** `of`: its name, or where only the text is known the store that has it. */
  #tellUnreadable(of: string, text: string): void {
    const { recorder, storage } = this.ports;
    storage.count("", 1);
    recorder.log("error", "an object cannot be read, repair leaves it out", { of, begins: text.slice(0, UNREADABLE_SHOWN) });
  }

  #tell(finding: ServiceFinding | "unknown", service: Service, ip: ClusterIP | undefined): void {
    const { events, legacyRanges: ranges, storage } = this.ports;
    storage.count(ranges && isFamilyGone(finding, ip, ranges) ? "invalid" : typeOf(finding), 1);
    const told = ranges ? legacyServiceEvent(finding, { service, ip, ranges }) : serviceEvent(finding, service, ip);
    if (told) events.report({ ...told, type: "Warning", regarding: referenceTo(servicesDefinition, service) });
  }

  #isSliceDue(): boolean {
    const sinceMs = this.ports.clock.now() - this.ports.storage.markGet(SLICED_MARK);
    // A clock that was set back must not stop the sweep.
    return sinceMs >= SLICE_INTERVAL_MS || sinceMs < 0;
  }

  #tellAddress(finding: WrongAddress["kind"] | "unknown", object: IPAddress): void {
    const { events, storage } = this.ports;
    storage.count(finding === "unknown" ? finding : "leak", 1);
    events.report({ ...addressEvent(finding, object), type: "Warning", regarding: referenceTo(ipAddressesDefinition, object) });
  }

  #progressOf(what: Followed): Progress {
    return this.#progress.get(what) ?? { cursor: undefined, sweptTo: "", urgent: true };
  }

  #save(what: Followed, progress: Progress): void {
    this.#progress.set(what, progress);
    this.#moved.add(what);
  }

  #isSweepAsked(): boolean {
    return this.ports.storage.markGet(SWEEP_MARK) !== 0;
  }

  #isFullSweep(): boolean {
    return this.ports.storage.markGet(SWEEPING_MARK) !== 0;
  }

  #isUrgent(): boolean {
    return STORES.some((what) => this.#progressOf(what).urgent);
  }

  #isSweeping(): boolean {
    return STORES.some((what) => this.#progressOf(what).sweptTo !== "");
  }
}

/** What is told at /metrics of the work of this controller. */
export function repairCounts(storage: RepairStorage): Omit<RepairCounts, "differingSettings"> {
  return { ...storage.countsLoad(), sweeps: storage.markGet(SWEEPS_MARK) };
}

/** The label of upstream's metric. */
function typeOf(finding: ServiceFinding | "unknown"): string {
  switch (finding) {
    case "invalid":
    case "outOfRange":
    case "duplicate":
    case "unknown":
      return finding;
    default:
      return "repair";
  }
}

function heldAddress(service: Service, ip: ClusterIP, finding: ServiceFinding, object: IPAddress | undefined): HeldAddress {
  const { namespace = "", name = "", uid = "" } = service.metadata ?? {};
  return { namespace, name, uid, address: ip.address, object: object?.metadata?.uid ?? "", isRight: finding === "fine" };
}

/** undefined = something that is to be known could not be read. */
function judged(
  { addresses, services, unreadable }: Round,
  ranges: PrefixIndex<Prefix>,
  service: Service,
  ip: ClusterIP | undefined,
): ServiceFinding | undefined {
  if (ip && isUncertain({ addresses, unreadable }, ip.address)) return undefined;
  return judgeClusterIP(ip, service, {
    isCovered: (address) => givesOut(ranges, address),
    object: (address) => addresses.get(address),
    service: (namespace, name) => services.get(`${namespace}/${name}`),
  });
}

/** Whether the IPAddress of that name, or the Service that it names, could not be read: whatever was concluded might be wrong. */
function isUncertain({ addresses, unreadable }: Pick<Round, "addresses" | "unreadable">, name: string): boolean {
  if (unreadable.size === 0) return false;
  const object = addresses.get(name);
  return unreadable.has(addressId(name)) || (object !== undefined && unreadable.has(serviceId(parentKey(object))));
}

function objectKey({ metadata }: Service): ObjectKey {
  return { namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}

function partsOf<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < all.length; at += PAGE) parts.push(all.slice(at, at + PAGE));
  return parts;
}
