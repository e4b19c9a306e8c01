/**
 * The outbox of addresses to give back. The transaction that drops an address writes the row (rule 5), one for all that its turn gives back. The row
 * is sent before the answer, again by the alarm, and by cron. What fails gets a row of its own, and fails alone, each with its own backoff (rule 19).
 * Owner and IPAddress act only on the equal token, so a repeat, however late, frees nobody else's address.
 *
 * A row says that a client was told of a free address whose owner may not know yet. A create that is refused meanwhile waits for the row
 * (take.ts).
 */
import { type Family, familyOfText } from "../../core/net/family";
import { PENDING_RELEASES_MAX, SUPPLY_BATCH_MAX } from "../rpc/limits";
import { chunksOf } from "../../core/base/chunks";
import { leastOf } from "../../core/base/extremes";
import type { Recorder } from "../../core/base/ports";
import { OPEN_ZONE } from "../../core/net/zones";
import type { Topology } from "../rpc/topology";
import { placeOf } from "../topology/tenants";
import type { IPAddressDelete } from "../rpc/ip-addresses";
import { PendingIndex } from "./pending-index";
import { ReleaseLists } from "./release-lists";
import { ReleaseSender, type ReleaseSenderPorts } from "./release-sender";
import type { PendingRelease, ReleaseStorage, StoredReleaseList } from "./release-storage";
import type { AskedAddress } from "./wanted-address";

export interface ReleasePorts extends ReleaseSenderPorts {
  recorder: Recorder;
  storage: ReleaseStorage;
  /** sets the object's alarm to at most this time */
  wakeAt(time: number): void;
}

const BACKOFF_BASE_MS = 200;
const BACKOFF_MAX_MS = 60_000;
/** The alarm stands no sooner than this: rows that are due now may be more than one call takes, or on a disk that puts off none of them. */
const REARM_MIN_MS = 100;
/** Between two rounds that creates of any address have begun: the owner may be down, and a thousand of them may wait. */
const HURRY_INTERVAL_MS = 100;

export class PendingReleases {
  /** the committed rows */
  #index: PendingIndex;
  /** those of them that share a value */
  readonly #lists: ReleaseLists;
  /** lists of the turn under way */
  #written: StoredReleaseList[] = [];
  /** tokens from the turn that added or read their rows until the row is gone or its round has ended: a row is in one round at a time */
  readonly #underWay = new Set<string>();
  /** those who wait until a row is gone or a round has ended */
  #waiting: (() => void)[] = [];
  #hurriedAt = -Infinity;
  /** rows that are gone, since the object began */
  readonly #gone: Record<Family, number> = { IPv4: 0, IPv6: 0 };
  #fresh: PendingRelease[] = [];
  #freshRound: Promise<void> | undefined;
  readonly #sender: ReleaseSender;

  constructor(private readonly ports: ReleasePorts) {
    this.#lists = new ReleaseLists(ports.storage.releaseLists());
    this.#index = this.#readIndex();
    this.#sender = new ReleaseSender(ports, { done: (releases) => this.#done(releases), defer: (releases) => this.#defer(releases) });
  }

  /** Whether `adding` more rows fit; beyond the bound the change must be refused with 429. */
  hasRoom(adding: number): boolean {
    return this.count + adding <= PENDING_RELEASES_MAX;
  }

  get count(): number {
    return this.#index.size;
  }

  /** Whether the release of this token is committed and not known to have arrived. */
  has(token: string): boolean {
    return this.#index.has(token);
  }

  /** A release that is to be written. */
  made({ address, token, gen }: IPAddressDelete): PendingRelease {
    return { address, token, gen, attempts: 0, dueAt: this.ports.clock.now() };
  }

  /** Writes what a turn gives back. Call inside its transaction, once; the round that sends it is `send`, and `reload` if there is none. */
  write(releases: readonly PendingRelease[]): void {
    const { storage } = this.ports;
    const isNew = releases.filter(({ token }) => !this.has(token));
    for (const chunk of chunksOf(isNew, SUPPLY_BATCH_MAX)) {
      const [first, second] = chunk;
      if (!first) continue;
      if (!second) storage.releaseAdd(first);
      else {
        const list = { id: first.token, releases: chunk };
        storage.releaseListAdd(list);
        this.#written.push(list);
      }
    }
  }

