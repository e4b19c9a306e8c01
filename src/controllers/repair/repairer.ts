/**
 * The repair controller: Services, IPAddresses and owners' rows are brought together again wherever a crash, a forced deletion or a bug
 * has parted them (I2). It proposes, the stores dispose (PROTOCOL rules 5–8, 13): what it has read may be old by the time it acts.
 *
 * A pass reads
 * - what changed since its cursors,
 * - what an earlier pass put off: IPAddresses too young to be judged, addresses that were under way,
 * - at most once a minute a slice of everything, so that what no change announces is found too,
 * judges it (rules.ts) and proposes. A healthy cluster is only read; nothing is written but the cursors, and those only when they move.
 * A history that was lost is made up for by a sweep that does not wait between its slices (rule 23).
 *
 * At a crash: cursors are saved after the proposals of what they cover, so it is looked at again; proposals may be repeated.
 */
import { referenceTo } from "../../events/event-recorder";
import { pause } from "../../base/pause";
import type { IPAddress, Service } from "../../meta/kubernetes";
import { isUsableIn } from "../../net/usable";
import type { Prefix } from "../../net/prefix";
import { ipAddressesDefinition } from "../../registry/ip-addresses/definition";
import { servicesDefinition } from "../../registry/services/definition";
import type { HeldAddress, WholeResult, WrittenAddress } from "../../rpc/repair";
import type { DeleteOptionsRequest, ObjectKey } from "../../rpc/store";
import { PrefixIndex } from "../../topology/prefix-index";
import type { Followed, Progress, RepairPorts } from "./ports";
import {
  type AddressFinding,
  addressEvent,
  type ClusterIP,
  clusterIPsOf,
  judgeClusterIP,
  judgeIPAddress,
  readClusterIP,
  type ServiceFinding,
  serviceEvent,
} from "./rules";

/** Objects and changes read by one call: its turn in the store stays far below 50 ms. */
const PAGE = 100;
/** Objects of one slice of the sweep, per store. */
const SLICE = 4_000;
const SLICE_INTERVAL_MS = 50_000;
/** After it the pass asks for another one. */
const PASS_BUDGET_MS = 10_000;
const LOOK_AGAIN_MS = 1_000;
/** Rests between two pages, in times of what the page took: objects share a thread with those who allocate. Shorter when much is unknown. */
const REST_RATIO = 4;
const REST_RATIO_URGENT = 1;
/** Owners whose bitmap is checked with one slice, and rows of each. */
const OWNERS_CHECKED = 20;
const ROWS_CHECKED = 2_000;

const STORES: readonly Followed[] = ["services", "ipaddresses"];

/** What one round looks at. */
interface Round {
  services: Map<string, Service>;
  /** undefined = it is to be read */
  addresses: Map<string, IPAddress | undefined>;
  /** Services that are swept: their rows are compared too */
  swept: Set<string>;
  /** keys of Services that are to be read */
  wanted: Map<string, ObjectKey>;
}

interface Judged {
  service: Service;
  ip: ClusterIP;
  finding: ServiceFinding;
  item: HeldAddress;
}

interface WrongAddress {
  object: IPAddress;
  kind: Exclude<AddressFinding["kind"], "fine" | "young">;
}

export class Repairer {
  constructor(private readonly ports: RepairPorts) {}

