/**
 * The outbox of addresses to give back. Rows are written in the transaction of the change that drops the address (PROTOCOL rule 5)
 * and drained before the answer, again by the alarm, and by cron.
 *
 * Order of a release (rule 4): delete the IPAddress that carries the token, then the owner's row. Both act only on the equal token,
 * so a repeat, however late, frees nobody else's address. Rows fail alone, each with its own backoff (rule 19).
 */
import { groupBy } from "../../core/base/group-by";
import { PENDING_RELEASES_MAX, RPC_TIMEOUT_MS, SUPPLY_BATCH_MAX } from "../../core/base/limits";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
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

export class PendingReleases {
  #count: number;
  /** tokens from the turn that added or read their rows until their round has ended: a row is in one round at a time */
  readonly #underWay = new Set<string>();
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
      const due = storage.releasesDue(clock.now(), SUPPLY_BATCH_MAX).filter((release) => !this.#underWay.has(release.token));
      for (const { token } of due) this.#underWay.add(token);
      await this.#rounds(due);
      this.rearm();
    } catch (error) {
      recorder.log("error", "pending releases could not be read", { error: String(error) });
    }
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
    }
  }

  async #send(releases: readonly PendingRelease[]): Promise<void> {
    const { clock, topology, deleteAddresses } = this.ports;
    if (deleteAddresses) {
      const items = releases.map(({ address, token, gen }) => ({ address, token, gen }));
      await withTimeout(clock, RPC_TIMEOUT_MS, deleteAddresses(items));
    }
    const view = await withTimeout(clock, RPC_TIMEOUT_MS, topology.current());
    const byOwner = groupBy(releases, ({ address }) => ownerOf(view, address) ?? "");
    const sent = [...byOwner].map(([owner, group]) => (owner ? this.#sendTo(owner, group) : this.#unclaimed(view.epoch, group)));
    // Each to its end: as long as one waits for its answer, its rows are under way.
    const failed = (await Promise.allSettled(sent)).find((outcome) => outcome.status === "rejected");
    if (failed) throw failed.reason;
  }

  async #sendTo(ownerUid: string, releases: readonly PendingRelease[]): Promise<void> {
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
    const view = topology.cached;
    if (view) for (const { address } of released) topology.counts.released(view, ownerUid, address);
    this.#done(released);
    const left = releases.filter((_, index) => results[index] !== "released");
    if (left.length === 0) return;
    this.#defer(left);
    await withTimeout(clock, RPC_TIMEOUT_MS, topology.refresh()).catch(() => undefined);
  }

  /** An address in no claim at the Coordinator's current epoch has no row to free. */
  async #unclaimed(epoch: number, releases: readonly PendingRelease[]): Promise<void> {
    const fresh = await withTimeout(this.ports.clock, RPC_TIMEOUT_MS, this.ports.topology.refresh()).catch(() => undefined);
    if (fresh?.epoch === epoch) this.#done(releases);
    else this.#defer(releases);
  }

  #done(releases: readonly PendingRelease[]): void {
    const { storage } = this.ports;
    storage.transaction(() => {
      for (const release of releases) storage.releaseDelete(release.token);
    });
    this.#count -= releases.length;
  }

  #defer(releases: readonly PendingRelease[]): void {
    const { clock, random, storage } = this.ports;
    const now = clock.now();
    storage.transaction(() => {
      for (const release of releases) {
        const delay = Math.min(BACKOFF_MAX_MS, BACKOFF_BASE_MS * 2 ** Math.min(release.attempts, 10));
        release.attempts++;
        release.dueAt = now + delay / 2 + random.below(delay);
        storage.releaseDefer(release.token, release.attempts, release.dueAt);
      }
    });
    this.rearm();
  }
}