  /** Sends what a committed transaction wrote; all of one turn share one round. Resolves when they were tried once; never rejects. */
  send(releases: readonly PendingRelease[]): Promise<void> {
    for (const list of this.#written) this.#lists.add(list);
    this.#written = [];
    for (const release of releases) {
      this.#index.add(release);
      this.#underWay.add(release.token);
      this.#fresh.push(release);
    }
    this.#freshRound ??= this.ports.clock.nextTurn().then(() => {
      const round = this.#fresh;
      this.#fresh = [];
      this.#freshRound = undefined;
      return this.#rounds(round);
    });
    return this.#freshRound;
  }

  /** Tries what is due, at most one call's items, and says when to come back. For the alarm, cron and the object's start; never throws. */
  async drain(): Promise<void> {
    const { clock, recorder } = this.ports;
    try {
      await this.#rounds(this.#beginDue(clock.now()));
      this.rearm();
    } catch (error) {
      recorder.log("error", "pending releases could not be read", { error: String(error) });
    }
  }

  /**
   * Whether an address that was given back may still be taken at its owner: the wanted one, or for "" any that a range of the topology gives out.
   * Only a question for "" needs a topology. With a zone the answer is of addresses in it.
   */
  isPending({ family, address }: AskedAddress, topology: Topology | undefined, zone: string = OPEN_ZONE): boolean {
    if (this.count === 0) return false;
    if (address) return this.#index.tokensOf(address).length > 0;
    if (topology && zone !== OPEN_ZONE) return this.#index.someAddress((pending) => placeOf(topology, pending) === zone);
    return topology !== undefined && this.#index.hasGivenOut(topology, family);
  }

  /** How many rows of the family are gone since the object began. */
  goneOf(family: Family): number {
    return this.#gone[family];
  }

  /**
   * Tries the releases of an address, or for "" those that are due next, before their time. Resolves when any row is gone or a round has
   * ended. Resolves at once when nothing is under way, when the address has no row, and for "" when a row of the family has gone since `goneOf`
   * was `goneBefore`. Never rejects.
   */
  async hurry({ family, address }: AskedAddress, goneBefore = this.goneOf(family)): Promise<void> {
    const { clock, recorder } = this.ports;
    if (address ? this.#index.tokensOf(address).length === 0 : this.goneOf(family) !== goneBefore) return;
    try {
      let early: PendingRelease[] = [];
      if (address) early = this.#beginOf(address);
      else if (clock.now() - this.#hurriedAt >= HURRY_INTERVAL_MS) {
        this.#hurriedAt = clock.now();
        early = this.#beginDue(Number.MAX_SAFE_INTEGER);
      }
      if (early.length > 0) void clock.nextTurn().then(() => this.#rounds(early));
    } catch (error) {
      recorder.log("error", "pending releases could not be read", { error: String(error) });
    }
    if (this.#underWay.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Sets the alarm for the earliest row that is in no round. The others follow at the end of their round. */
  rearm(): void {
    const { clock, storage, wakeAt } = this.ports;
    if (this.#underWay.size >= this.count) return;
    const row = storage.releasesDue(Number.MAX_SAFE_INTEGER, this.#underWay.size + 1).find(({ token }) => !this.#underWay.has(token));
    const idle = [...(row ? [row] : []), ...this.#listedBy(Number.MAX_SAFE_INTEGER)];
    if (idle.length > 0) wakeAt(Math.max(leastOf(idle.map(({ dueAt }) => dueAt)), clock.now() + REARM_MIN_MS));
  }

  /** Memory after a lost transaction: storage alone knows what is pending. */
  reload(): void {
    this.#written = [];
    this.#index = this.#readIndex();
  }

  #readIndex(): PendingIndex {
    const index = new PendingIndex(this.ports.storage.releasesAll());
    for (const release of this.#lists.all()) index.add(release);
    return index;
  }

  /** Releases in lists that are due and in no round yet, at most one call's: all are in a round unless the object has just begun, or its disk failed. */
  #listedBy(now: number): PendingRelease[] {
    const idle: PendingRelease[] = [];
    for (const release of this.#lists.all()) {
      if (idle.length === SUPPLY_BATCH_MAX) break;
      if (release.dueAt <= now && !this.#underWay.has(release.token)) idle.push(release);
    }
    return idle;
  }

  /** The rows that are due and in no round yet, as many as fit into one call; from now on they are under way. */
  #beginDue(now: number): PendingRelease[] {
    // Rows under way stay due, and there may be many of an owner that does not answer: they hold up no other row (rule 19).
    const due = this.ports.storage.releasesDue(now, SUPPLY_BATCH_MAX + this.#underWay.size);
    const rows = due.filter(({ token }) => !this.#underWay.has(token));
    return this.#begin([...this.#listedBy(now), ...rows].slice(0, SUPPLY_BATCH_MAX));
  }

  #beginOf(address: string): PendingRelease[] {
    const idle = this.#index.tokensOf(address).filter((token) => !this.#underWay.has(token));
    return this.#begin(idle.flatMap((token) => this.#lists.get(token) ?? this.ports.storage.releaseGet(token) ?? []));
  }

  #begin(releases: PendingRelease[]): PendingRelease[] {
    for (const { token } of releases) this.#underWay.add(token);
    return releases;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  async #rounds(releases: readonly PendingRelease[]): Promise<void> {
    const rounds: Promise<void>[] = [];
    for (let at = 0; at < releases.length; at += SUPPLY_BATCH_MAX) rounds.push(this.#round(releases.slice(at, at + SUPPLY_BATCH_MAX)));
    await Promise.all(rounds);
  }

  async #round(releases: readonly PendingRelease[]): Promise<void> {
    const { recorder } = this.ports;
    try {
      await this.#sender.send(releases).catch((error: unknown) => {
        recorder.log("warn", "a round of releases failed and is tried again", { error: String(error), releases: releases.length });
        this.#defer(releases);
      });
    } catch (error) {
      // The rows are as they were, and stay due.
      recorder.log("error", "releases could not be put off", { error: String(error), releases: releases.length });
    } finally {
      for (const { token } of releases) this.#underWay.delete(token);
      this.#wake();
    }
    try {
      this.rearm();
    } catch (error) {
      // Cron comes by.
      recorder.log("error", "pending releases could not be read", { error: String(error) });
    }
  }

  #done(releases: readonly PendingRelease[]): void {
    const { storage } = this.ports;
    storage.transaction(() => {
      for (const { token } of releases) if (!this.#lists.has(token)) storage.releaseDelete(token);
      for (const id of this.#lists.emptyWithout(releases)) storage.releaseListDelete(id);
    });
    this.#lists.delete(releases);
    for (const { token, address } of releases) {
      this.#index.delete(token);
      this.#underWay.delete(token);
      this.#gone[familyOfText(address)]++;
    }
    this.#wake();
  }

  /** A row that was tried before its time keeps it. What shares a value gets a row. */
  #defer(releases: readonly PendingRelease[]): void {
    const { clock, random, storage } = this.ports;
    const now = clock.now();
    storage.transaction(() => {
      for (const release of releases) {
        const isListed = this.#lists.has(release.token);
        const isDue = release.dueAt <= now;
        if (isDue) {
          const delay = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(release.attempts, 10));
          release.attempts++;
          release.dueAt = now + delay / 2 + random.below(delay);
        }
        if (isListed) storage.releaseAdd(release);
        else if (isDue) storage.releaseDefer(release.token, release.attempts, release.dueAt);
      }
      for (const id of this.#lists.emptyWithout(releases)) storage.releaseListDelete(id);
    });
    this.#lists.delete(releases);
  }
}