  /** One pass; `left`: there is more to do now. `againAt`: something is to be looked at then (milliseconds since the epoch). */
  async run(): Promise<{ left: boolean; againAt: number | undefined }> {
    const { clock, events, storage } = this.ports;
    const endAt = clock.now() + PASS_BUDGET_MS;
    const sliceDue = this.#isSliceDue();
    let left = true;
    try {
      if (sliceDue) storage.markSet("slicedAt", clock.now());
      for (let slice = sliceDue ? SLICE : 0; left && clock.now() < endAt; slice = Math.max(0, slice - PAGE)) {
        const startedAt = clock.now();
        left = await this.#round(slice > 0);
        left ||= slice > PAGE && this.#isSweeping();
        if (left) await pause(clock, (clock.now() - startedAt) * (this.#isUrgent() ? REST_RATIO_URGENT : REST_RATIO));
      }
      if (sliceDue) await this.#checkBitmaps();
    } catch (error) {
      storage.count("", 1);
      throw error;
    } finally {
      await events.flush();
    }
    return { left, againAt: storage.suspectEarliest() };
  }

  /** One page of everything that there is to read; answers whether there is more. */
  async #round(slice: boolean): Promise<boolean> {
    const { clock, storage } = this.ports;
    const round: Round = { services: new Map(), addresses: new Map(), swept: new Set(), wanted: new Map() };
    const suspects = storage.suspectsTake(clock.now(), PAGE);
    try {
      for (const id of suspects) want(round, id);
      const read = await Promise.all(STORES.map((what) => this.#read(what, round, slice)));
      await this.#lookUp(round);
      const ranges = await this.#rangesFor(round);
      await this.#repairServices(round, ranges);
      await this.#repairAddresses(round);
      for (const [i, what] of STORES.entries()) {
        const { progress, moved } = read[i] ?? {};
        if (progress && moved) storage.progressSave(what, progress);
      }
      return suspects.length === PAGE || read.some(({ more }) => more);
    } catch (error) {
      for (const id of suspects) storage.suspectPut(id, clock.now() + LOOK_AGAIN_MS);
      throw error;
    }
  }

  /** Changes since the cursor, and a page of the sweep. A store that lost the history, or was never read, is swept at once. */
  async #read(what: Followed, round: Round, slice: boolean): Promise<{ progress: Progress; moved: boolean; more: boolean }> {
    const store = what === "services" ? this.ports.services : this.ports.ipAddresses;
    const progress = { ...this.ports.storage.progressLoad(what) };
    let moved = false;
    let more = false;
    const changes = progress.cursor ? await store.objectsSince(progress.cursor, PAGE) : { kind: "expired" as const };
    if (changes.kind === "expired") Object.assign(progress, { cursor: undefined, sweptTo: "", urgent: true });
    else {
      for (const change of changes.changes) noteChange(what, round, change);
      moved = changes.cursor.revision !== progress.cursor?.revision;
      more = changes.more;
      progress.cursor = changes.cursor;
    }
    if (!slice && !progress.urgent) return { progress, moved, more };
    const page = await store.objectsAfter(progress.sweptTo, PAGE);
    for (const object of page.objects) noteSwept(what, round, object);
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
      part.forEach((name, i) => round.addresses.set(name, parsed<IPAddress>(found[i])));
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
        const service = parsed<Service>(found[i]);
        if (service) round.services.set(key, service);
      });
    }
  }

  async #rangesFor(round: Round): Promise<PrefixIndex<Prefix>> {
    const ranges = round.services.size > 0 ? await this.ports.ranges() : [];
    return new PrefixIndex(ranges.map((prefix) => ({ prefix, value: prefix })));
  }

  async #repairServices(round: Round, ranges: PrefixIndex<Prefix>): Promise<void> {
    const { services } = this.ports;
    const proposals: Judged[] = [];
    for (const [key, service] of round.services) {
      for (const text of clusterIPsOf(service)) {
        const ip = readClusterIP(text);
        const finding = judgeClusterIP(ip, service, {
          isCovered: ({ family, value }) => ranges.containing(family, value).some((prefix) => isUsableIn(prefix, family, value)),
          object: (address) => round.addresses.get(address),
          service: (namespace, name) => round.services.get(`${namespace}/${name}`),
        });
        if (finding === "invalid" || finding === "outOfRange" || finding === "duplicate") this.#tell(finding, service, ip);
        else if (ip && (finding !== "fine" || round.swept.has(key))) {
          proposals.push({ service, ip, finding, item: heldAddress(service, ip, finding, round.addresses.get(ip.address)) });
        }
      }
    }
    for (const part of partsOf(proposals)) {
      const results = await services.makeWhole(part.map(({ item }) => item));
      for (const [i, judged] of part.entries()) await this.#concludeService(judged, results[i] ?? "unavailable");
    }
  }

  async #concludeService({ service, ip, finding, item }: Judged, result: WholeResult): Promise<void> {
    const { clock, storage } = this.ports;
    const id = `services/${item.namespace}/${item.name}`;
    switch (result) {
      case "restored":
        // An object that was right when it was read and is gone since.
        this.#tell(finding === "fine" ? "missing" : finding, service, ip);
        return;
      case "duplicate":
        this.#tell("duplicate", service, ip);
        return;
      case "heldByObject":
        // The object is this Service's and right: it keeps the address for it. A wrong one goes first; its row goes with it.
        if (finding === "fine") return;
        if (item.object) await this.#deleteObject(item.address, item.object);
        storage.suspectPut(id, clock.now() + LOOK_AGAIN_MS);
        return;
      case "unavailable":
        this.#tell("unknown", service, ip);
        storage.suspectPut(id, clock.now() + LOOK_AGAIN_MS);
        return;
      case "busy":
        storage.suspectPut(id, clock.now() + LOOK_AGAIN_MS);
        return;
      case "notReady":
      case "whole":
      case "gone":
        return;
    }
  }

  async #repairAddresses(round: Round): Promise<void> {
    const { clock, ipAddresses, storage } = this.ports;
    const wrong: WrongAddress[] = [];
    for (const object of round.addresses.values()) {
      if (!object) continue;
      const { namespace = "", name = "" } = object.spec?.parentRef ?? {};
      const finding = judgeIPAddress(object, round.services.get(`${namespace}/${name}`), clock.now());
      if (finding.kind === "young") storage.suspectPut(`ipaddresses/${object.metadata?.name ?? ""}`, finding.until);
      else if (finding.kind !== "fine") wrong.push({ object, kind: finding.kind });
    }
    for (const part of partsOf(await this.#stillWrong(wrong))) {
      const writers = await ipAddresses.writersOf(part.map(({ object }) => object.metadata?.name ?? ""));
      const released = await this.#giveUp(writers.filter((writer) => writer !== null));
      for (const [i, { object, kind }] of part.entries()) {
        const { name = "", uid = "" } = object.metadata ?? {};
        const gone = writers[i] ? released.has(name) : await this.#deleteObject(name, uid);
        if (!gone) {
          storage.suspectPut(`ipaddresses/${name}`, clock.now() + LOOK_AGAIN_MS * 5);
          continue;
        }
        storage.count("leak", 1);
        this.ports.events.report({
          ...addressEvent(kind, object),
          type: "Warning",
          regarding: referenceTo(ipAddressesDefinition, object),
        });
      }
    }
  }

  /** A Service that came out of the history may have changed since: what would go is judged again by the Services of now. */
  async #stillWrong(wrong: readonly WrongAddress[]): Promise<WrongAddress[]> {
    const still: WrongAddress[] = [];
    for (const part of partsOf(wrong)) {
      const parents = part.map(({ object: { spec } }) => ({
        namespace: spec?.parentRef?.namespace ?? "",
        name: spec?.parentRef?.name ?? "",
      }));
      const services = await this.ports.services.objectsNamed(parents);
      const now = this.ports.clock.now();
      still.push(...part.filter(({ object, kind }, i) => judgeIPAddress(object, parsed<Service>(services[i]), now).kind === kind));
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

  #tell(finding: ServiceFinding | "unknown", service: Service, ip: ClusterIP | undefined): void {
    const { events, storage } = this.ports;
    storage.count(typeOf(finding), 1);
    const told = serviceEvent(finding, service, ip);
    if (told) events.report({ ...told, type: "Warning", regarding: referenceTo(servicesDefinition, service) });
  }

  #isSliceDue(): boolean {
    const sinceMs = this.ports.clock.now() - this.ports.storage.markGet("slicedAt");
    // A clock that was set back must not stop the sweep.
    return sinceMs >= SLICE_INTERVAL_MS || sinceMs < 0;
  }

  #isUrgent(): boolean {
    return STORES.some((what) => this.ports.storage.progressLoad(what).urgent);
  }

  #isSweeping(): boolean {
    return STORES.some((what) => this.ports.storage.progressLoad(what).sweptTo !== "");
  }

  /** Bitmaps against rows, some owners at a time; an owner builds a bitmap that differs anew by itself. */
  async #checkBitmaps(): Promise<void> {
    const { owner, owners, recorder, storage } = this.ports;
    const uids = [...(await owners())].sort();
    const from = storage.markGet("owner") < uids.length ? storage.markGet("owner") : 0;
    const some = uids.slice(from, from + OWNERS_CHECKED);
    let checked = 0;
    for (const uid of some) {
      const mark = `rows/${uid}`;
      const before = storage.markGet(mark);
      const { next, rebuilt } = await owner(uid).checkBitmap(before, ROWS_CHECKED);
      if (rebuilt) {
        storage.count("repair", 1);
        recorder.log("error", "the bitmap of an owner was built anew from its rows", { owner: uid });
      }
      if (next !== before) storage.markSet(mark, next);
      checked++;
    }
    const next = from + checked < uids.length ? from + checked : 0;
    if (next !== storage.markGet("owner")) storage.markSet("owner", next);
  }
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

