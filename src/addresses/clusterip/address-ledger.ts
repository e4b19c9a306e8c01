/**
 * The addresses of one store's objects: taking them from owners for an operation, writing down who holds what with the object's
 * commit, giving them back through the outbox, and finding the ones that a crash left behind.
 *
 * Life of an address here (rules 1–7):
 *
 *   take ──► in flight (memory: token) ──► commit: allocation row + object, one transaction ──► drop: outbox row + object change
 *                    │                                                                                │
 *                    └── refused, timed out: outbox row in the turn that decides ────────────────────►└─► IPAddress, then owner's row
 *
 * A crash between take and commit leaves a row at the owner whose token nobody knows: the audit at start and by cron reads the
 * owner's rows since its last mark and releases what is neither in flight, nor committed, nor pending. So it does with what is committed and
 * whose object went without a release: a row of the store's table was lost, or deleted by hand. Only the store that asked for an address
 * decides that (rule 6).
 */
import type { AllocationMetrics } from "../alloc/allocation-metrics";
import { RELEASE_WAIT_MS, RPC_TIMEOUT_MS } from "../../core/base/limits";
import { orderedUuid } from "../../core/base/ordered-uuid";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { Pace, REST_GENTLY, REST_URGENTLY } from "../../core/base/pause";
import { withTimeout } from "../../core/base/timeout";
import { familyOfText } from "../../core/net/family";
import type { Topology } from "../rpc/coordinator";
import type { AddressRow, Holder, HolderKind, ServiceCIDRRpc } from "../rpc/service-cidr";
import { AddressSupply, type SupplyResult, type TakenAddress, type WantedAddress } from "./address-supply";
import type { Allocation, LedgerStorage } from "./ledger-storage";
import { type PendingRelease, PendingReleases } from "./pending-release";
import type { IPAddressDelete } from "../rpc/ip-addresses";
import type { TopologySource } from "./topology-source";

export interface LedgerPorts {
  clock: Clock;
  random: Random;
  recorder: Recorder;
  /** counts what is allocated for Services */
  metrics?: AllocationMetrics;
  storage: LedgerStorage;
  topology: TopologySource;
  owner(uid: string): ServiceCIDRRpc;
  /** whether the stored object at `key` holds the address (canonical text) now; one that cannot be read keeps what it may hold */
  holds(key: string, address: string): boolean;
  deleteAddresses?(items: IPAddressDelete[]): Promise<void>;
  wakeAt(time: number): void;
}

/** Rows of one audit answer: what owner and store do with it stays below 10 ms. */
const AUDIT_ROWS = 250;
/** Old rows of each owner that one audit looks at besides. */
const SWEPT_ROWS = 1_000;
/** How long the audit is waited for: cron waits for it twice after a start, and no longer than 30 s for a store. */
const AUDIT_WAIT_MS = 10_000;
/** An owner that did not answer a call for addresses in time is audited each time for as long: the call may still arrive. */
const UNANSWERED_LATELY_MS = 10 * 60_000;
/** All others are audited in turn, so many each time: a thousand ranges cost next to nothing, however many addresses they gave out. */
const AUDITED_IN_TURN = 20;

/** "lost" = nobody knows its token; "orphaned" = an object was committed with it, and does not hold the address. */
type RowFate = "kept" | "lost" | "orphaned";

export class AddressLedger {
  readonly releases: PendingReleases;
  readonly #supply: AddressSupply;
  readonly #inFlight = new Set<string>();
  /** outbox rows that the turn under way has added, with who waits for them */
  #added: PendingRelease[] = [];
  #waiters: ((sent: Promise<void>) => void)[] = [];
  #auditing: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;
  /** the sweep of those who asked for one while another was under way */
  #sweepingNext: Promise<void> | undefined;
  /** calls for addresses that each owner has not answered yet; what is answered is known here, and needs no audit */
  readonly #owing = new Map<string, number>();
  /** when each owner last failed to answer one in time (ms) */
  readonly #unansweredAt = new Map<string, number>();
  /** owners audited in this object's life, under the epoch of the configuration that they had then */
  readonly #audited = new Map<string, number>();
  /** the owner audited last in turn */
  #turn = "";

  constructor(
    private readonly kind: HolderKind,
    private readonly ports: LedgerPorts,
  ) {
    this.releases = new PendingReleases(ports);
    this.#supply = new AddressSupply({ ...ports, releases: this.releases, owner: (uid) => this.#asked(uid) });
  }

