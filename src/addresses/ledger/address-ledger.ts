/**
 * The addresses of one store's objects: taking them from owners for an operation, writing down who holds what with the object's
 * commit, and giving them back through the outbox. The audit (ledger-audit.ts) finds the ones that a crash left behind.
 *
 * Life of an address here (rules 1–7):
 *
 *   take ──► in flight (memory: token) ──► commit: allocation row + object, one transaction ──► drop: outbox row + object change
 *                    │                                                                                │
 *                    └── refused, timed out: outbox row in the turn that decides ────────────────────►└─► IPAddress, then owner's row
 */
import type { AllocationMetrics } from "../metrics/allocation-metrics";
import { RELEASE_WAIT_MS } from "../rpc/limits";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { assert } from "../../core/base/assert";
import { orderedUuid } from "../../core/base/ordered-uuid";
import type { Clock, Random, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import type { Holder, HolderKind, ServiceCIDRRpc } from "../rpc/service-cidr";
import { AddressSupply, type OtherStore, type Tenants } from "./address-supply";
import { LedgerAudit } from "./ledger-audit";
import type { Allocation, LedgerStorage } from "./ledger-storage";
import { PendingReleases } from "./pending-releases";
import type { IPAddressDelete } from "../rpc/ip-addresses";
import type { PendingRelease } from "./release-storage";
import type { TopologySource } from "./topology-source";
import { UnansweredCalls } from "./unanswered-calls";
import type { AskedAddress, SupplyResult, TakenAddress, WantedAddress } from "./wanted-address";

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
  tenants?: Tenants;
  otherStore: OtherStore;
  wakeAt(time: number): void;
}

export class AddressLedger {
  readonly releases: PendingReleases;
  readonly #supply: AddressSupply;
  readonly #inFlight = new Set<string>();
  /** what the turn under way gives back, by token */
  readonly #added = new Map<string, PendingRelease>();
  /** the same once it is written */
  #sealed: PendingRelease[] = [];
  /** what all changes of that turn wait for, once one does; `follow` says what sends the rows */
  #awaited: { sent: Promise<void>; follow(sending: Promise<void>): void } | undefined;
  readonly #audit: LedgerAudit;

  constructor(
    kind: HolderKind,
    private readonly ports: LedgerPorts,
  ) {
    this.releases = new PendingReleases(ports);
    const calls = new UnansweredCalls(ports.clock);
    this.#supply = new AddressSupply({ ...ports, releases: this.releases, owner: (uid) => calls.watched(uid, ports.owner(uid)) });
    this.#audit = new LedgerAudit({ ...ports, kind, calls, ledger: this });
  }

  /** Takes every wanted address. Beside a refusal stand the addresses that were taken all the same; the caller gives them back. */
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

  /**
   * For each address, or for "" any of the family: whether this store has given it back and the owner may not know yet. Tries what is pending
   * before its time. Only a question for "" asks the Coordinator for the newest topology, and rejects without it.
   */
  async pendingReleases(asked: readonly AskedAddress[]): Promise<boolean[]> {
    const { releases } = this;
    if (releases.count === 0) return asked.map(() => false);
    const { clock, topology: source } = this.ports;
    const isAny = asked.some(({ address }) => address === "");
    const topology = isAny ? await withTimeout(clock, RPC_TIMEOUT_MS, source.refresh()) : undefined;
    return asked.map((one) => {
      const isPending = releases.isPending(one, topology);
      if (isPending) void releases.hurry(one);
      return isPending;
    });
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
   * Whether the address was listed for seeding as this object's. Then it is known here under the object's uid. The owner may have its row under
   * another token: of a repair that came first and was not committed.
   */
  isSeeded(address: string, holder: Holder): boolean {
    return this.tokenOf(address) === holder.uid;
  }

  /** Inside the commit's transaction: the object at `key` no longer holds `address`. */
  drop(key: string, address: string): void {
    const { storage } = this.ports;
    const allocation = storage.allocationTake(address, key);
    if (allocation) this.#add(allocation);
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
    for (const address of taken) this.#add(address);
  }

  /** Whether the address that was taken under this token is being given back, by the turn under way, too. */
  isReleasing(token: string): boolean {
    return this.#added.has(token) || this.releases.has(token);
  }

  /** The last thing in the transaction of a turn: writes what it gives back. */
  sealReleases(): void {
    if (this.#added.size === 0) return;
    // A change of the turn may have failed alone, and was undone: then its object still holds the addresses.
    this.#sealed = [...this.#added.values()].filter(({ address, token }) => this.tokenOf(address) !== token);
    this.#added.clear();
    this.releases.write(this.#sealed);
  }

  /** Resolves when the releases that this turn adds were tried, or after RELEASE_WAIT_MS. To be asked for inside the turn. */
  releasesOfThisTurn(): Promise<void> {
    // One timer for all of them: a timer costs the runtime as much as a statement.
    this.#awaited ??= this.#await();
    return this.#awaited.sent;
  }

  /** After the turn's transaction: sends what it added. */
  turnCommitted(): void {
    assert(this.#added.size === 0, "what a turn gives back is written in its transaction");
    if (this.#sealed.length === 0 && !this.#awaited) return;
    const sending = this.#sealed.length > 0 ? this.releases.send(this.#sealed) : Promise.resolve();
    this.#awaited?.follow(sending);
    this.#sealed = [];
    this.#awaited = undefined;
  }

  /** The turn's transaction was lost, and its outbox rows with it. */
  turnLost(): void {
    this.#added.clear();
    this.#sealed = [];
    // What the turn was to give back has no outbox row: all owners are audited anew.
    this.#audit.startOver();
    this.#awaited?.follow(Promise.resolve());
    this.#awaited = undefined;
    this.releases.reload();
  }

  /**
   * Looks for rows at owners that this store asked for and then forgot by a crash. Resolves when it is done, or after some seconds: then it
   * goes on behind the caller. Never rejects.
   */
  audit(): Promise<void> {
    return this.#audit.some();
  }

  /** The same of every row of every owner, however old. Never rejects. */
  auditAll(): Promise<void> {
    return this.#audit.all();
  }

  #add(held: IPAddressDelete): void {
    this.#added.set(held.token, this.releases.made(held));
  }

  #await(): { sent: Promise<void>; follow(sending: Promise<void>): void } {
    let follow: (sending: Promise<void>) => void = () => undefined;
    const tried = new Promise<void>((resolve) => (follow = (sending) => void sending.then(resolve, () => resolve())));
    return { sent: withTimeout(this.ports.clock, RELEASE_WAIT_MS, tried).catch(() => undefined), follow };
  }

  #isHeld({ key, address }: Allocation): boolean {
    return this.ports.holds(key, address);
  }
}