function noteChange(what: Followed, round: Round, { deleted, object }: { deleted: boolean; object: string }): void {
  if (what === "services") {
    const service = JSON.parse(object) as Service;
    if (deleted) round.services.delete(keyOf(service));
    else round.services.set(keyOf(service), service);
    return;
  }
  const address = JSON.parse(object) as IPAddress;
  // Whether or not it is there now: the Service that it was for is looked at.
  round.addresses.set(address.metadata?.name ?? "", undefined);
  wantParent(round, address);
}

function noteSwept(what: Followed, round: Round, text: string): void {
  if (what === "services") {
    const service = JSON.parse(text) as Service;
    round.services.set(keyOf(service), service);
    round.swept.add(keyOf(service));
    return;
  }
  const object = JSON.parse(text) as IPAddress;
  round.addresses.set(object.metadata?.name ?? "", object);
}

function want(round: Round, id: string): void {
  const [what = "", ...rest] = id.split("/");
  if (what === "services") round.wanted.set(rest.join("/"), { namespace: rest[0] ?? "", name: rest[1] ?? "" });
  else round.addresses.set(rest.join("/"), undefined);
}

function wantParent(round: Round, { spec }: IPAddress): void {
  const { group = "", resource, namespace = "", name = "" } = spec?.parentRef ?? {};
  const key = `${namespace}/${name}`;
  if (group === "" && resource === "services" && !round.services.has(key)) round.wanted.set(key, { namespace, name });
}

function heldAddress(service: Service, ip: ClusterIP, finding: ServiceFinding, object: IPAddress | undefined): HeldAddress {
  const { namespace = "", name = "", uid = "" } = service.metadata ?? {};
  return { namespace, name, uid, address: ip.address, object: object?.metadata?.uid ?? "", isRight: finding === "fine" };
}

function keyOf({ metadata }: Service): string {
  return `${metadata?.namespace ?? ""}/${metadata?.name ?? ""}`;
}

function parsed<T>(text: string | null | undefined): T | undefined {
  return text === null || text === undefined ? undefined : (JSON.parse(text) as T);
}

function partsOf<T>(all: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let at = 0; at < all.length; at += PAGE) parts.push(all.slice(at, at + PAGE));
  return parts;
}
