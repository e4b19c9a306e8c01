/**
 * Finds the addresses that a crash left behind, and gives them back through the ledger.
 *
 * A crash between take and commit leaves a row at the owner whose token nobody knows. The audit, behind a start and by cron, reads each owner's
 * rows since its last mark. It releases what is neither in flight, nor committed, nor pending. So it does with what is committed and whose
 * object went without a release: a row of the store's table was lost, or deleted by hand. Only the store that asked for an address decides
 * that (rule 6).
 */
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { GENTLE_TURNS, URGENT_TURNS } from "../../core/base/loop-turns";
import { Pace, REST_GENTLY, REST_URGENTLY } from "../../core/base/pause";
import type { Clock, Recorder } from "../../core/base/ports";
import { withTimeout } from "../../core/base/timeout";
import { familyOfText } from "../../core/net/family";
import type { Topology } from "../rpc/topology";
import type { AddressRow, HolderKind, ServiceCIDRRpc } from "../rpc/service-cidr";
import type { LedgerStorage } from "./ledger-storage";
import type { TopologySource } from "./topology-source";
import type { UnansweredCalls } from "./unanswered-calls";
import type { TakenAddress } from "./wanted-address";

/** What the audit asks of the ledger, whose docs say more. */
export interface AuditedLedger {
  isInFlight(token: string): boolean;
  dropOrphaned(address: string): boolean;
  giveBack(taken: readonly TakenAddress[]): void;
  isReleasing(token: string): boolean;
  sealReleases(): void;
  turnCommitted(): void;
  turnLost(): void;
}

export interface LedgerAuditPorts {
  /** whose rows the store asks for */
  kind: HolderKind;
  clock: Clock;
  recorder: Recorder;
  storage: LedgerStorage;
  topology: TopologySource;
  calls: UnansweredCalls;
  ledger: AuditedLedger;
  owner(uid: string): Pick<ServiceCIDRRpc, "rowsSince">;
  /** whether the stored object at `key` holds the address (canonical text) now */
  holds(key: string, address: string): boolean;
}

/** Rows of one audit answer: what owner and store do with it stays below 10 ms. */
const AUDIT_ROWS = 250;
/** Old rows of each owner that one audit looks at besides. */
const SWEPT_ROWS = 1_000;
/** How long the audit is waited for: cron waits for it twice after a start, and no longer than 30 s for a store. */
const AUDIT_WAIT_MS = 10_000;
/** Owners without a reason are audited in turn, so many each time: a thousand ranges cost next to nothing, however many addresses they gave out. */
const AUDITED_IN_TURN = 20;

/** "lost" = nobody knows its token; "orphaned" = an object was committed with it, and does not hold the address. */
type RowFate = "kept" | "lost" | "orphaned";

export class LedgerAudit {
  #auditing: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;
  /** the sweep of those who asked for one while another was under way */
  #sweepingNext: Promise<void> | undefined;
  /** owners audited in this object's life, under the epoch of the configuration that they had then */
  readonly #audited = new Map<string, number>();
  /** the owner audited last in turn */
  #turn = "";

  constructor(private readonly ports: LedgerAuditPorts) {}

  /** The next audit reads the new rows of all owners. */
  startOver(): void {
    this.#audited.clear();
  }