  /** Takes every wanted address or answers the first refusal with what was taken all the same; the caller gives that back. */
  async take(wanted: readonly WantedAddress[], deadline: number): Promise<{ taken: TakenAddress[]; results: SupplyResult[] }> {
    const results = await Promise.all(
      wanted.map((want) => {
        const tokens: string[] = [];
        const mintToken = (): string => {
          const token = orderedUuid(this.ports.clock.now(), this.ports.random);
          this.#inFlight.add(token);
          tokens.push(token);
          return token;
        };
        return this.#supply.take(want, deadline, mintToken).then((result) => {
          for (const token of tokens) if (!result.ok || result.taken.token !== token) this.#inFlight.delete(token);
          return result;
        });
      }),
    );
    return { taken: results.flatMap((result) => (result.ok ? [result.taken] : [])), results };
  }

  /** The operation that took these has ended: from now on only rows speak for them. */
  ended(taken: readonly TakenAddress[]): void {
    for (const { token } of taken) this.#inFlight.delete(token);
  }

  /** Whether an operation under way may still commit what it took under this token. */
  isInFlight(token: string): boolean {
    return this.#inFlight.has(token);
  }

  /** Inside the commit's transaction: the object at `key` holds `taken`. */
  hold(key: string, taken: TakenAddress): void {
    const { storage } = this.ports;
    const known = storage.allocationGet(taken.address);
    // What is left of an object that went without a release is in nobody's way. An object takes no address that it has, so one of the same key
    // is from before.
    if (known && known.token !== taken.token && (known.key === key || !this.#isHeld(known))) this.drop(known.key, known.address);
    storage.allocationAdd({ address: taken.address, key, token: taken.token, gen: taken.gen });
  }

  /** The token under which an object of this store holds the address (canonical text); undefined = none does. */
  tokenOf(address: string): string | undefined {
    return this.ports.storage.allocationGet(address)?.token;
  }

  /**
   * Whether the address was listed for seeding as this object's: then it is known under the object's uid, but the owner may have its row
   * under the token of a repair that came first and was not committed.
   */
  isSeeded(address: string, holder: Holder): boolean {
    return this.tokenOf(address) === holder.uid;
  }

  /** Inside the commit's transaction: the object at `key` no longer holds `address`. */
  drop(key: string, address: string): void {
    const { storage } = this.ports;
    const allocation = storage.allocationGet(address);
    if (allocation?.key !== key) return;
    storage.allocationDelete(address);
    this.#added.push(this.releases.add(allocation));
  }

  /** Whether an object took the address and does not hold it: it went without a release. */
  isOrphaned(address: string): boolean {
    const allocation = this.ports.storage.allocationGet(address);
    return allocation !== undefined && !this.#isHeld(allocation);
  }

  /** Inside a transaction: drops the address if it is orphaned. Answers whether it was. */
  dropOrphaned(address: string): boolean {
    const allocation = this.ports.storage.allocationGet(address);
    if (!allocation || this.#isHeld(allocation)) return false;
    this.drop(allocation.key, address);
    return true;
  }

  /** Inside a transaction that refuses a supplied operation: what it took goes back. */
  giveBack(taken: readonly TakenAddress[]): void {
    for (const address of taken) this.#added.push(this.releases.add(address));
  }

  /** Resolves when the releases that this turn adds were tried, or after RELEASE_WAIT_MS. To be asked for inside the turn. */
  releasesOfThisTurn(): Promise<void> {
    const sent = new Promise<void>((resolve) => this.#waiters.push((promise) => void promise.then(resolve, () => resolve())));
    return withTimeout(this.ports.clock, RELEASE_WAIT_MS, sent).catch(() => undefined);
  }

  #asked(uid: string): Pick<ServiceCIDRRpc, "allocate" | "seed"> {
    const { clock, owner } = this.ports;
    const stub = owner(uid);
    const answered = async <T>(call: Promise<T>): Promise<T> => {
      const askedAt = clock.now();
      let isInTime = false;
      this.#owing.set(uid, (this.#owing.get(uid) ?? 0) + 1);
      try {
        const answer = await call;
        isInTime = clock.now() - askedAt < RPC_TIMEOUT_MS;
        return answer;
      } finally {
        const owing = (this.#owing.get(uid) ?? 0) - 1;
        if (owing > 0) this.#owing.set(uid, owing);
        else this.#owing.delete(uid);
        if (!isInTime) this.#unansweredAt.set(uid, clock.now());
      }
    };
    return { allocate: (items) => answered(stub.allocate(items)), seed: (epoch, items) => answered(stub.seed(epoch, items)) };
  }

  /** After the turn's transaction: sends what it added. */
  turnCommitted(): void {
    if (this.#added.length === 0 && this.#waiters.length === 0) return;
    // A change of the turn may have failed alone, and its rows with it: then its object still holds the addresses.
    const added = this.#added.filter(({ token }) => this.ports.storage.releaseHas(token));
    const sent = added.length > 0 ? this.releases.send(added) : Promise.resolve();
    for (const waiter of this.#waiters) waiter(sent);
    this.#added = [];
    this.#waiters = [];
  }

  /** The turn's transaction was lost, and its outbox rows with it. */
  turnLost(): void {
    this.#added = [];
    // What the turn was to give back has no outbox row: all owners are audited anew.
    this.#audited.clear();
    for (const waiter of this.#waiters) waiter(Promise.resolve());
    this.#waiters = [];
    this.releases.reload();
  }

  /**
   * Looks for rows at owners that this store asked for and then forgot by a crash. Resolves when it is done, or after AUDIT_WAIT_MS: then it
   * goes on behind the caller. Never rejects.
   */
  audit(): Promise<void> {
    this.#auditing ??= this.#audit()
      .catch((error: unknown) => this.ports.recorder.log("warn", "audit of owners failed", { error: String(error) }))
      .finally(() => {
        this.#auditing = undefined;
      });
    return withTimeout(this.ports.clock, AUDIT_WAIT_MS, this.#auditing).catch(() => undefined);
  }

  /**
   * The same of every row of every owner, however old, for an operator who does not wait until its turn comes. What is under way may have
   * passed rows that were lost since: who asks then gets the next one. Never rejects.
   */
  auditAll(): Promise<void> {
    if (this.#sweeping) {
      this.#sweepingNext ??= this.#sweeping.then(() => {
        this.#sweepingNext = undefined;
        return this.auditAll();
      });
      return this.#sweepingNext;
    }
    this.#sweeping = this.#auditAll()
      .catch((error: unknown) => this.ports.recorder.log("warn", "audit of all owners failed", { error: String(error) }))
      .finally(() => {
        this.#sweeping = undefined;
      });
    return this.#sweeping;
  }

  async #auditAll(): Promise<void> {
    const { topology, clock, recorder } = this.ports;
    const { claims } = await topology.refresh();
    const pace = new Pace(clock, REST_URGENTLY);
    for (const uid of new Set(claims.map(({ ownerUid }) => ownerUid))) {
      try {
        for (let after: number | undefined = 0; after !== undefined;) {
          await pace.rest();
          after = await this.#sweepPage(uid, after);
        }
      } catch (error) {
        recorder.log("warn", "audit of an owner failed", { owner: uid, error: String(error) });
      }
    }
  }

  async #audit(): Promise<void> {
    const topology = await this.ports.topology.refresh();
    const epochs = new Map(topology.owners.map(({ uid, epoch }) => [uid, epoch]));
    const pace = new Pace(this.ports.clock, REST_GENTLY);
    for (const uid of this.#toAudit(topology)) {
      // Before its rows are read: a turn that is lost meanwhile says that they have to be read again.
      this.#audited.set(uid, epochs.get(uid) ?? 0);
      try {
        await this.#auditOwner(uid, pace);
      } catch (error) {
        this.#audited.delete(uid);
        this.ports.recorder.log("warn", "audit of an owner failed", { owner: uid, error: String(error) });
      }
    }
    for (const uid of this.#audited.keys()) if (!epochs.has(uid)) this.#audited.delete(uid);
    for (const uid of this.#unansweredAt.keys()) if (!epochs.has(uid)) this.#unansweredAt.delete(uid);
  }

  /** Owners that may have a row which this store does not know of, and some of the others in turn. */
  #toAudit({ claims, owners }: Topology): Set<string> {
    const lately = this.ports.clock.now() - UNANSWERED_LATELY_MS;
    const epochs = new Map(owners.map(({ uid, epoch }) => [uid, epoch]));
    const all = [...new Set(claims.map((claim) => claim.ownerUid))].sort();
    const chosen = new Set(
      all.filter(
        (uid) =>
          (this.#owing.get(uid) ?? 0) > 0 ||
          (this.#unansweredAt.get(uid) ?? 0) > lately ||
          this.#audited.get(uid) !== (epochs.get(uid) ?? 0),
      ),
    );
    const first = all.findIndex((uid) => uid > this.#turn);
    const inTurn = [...all.slice(Math.max(first, 0)), ...all.slice(0, Math.max(first, 0))].slice(0, AUDITED_IN_TURN);
    this.#turn = inTurn.at(-1) ?? "";
    for (const uid of inTurn) chosen.add(uid);
    return chosen;
  }

  /** Rests before each call, so that the owners of a thousand ranges, asked one after the other, keep nobody from the thread. */
  async #auditOwner(uid: string, pace: Pace): Promise<void> {
    const mark = `audited/${uid}`;
    const before = this.ports.storage.markGet(mark);
    for (let more = true; more;) {
      await pace.rest();
      more = await this.#auditPage(uid, mark, Infinity);
    }
    // What was in order once may not be any more (a store that came back from a copy): some of the old rows, too, over and over.
    let more = before > 0;
    for (let rows = 0; more && rows < SWEPT_ROWS; rows += AUDIT_ROWS) {
      await pace.rest();
      more = await this.#auditPage(uid, `swept/${uid}`, before);
    }
  }

  /** One page of rows behind the mark and up to a position; answers whether there are more. Behind the last one the sweep's mark starts over. */
  async #auditPage(uid: string, mark: string, end: number): Promise<boolean> {
    const { storage } = this.ports;
    const after = storage.markGet(mark);
    const rows = (await this.#rowsSince(uid, after)).filter(({ position }) => position <= end);
    // Decided in the turn that acts, after the await: commits of meanwhile are seen.
    const undecided = rows.find((row) => this.#inFlight.has(row.token));
    const last = rows.at(-1)?.position ?? after;
    const through = undecided ? undecided.position - 1 : rows.length < AUDIT_ROWS && end !== Infinity ? 0 : last;
    const decided = rows.filter((row) => undecided === undefined || row.position < undecided.position);
    this.#giveBackLost(uid, decided, through === after ? undefined : () => storage.markSet(mark, through));
    return undecided === undefined && rows.length === AUDIT_ROWS;
  }

  /** One page of rows, whatever the marks say; answers where the next one begins, if any. What is not decided yet is the marks' to see again. */
  async #sweepPage(uid: string, after: number): Promise<number | undefined> {
    const rows = await this.#rowsSince(uid, after);
    const decided = rows.filter((row) => !this.#inFlight.has(row.token));
    this.#giveBackLost(uid, decided);
    return rows.length === AUDIT_ROWS ? rows.at(-1)?.position : undefined;
  }

  async #rowsSince(uid: string, after: number): Promise<AddressRow[]> {
    const { clock, owner } = this.ports;
    return (await withTimeout(clock, RPC_TIMEOUT_MS, owner(uid).rowsSince(after, AUDIT_ROWS))).rows;
  }

  /** Gives back the rows that nobody knows or whose objects are gone, in one transaction with what `mark` writes, if anything. */
  #giveBackLost(uid: string, rows: readonly AddressRow[], mark?: () => void): void {
    const { storage, recorder } = this.ports;
    const found: Record<RowFate, AddressRow[]> = { kept: [], lost: [], orphaned: [] };
    for (const row of rows) found[this.#fateOf(row)].push(row);
    const { lost, orphaned } = found;
    if (lost.length + orphaned.length === 0 && !mark) return;
    try {
      storage.transaction(() => {
        for (const { address } of orphaned) this.dropOrphaned(address);
        // The row of an object that seeding had listed may be there under another token than the one that went with it.
        const left = orphaned.filter(({ token }) => !storage.releaseHas(token));
        this.giveBack([...lost, ...left].map((row) => ({ family: familyOfText(row.address), ...row })));
        mark?.();
      });
    } catch (error) {
      // Else the next audit, which finds the same rows, would send them twice and count them wrongly.
      this.turnLost();
      throw error;
    }
    this.turnCommitted();
    if (lost.length > 0) recorder.log("warn", "released addresses that a crash left behind", { owner: uid, addresses: lost.length });
    if (orphaned.length > 0) {
      recorder.log("warn", "released addresses whose objects went without a release", { owner: uid, addresses: orphaned.length });
    }
  }

  /** What becomes of a row that no operation under way may commit: by one read of the address's allocation, and one of the object that it names. */
  #fateOf({ address, token, holder }: AddressRow): RowFate {
    if (holder.kind !== this.kind) return "kept";
    const { storage } = this.ports;
    const allocation = storage.allocationGet(address);
    // The only row of an object that seeding has listed is known, whatever its token: repair adopts it.
    if (allocation && (allocation.token === token || allocation.token === holder.uid))
      return this.#isHeld(allocation) ? "kept" : "orphaned";
    return storage.releaseHas(token) ? "kept" : "lost";
  }

  #isHeld({ key, address }: Allocation): boolean {
    return this.ports.holds(key, address);
  }
}
