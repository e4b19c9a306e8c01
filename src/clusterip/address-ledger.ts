/**
 * The addresses of one store's objects: taking them from owners for an operation, writing down who holds what with the object's
 * commit, giving them back through the outbox, and finding the ones that a crash left behind.
 *
 * Life of an address here (PROTOCOL rules 1–7):
 *
 *   take ──► in flight (memory: token) ──► commit: allocation row + object, one transaction ──► drop: outbox row + object change
 *                    │                                                                                │
 *                    └── refused, timed out: outbox row in the turn that decides ────────────────────►└─► IPAddress, then owner's row
 *
 * A crash between take and commit leaves a row at the owner whose token nobody knows: the audit at start and by cron reads the
 * owner's rows since its last mark and releases what is neither in flight, nor committed, nor pending. Only the store that asked
 * for an address decides that (rule 6).
 */
import type { AllocationMetrics } from "../alloc/allocation-metrics";
import { RELEASE_WAIT_MS, RPC_TIMEOUT_MS } from "../base/limits";
import { orderedUuid } from "../base/ordered-uuid";
import type { Clock, Random, Recorder } from "../base/ports";
import { pause } from "../base/pause";
import { withTimeout } from "../base/timeout";
import type { Topology } from "../rpc/coordinator";
import type { AddressRow, HolderKind, ServiceCIDRRpc } from "../rpc/service-cidr";
import { AddressSupply, type SupplyResult, type TakenAddress, type WantedAddress } from "./address-supply";
import type { LedgerStorage } from "./ledger-storage";
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
  deleteAddresses?(items: IPAddressDelete[]): Promise<void>;
  wakeAt(time: number): void;
}

/** Rows of one audit answer. */
const AUDIT_ROWS = 1_000;
/** An owner that was asked for addresses is audited each time for as long: a call whose caller gave up may still arrive. */
const ASKED_LATELY_MS = 10 * 60_000;
/** Owners that were not asked lately are audited in turn, so many each time: a thousand idle ranges cost next to nothing. */
const AUDITED_IN_TURN = 20;

export class AddressLedger {
  readonly releases: PendingReleases;
  readonly #supply: AddressSupply;
  readonly #inFlight = new Set<string>();
  /** outbox rows that the turn under way has added, with who waits for them */
  #added: PendingRelease[] = [];
  #waiters: ((sent: Promise<void>) => void)[] = [];
  #auditing: Promise<void> | undefined;
  /** when each owner was last asked for an address (ms); one that is not here was not asked by this object in its life */
  readonly #askedAt = new Map<string, number>();
  /** owners audited in this object's life, under the epoch of the configuration that they had then */
  readonly #audited = new Map<string, number>();
  /** the owner audited last in turn */
  #turn = "";

  constructor(
    private readonly kind: HolderKind,
    private readonly ports: LedgerPorts,
  ) {
    this.releases = new PendingReleases(ports);
    const asked = (uid: string): ServiceCIDRRpc => {
      this.#askedAt.set(uid, ports.clock.now());
      return ports.owner(uid);
    };
    this.#supply = new AddressSupply({ ...ports, owner: asked });
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
    this.ports.storage.allocationAdd({ address: taken.address, key, token: taken.token, gen: taken.gen });
  }

  /** The token under which an object of this store holds the address (canonical text); undefined = none does. */
  tokenOf(address: string): string | undefined {
    return this.ports.storage.allocationGet(address)?.token;
  }

