/**
 * The outbox of addresses to give back. The transaction that drops an address writes the row (rule 5). The row is sent before the answer,
 * again by the alarm, and by cron.
 *
 * - Order of a release (rule 4): delete the IPAddress that carries the token, then the owner's row. Both act only on the equal token,
 *   so a repeat, however late, frees nobody else's address. Rows fail alone, each with its own backoff (rule 19).
 * - An owner answers `stale` when the segment has moved or is frozen. The round then asks for the newest topology and tries again, as long
 *   as an answer waits for its releases.
 * - A row says that a client was told of a free address whose owner may not know yet. A create that is refused meanwhile waits for the row
 *   (address-supply.ts).
 */
import { groupBy } from "../../core/base/group-by";
import { PENDING_RELEASES_MAX, RELEASE_WAIT_MS, SUPPLY_BATCH_MAX } from "../rpc/limits";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { type Family, familyOfText } from "../../core/net/family";
import type { Topology } from "../rpc/topology";
import type { IPAddressDelete } from "../rpc/ip-addresses";
import type { Gen, ReleaseResult, ServiceCIDRRpc } from "../rpc/service-cidr";
import { ownerOf } from "../topology/route";
import type { TopologySource } from "./topology-source";

export interface PendingRelease {
  token: string;
  /** canonical text */
  address: string;
  gen: Gen;
  attempts: number;
  /** milliseconds since the epoch */
  dueAt: number;
}

export interface PendingReleaseStorage {
  releaseAdd(release: PendingRelease): void;
  releaseDelete(token: string): void;
  releaseDefer(token: string, attempts: number, dueAt: number): void;
  releasesDue(now: number, limit: number): PendingRelease[];
  /** undefined when there is none */
  releaseEarliestDue(): number | undefined;
  releaseCount(): number;
  releaseHas(token: string): boolean;
  /** the rows of one address (canonical text) */
  releasesOf(address: string): PendingRelease[];
  /** the address of each row, in no order; read as it is asked for */
  releaseAddresses(): Iterable<string>;
  transaction<T>(work: () => T): T;
}

export interface ReleasePorts {
  clock: Clock;
  random: Random;
  recorder: Recorder;
  storage: PendingReleaseStorage;
  topology: TopologySource;
  owner(uid: string): Pick<ServiceCIDRRpc, "release">;
  /** deletes the IPAddress objects that carry these tokens; absent where the store itself holds them */
  deleteAddresses?(items: IPAddressDelete[]): Promise<void>;
  /** sets the object's alarm to at most this time */
  wakeAt(time: number): void;
}

const BACKOFF_BASE_MS = 200;
const BACKOFF_MAX_MS = 60_000;
/** The alarm stands no sooner than this: rows that are under way stay due until their answer, and must not wake the object all the while. */
const REARM_MIN_MS = 100;
/** Between two tries of a release that met `stale` in one round; a lot of addresses is frozen for about a tenth of a second. */
const STALE_PAUSE_MIN_MS = 10;
const STALE_PAUSE_MAX_MS = 200;
/** Between two rounds that creates of any address have begun: the owner may be down, and a thousand of them may wait. */
const HURRY_INTERVAL_MS = 100;

/** How long a round goes on with what is `stale`. */
interface Patience {
  /** milliseconds since the epoch */
  until: number;
  pauseMs: number;
}

export class PendingReleases {
  #count: number;
  /** tokens from the turn that added or read their rows until their round has ended: a row is in one round at a time */
  readonly #underWay = new Set<string>();
  /** those who wait until a row is gone or a round has ended */
  #waiting: (() => void)[] = [];
  #hurriedAt = -Infinity;
  #fresh: PendingRelease[] = [];
  #freshRound: Promise<void> | undefined;

  constructor(private readonly ports: ReleasePorts) {
    this.#count = ports.storage.releaseCount();
  }

  /** Whether `adding` more rows fit; beyond the bound the change must be refused with 429. */
  hasRoom(adding: number): boolean {
    return this.#count + adding <= PENDING_RELEASES_MAX;
  }

  get count(): number {
    return this.#count;
  }

  /** Writes a row. Call inside the transaction of the change; the round that sends it is `send`. */
  add({ address, token, gen }: IPAddressDelete): PendingRelease {
    const release: PendingRelease = { address, token, gen, attempts: 0, dueAt: this.ports.clock.now() };
    this.ports.storage.releaseAdd(release);
    return release;
  }