  /**
   * Looks for rows at owners that this store asked for and then forgot by a crash. Resolves when it is done, or after AUDIT_WAIT_MS: then it
   * goes on behind the caller. Never rejects.
   */
  some(): Promise<void> {
    this.#auditing ??= this.#auditSome()
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
  all(): Promise<void> {
    if (this.#sweeping) {
      this.#sweepingNext ??= this.#sweeping.then(() => {
        this.#sweepingNext = undefined;
        return this.all();
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
    const pace = new Pace(clock, REST_URGENTLY, URGENT_TURNS.loop(clock));
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

  async #auditSome(): Promise<void> {
    const topology = await this.ports.topology.refresh();
    const epochs = new Map(topology.owners.map(({ uid, epoch }) => [uid, epoch]));
    const { clock } = this.ports;
    const pace = new Pace(clock, REST_GENTLY, GENTLE_TURNS.loop(clock));
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
    this.ports.calls.keep(epochs);
  }

  /** Owners that may have a row which this store does not know of, and some of the others in turn. */
  #toAudit({ claims, owners }: Topology): Set<string> {
    const epochs = new Map(owners.map(({ uid, epoch }) => [uid, epoch]));
    const all = [...new Set(claims.map((claim) => claim.ownerUid))].sort();
    const chosen = new Set(all.filter((uid) => this.ports.calls.isOwing(uid) || this.#audited.get(uid) !== (epochs.get(uid) ?? 0)));
    const first = all.findIndex((uid) => uid > this.#turn);
    const inTurn = [...all.slice(Math.max(first, 0)), ...all.slice(0, Math.max(first, 0))].slice(0, AUDITED_IN_TURN);
    this.#turn = inTurn.at(-1) ?? "";
    for (const uid of inTurn) chosen.add(uid);
    return chosen;
  }

  /** Rests before each call, so that the owners of a thousand ranges, asked one after the other, keep nobody from the thread. */
  async #auditOwner(uid: string, pace: Pace): Promise<void> {
    const { storage } = this.ports;
    const [newMark, oldMark] = [`audited/${uid}`, `swept/${uid}`];
    const before = storage.numberGet(newMark);
    // What was in order once may not be any more (a store that came back from a copy): some of the old rows, too, over and over.
    let [hasOld, hasNew] = [before > 0, true];
    for (let read = 0; hasOld && read < SWEPT_ROWS; read += AUDIT_ROWS) {
      await pace.rest();
      const rows = await this.#rowsSince(uid, storage.numberGet(oldMark));
      hasOld = this.#auditRows(uid, { rows: rows.filter(({ position }) => position <= before), mark: oldMark, startsOver: true });
      // A page that is not full has every new row, so most audits need no further call.
      if (rows.length === AUDIT_ROWS) continue;
      this.#auditRows(uid, { rows: rows.filter(({ position }) => position > before), mark: newMark });
      hasNew = false;
    }
    while (hasNew) {
      await pace.rest();
      hasNew = this.#auditRows(uid, { rows: await this.#rowsSince(uid, storage.numberGet(newMark)), mark: newMark });
    }
  }

  /**
   * The rows of a page behind a mark, which moves; answers whether there are more. To be called in the turn in which the page came: commits of
   * meanwhile are seen. `startsOver`: the mark goes back to the first row behind the last one.
   */
  #auditRows(
    uid: string,
    { rows, mark, startsOver = false }: { rows: readonly AddressRow[]; mark: string; startsOver?: boolean },
  ): boolean {
    const { ledger, storage } = this.ports;
    const after = storage.numberGet(mark);
    const isFull = rows.length === AUDIT_ROWS;
    const undecided = rows.find((row) => ledger.isInFlight(row.token));
    const last = rows.at(-1)?.position ?? after;
    const through = undecided ? undecided.position - 1 : startsOver && !isFull ? 0 : last;
    const decided = rows.filter((row) => undecided === undefined || row.position < undecided.position);
    this.#giveBackLost(uid, decided, through === after ? undefined : () => storage.numberSet(mark, through));
    return undecided === undefined && isFull;
  }

  /** One page of rows, whatever the marks say; answers where the next one begins, if any. The marks stay before undecided rows. */
  async #sweepPage(uid: string, after: number): Promise<number | undefined> {
    const rows = await this.#rowsSince(uid, after);
    const decided = rows.filter((row) => !this.ports.ledger.isInFlight(row.token));
    this.#giveBackLost(uid, decided);
    return rows.length === AUDIT_ROWS ? rows.at(-1)?.position : undefined;
  }

  async #rowsSince(uid: string, after: number): Promise<AddressRow[]> {
    const { clock, owner } = this.ports;
    return (await withTimeout(clock, RPC_TIMEOUT_MS, owner(uid).rowsSince(after, AUDIT_ROWS))).rows;
  }

  /** Gives back the rows that nobody knows or whose objects are gone, in one transaction with what `mark` writes, if anything. */
  #giveBackLost(uid: string, rows: readonly AddressRow[], mark?: () => void): void {
    const { ledger, storage, recorder } = this.ports;
    const found: Record<RowFate, AddressRow[]> = { kept: [], lost: [], orphaned: [] };
    for (const row of rows) found[this.#fateOf(row)].push(row);
    const { lost, orphaned } = found;
    if (lost.length + orphaned.length === 0 && !mark) return;
    try {
      storage.transaction(() => {
        for (const { address } of orphaned) ledger.dropOrphaned(address);
        // Seeding may have listed the object: then its row may be there under another token than the one that went.
        const left = orphaned.filter(({ token }) => !ledger.isReleasing(token));
        ledger.giveBack([...lost, ...left].map((row) => ({ family: familyOfText(row.address), ...row })));
        mark?.();
        ledger.sealReleases();
      });
    } catch (error) {
      // Else the next audit, which finds the same rows, would send them twice and count them wrongly.
      ledger.turnLost();
      throw error;
    }
    ledger.turnCommitted();
    if (lost.length > 0) recorder.log("warn", "released addresses that a crash left behind", { owner: uid, addresses: lost.length });
    if (orphaned.length > 0) {
      recorder.log("warn", "released addresses whose objects went without a release", { owner: uid, addresses: orphaned.length });
    }
  }

  /** What becomes of a row that no operation under way may commit: by one read of the address's allocation, and one of the object that it names. */
  #fateOf({ address, token, holder }: AddressRow): RowFate {
    const { holds, kind, ledger, storage } = this.ports;
    if (holder.kind !== kind) return "kept";
    const allocation = storage.allocationGet(address);
    // The only row of an object that seeding has listed is known, whatever its token: repair adopts it.
    if (allocation && (allocation.token === token || allocation.token === holder.uid))
      return holds(allocation.key, address) ? "kept" : "orphaned";
    return ledger.isReleasing(token) ? "kept" : "lost";
  }
}