  /** Inside the commit's transaction: the object at `key` no longer holds `address`. */
  drop(key: string, address: string): void {
    const { storage } = this.ports;
    const allocation = storage.allocationGet(address);
    if (allocation?.key !== key) return;
    storage.allocationDelete(address);
    this.#added.push(this.releases.add(allocation));
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
    for (const waiter of this.#waiters) waiter(Promise.resolve());
    this.#waiters = [];
    this.releases.reload();
  }

  /** Looks for rows at owners that this store asked for and then forgot by a crash. Never rejects. */
  audit(): Promise<void> {
    this.#auditing ??= this.#audit()
      .catch((error: unknown) => this.ports.recorder.log("warn", "audit of owners failed", { error: String(error) }))
      .finally(() => {
        this.#auditing = undefined;
      });
    return this.#auditing;
  }

  async #audit(): Promise<void> {
    const topology = await this.ports.topology.refresh();
    const epochs = new Map(topology.owners.map(({ uid, epoch }) => [uid, epoch]));
    for (const uid of this.#toAudit(topology)) {
      try {
        await this.#auditOwner(uid);
        this.#audited.set(uid, epochs.get(uid) ?? 0);
      } catch (error) {
        this.ports.recorder.log("warn", "audit of an owner failed", { owner: uid, error: String(error) });
      }
    }
    for (const uid of this.#audited.keys()) if (!epochs.has(uid)) this.#audited.delete(uid);
    for (const uid of this.#askedAt.keys()) if (!epochs.has(uid)) this.#askedAt.delete(uid);
  }

  /** Owners that may have a row which this store does not know of, and some of the others in turn. */
  #toAudit({ claims, owners }: Topology): Set<string> {
    const lately = this.ports.clock.now() - ASKED_LATELY_MS;
    const epochs = new Map(owners.map(({ uid, epoch }) => [uid, epoch]));
    const all = [...new Set(claims.map((claim) => claim.ownerUid))].sort();
    const chosen = new Set(
      all.filter((uid) => (this.#askedAt.get(uid) ?? 0) > lately || this.#audited.get(uid) !== (epochs.get(uid) ?? 0)),
    );
    const first = all.findIndex((uid) => uid > this.#turn);
    const inTurn = [...all.slice(Math.max(first, 0)), ...all.slice(0, Math.max(first, 0))].slice(0, AUDITED_IN_TURN);
    this.#turn = inTurn.at(-1) ?? "";
    for (const uid of inTurn) chosen.add(uid);
    return chosen;
  }

  async #auditOwner(uid: string): Promise<void> {
    const mark = `audited/${uid}`;
    const before = this.ports.storage.markGet(mark);
    for (let more = true; more;) {
      const startedAt = this.ports.clock.now();
      more = await this.#auditPage(uid, mark, Infinity);
      // The owner's thread is for those who allocate, too.
      if (more) await pause(this.ports.clock, this.ports.clock.now() - startedAt);
    }
    // What was in order once may not be any more (a store that came back from a copy): a page of the old rows, too, over and over.
    if (before > 0) await this.#auditPage(uid, `swept/${uid}`, before);
  }

  /** One page of rows behind the mark and up to a position; answers whether there are more. Behind the last one the sweep's mark starts over. */
  async #auditPage(uid: string, mark: string, end: number): Promise<boolean> {
    const { clock, storage, owner, recorder } = this.ports;
    const after = storage.markGet(mark);
    const { rows: page } = await withTimeout(clock, RPC_TIMEOUT_MS, owner(uid).rowsSince(after, AUDIT_ROWS));
    const rows = page.filter(({ position }) => position <= end);
    // Decided in the turn that acts, after the await: commits of meanwhile are seen.
    const undecided = rows.find((row) => this.#inFlight.has(row.token));
    const last = rows.at(-1)?.position ?? after;
    const through = undecided ? undecided.position - 1 : rows.length < AUDIT_ROWS && end !== Infinity ? 0 : last;
    const lost = rows.filter((row) => (undecided === undefined || row.position < undecided.position) && this.#isLost(row));
    if (through !== after || lost.length > 0) {
      try {
        storage.transaction(() => {
          this.giveBack(lost.map((row) => ({ family: row.address.includes(":") ? "IPv6" : "IPv4", ...row })));
          storage.markSet(mark, through);
        });
      } catch (error) {
        // Else the next audit, which finds the same rows, would send them twice and count them wrongly.
        this.turnLost();
        throw error;
      }
      this.turnCommitted();
    }
    if (lost.length > 0) recorder.log("warn", "released addresses that a crash left behind", { owner: uid, addresses: lost.length });
    return undecided === undefined && rows.length === AUDIT_ROWS;
  }

  #isLost(row: AddressRow): boolean {
    if (row.holder.kind !== this.kind) return false;
    const { storage } = this.ports;
    return storage.allocationGet(row.address)?.token !== row.token && !storage.releaseHas(row.token);
  }
}