  /** Sends rows that a committed transaction added; all of one turn share one round. Resolves when they were tried once; never rejects. */
  send(releases: readonly PendingRelease[]): Promise<void> {
    this.#count += releases.length;
    for (const release of releases) {
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

  /** Tries everything that is due, and says when to come back. For the alarm, cron and the object's start; never throws. */
  async drain(): Promise<void> {
    const { clock, recorder, storage } = this.ports;
    try {
      await this.#rounds(this.#begin(storage.releasesDue(clock.now(), SUPPLY_BATCH_MAX)));
      this.rearm();
    } catch (error) {
      recorder.log("error", "pending releases could not be read", { error: String(error) });
    }
  }

  /**
   * Whether an address that was given back may still be taken at its owner: the wanted one (canonical text), or for "" any of the family
   * that `isGivenOut`.
   */
  isPending({ family, address }: { family: Family; address: string }, isGivenOut: (address: string) => boolean): boolean {
    if (this.#count === 0) return false;
    const { storage } = this.ports;
    if (address) return storage.releasesOf(address).length > 0;
    for (const pending of storage.releaseAddresses()) if (familyOfText(pending) === family && isGivenOut(pending)) return true;
    return false;
  }

  /**
   * Tries the releases of an address, or for "" those that are due next, before their time. Resolves when any row is gone or a round has
   * ended; at once when nothing is under way. Never rejects.
   */
  async hurry(address: string): Promise<void> {
    const { clock, recorder, storage } = this.ports;
    try {
      let early: PendingRelease[] = [];
      if (address) early = this.#begin(storage.releasesOf(address));
      else if (clock.now() - this.#hurriedAt >= HURRY_INTERVAL_MS) {
        this.#hurriedAt = clock.now();
        early = this.#begin(storage.releasesDue(Number.MAX_SAFE_INTEGER, SUPPLY_BATCH_MAX));
      }
      if (early.length > 0) void clock.nextTurn().then(() => this.#rounds(early));
    } catch (error) {
      recorder.log("error", "pending releases could not be read", { error: String(error) });
    }
    if (this.#underWay.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The rows that are in no round yet; from now on they are. */
  #begin(releases: readonly PendingRelease[]): PendingRelease[] {
    const idle = releases.filter(({ token }) => !this.#underWay.has(token));
    for (const { token } of idle) this.#underWay.add(token);
    return idle;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Sets the alarm for the earliest row that is left. */
  rearm(): void {
    const earliest = this.ports.storage.releaseEarliestDue();
    if (earliest !== undefined) this.ports.wakeAt(Math.max(earliest, this.ports.clock.now() + REARM_MIN_MS));
  }

  /** Memory after a lost transaction: storage alone knows what is pending. */
  reload(): void {
    this.#count = this.ports.storage.releaseCount();
  }

  async #rounds(releases: readonly PendingRelease[]): Promise<void> {
    const rounds: Promise<void>[] = [];
    for (let at = 0; at < releases.length; at += SUPPLY_BATCH_MAX) rounds.push(this.#round(releases.slice(at, at + SUPPLY_BATCH_MAX)));
    await Promise.all(rounds);
  }

  async #round(releases: readonly PendingRelease[]): Promise<void> {
    const { recorder } = this.ports;
    try {
      await this.#send(releases).catch((error: unknown) => {
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
  }

  async #send(releases: readonly PendingRelease[]): Promise<void> {
    const { clock, topology, deleteAddresses } = this.ports;
    if (deleteAddresses) {
      const items = releases.map(({ address, token, gen }) => ({ address, token, gen }));
      await withTimeout(clock, RPC_TIMEOUT_MS, deleteAddresses(items));
    }
    const view = await withTimeout(clock, RPC_TIMEOUT_MS, topology.current());
    await this.#route(view, releases, { until: clock.now() + RELEASE_WAIT_MS, pauseMs: STALE_PAUSE_MIN_MS });
  }

  async #route(view: Topology, releases: readonly PendingRelease[], patience: Patience): Promise<void> {
    const byOwner = groupBy(releases, ({ address }) => ownerOf(view, address) ?? "");
    const sent = [...byOwner].map(([owner, group]) =>
      owner ? this.#sendTo(owner, view, group, patience) : this.#again(view, group, patience, { isUnclaimed: true }),
    );
    // Each to its end: as long as one waits for its answer, its rows are under way.
    const failed = (await Promise.allSettled(sent)).find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #sendTo(ownerUid: string, view: Topology, releases: readonly PendingRelease[], patience: Patience): Promise<void> {
    const { clock, owner, topology } = this.ports;
    let results: ReleaseResult[];
    try {
      const items = releases.map(({ address, token }) => ({ address, token }));
      results = await withTimeout(clock, RPC_TIMEOUT_MS, owner(ownerUid).release(items));
    } catch {
      this.#defer(releases);
      return;
    }
    const released = releases.filter((_, index) => results[index] === "released");
    const { cached } = topology;
    if (cached) for (const { address } of released) topology.counts.released(cached, ownerUid, address);
    this.#done(released);
    const stale = releases.filter((_, index) => results[index] !== "released");
    if (stale.length > 0) await this.#again(view, stale, patience, { isUnclaimed: false });
  }

  /**
   * Asks for the newest topology and goes on by that. An address in no claim at the Coordinator's current epoch has no row to free. An owner
   * that the same topology names again has frozen the segment, so the next try waits a little.
   */
  async #again(
    view: Topology,
    releases: readonly PendingRelease[],
    { until, pauseMs }: Patience,
    { isUnclaimed }: { isUnclaimed: boolean },
  ): Promise<void> {
    const { clock, random, topology } = this.ports;
    const fresh = await withTimeout(clock, RPC_TIMEOUT_MS, topology.refresh()).catch(() => undefined);
    const isSame = fresh?.epoch === view.epoch;
    if (fresh && isSame && isUnclaimed) {
      this.#done(releases);
      return;
    }
    if (!fresh || clock.now() >= until) {
      this.#defer(releases);
      return;
    }
    await (isSame ? clock.sleep(pauseMs / 2 + random.below(pauseMs)) : clock.nextTurn());
    await this.#route(fresh, releases, { until, pauseMs: isSame ? Math.min(2 * pauseMs, STALE_PAUSE_MAX_MS) : pauseMs });
  }

  #done(releases: readonly PendingRelease[]): void {
    const { storage } = this.ports;
    storage.transaction(() => {
      for (const release of releases) storage.releaseDelete(release.token);
    });
    this.#count -= releases.length;
    this.#wake();
  }

  /** A row that was tried before its time keeps it. */
  #defer(releases: readonly PendingRelease[]): void {
    const { clock, random, storage } = this.ports;
    const now = clock.now();
    const due = releases.filter(({ dueAt }) => dueAt <= now);
    storage.transaction(() => {
      for (const release of due) {
        const delay = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(release.attempts, 10));
        release.attempts++;
        release.dueAt = now + delay / 2 + random.below(delay);
        storage.releaseDefer(release.token, release.attempts, release.dueAt);
      }
    });
    this.rearm();
  }
}
