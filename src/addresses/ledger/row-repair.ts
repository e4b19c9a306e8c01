/**
 * Brings a store's objects and the owners' rows of their addresses together again (rules 5–8, 13). Decided by the row, and looked at
 * again in the turn that acts:
 *
 * | the owner's row          | then                                                                         |
 * |--------------------------|------------------------------------------------------------------------------|
 * | carries the known token  | nothing is to be done                                                        |
 * | is gone                  | the address is taken again: new row, new gen                                 |
 * | was taken for the object | it is the object's allocation row again                                      |
 * | is of the other kind     | nothing: the object that holds it has to go first, and repair decides that   |
 * | was taken for another    | nothing: the audit gives lost rows back, then it is taken                    |
 *
 * On disk at a crash: between taking and the turn a row that the audit releases or, when seeding has listed its object since, the next repair
 * adopts.
 */
import { OPERATION_DEADLINE_MS } from "../../core/base/limits";
import { familyOfText } from "../../core/net/family";
import type { WholeResult } from "../rpc/repair";
import type { AddressRow, Holder } from "../rpc/service-cidr";
import type { StoreTurn } from "../../api/store/state/store-turn";
import type { AddressLedger } from "./address-ledger";
import type { TakenAddress } from "./wanted-address";
import { HeldRows, type HeldRowsPorts } from "./held-rows";
import type { Allocation, LedgerStorage } from "./ledger-storage";

export interface RowRepairPorts extends HeldRowsPorts {
  ledger: AddressLedger;
  storage: LedgerStorage;
  internally<T>(work: (turn: StoreTurn) => T): Promise<T>;
}

/** An object that holds an address (canonical text); `isHeld` is asked again in the turn that acts. */
export interface HoldingObject {
  key: string;
  address: string;
  holder: Holder;
  isHeld(): boolean;
}

/** `own`: the object has its row, under this token and gen; `isNew`: since now. */
export type RowOutcome = { own: Pick<TakenAddress, "token" | "gen">; isNew: boolean } | { own: undefined; result: WholeResult };

interface Case {
  object: HoldingObject;
  /** as it was when the case was opened */
  allocation: Allocation | undefined;
  outcome: RowOutcome | undefined;
}

export class RowRepair {
  readonly #rows: HeldRows;

  constructor(private readonly ports: RowRepairPorts) {
    this.#rows = new HeldRows(ports);
  }

  /** An outcome for each object, in their order. */
  async settle(objects: readonly HoldingObject[]): Promise<RowOutcome[]> {
    if (objects.length === 0) return [];
    const { storage } = this.ports;
    const cases = objects.map((object): Case => ({ object, allocation: storage.allocationGet(object.address), outcome: undefined }));
    const rows = await this.#rows.of(objects.map(({ address }) => address));
    const retake: Case[] = [];
    const adopt: { one: Case; row: AddressRow }[] = [];
    cases.forEach((one, i) => {
      const row = rows[i] ?? null;
      const { object, allocation } = one;
      if (row === null) retake.push(one);
      else if (row === "stale") one.outcome = refused("busy");
      else if (row === "unavailable") one.outcome = refused(row);
      else if (row.holder.kind !== object.holder.kind) one.outcome = refused(row.holder.kind === "ipaddress" ? "heldByObject" : "busy");
      else if (allocation && row.token === allocation.token) one.outcome = { own: allocation, isNew: false };
      else if (row.holder.uid === object.holder.uid) adopt.push({ one, row });
      else one.outcome = refused("busy");
    });
    await this.#adopt(adopt);
    await this.#retake(retake);
    return cases.map(({ outcome }) => outcome ?? refused("busy"));
  }

  /** A row that was taken for this very object is its own, unless somebody is about to commit or to release it. */
  async #adopt(found: readonly { one: Case; row: AddressRow }[]): Promise<void> {
    if (found.length === 0) return;
    const { ledger } = this.ports;
    await this.ports.internally(() => {
      for (const { one, row } of found) {
        if (ledger.isInFlight(row.token) || ledger.isReleasing(row.token) || !this.#isAsBefore(one)) one.outcome = refused("busy");
        else if (!one.object.isHeld()) one.outcome = refused("gone");
        else this.#hold(one, { family: familyOfText(row.address), ...row });
      }
    });
  }

  /** Takes addresses that objects hold without a row, and writes down who holds them if they still do. */
  async #retake(cases: readonly Case[]): Promise<void> {
    if (cases.length === 0) return;
    const { clock, ledger } = this.ports;
    const wanted = cases.map(({ object: { address, holder } }) => ({ family: familyOfText(address), address, holder, isHeld: true }));
    const { taken, results } = await ledger.take(wanted, clock.now() + OPERATION_DEADLINE_MS);
    try {
      await this.ports.internally(() =>
        cases.forEach((one, i) => {
          const result = results[i];
          if (!result?.ok) {
            one.outcome = refused(result?.reason === "outOfRange" ? "notReady" : result?.reason === "taken" ? "busy" : "unavailable");
          } else if (this.#isAsBefore(one) && one.object.isHeld()) this.#hold(one, result.taken);
          // Seeding has listed the object since, and its row at the owner is this one: to be adopted, for without it the address is free.
          else if (ledger.isSeeded(one.object.address, one.object.holder) && one.object.isHeld()) one.outcome = refused("busy");
          else {
            ledger.giveBack([result.taken]);
            one.outcome = refused("gone");
          }
        }),
      );
    } finally {
      ledger.ended(taken);
    }
  }

  #hold(one: Case, taken: TakenAddress): void {
    const { ledger, storage } = this.ports;
    if (one.allocation) storage.allocationDelete(one.object.address);
    ledger.hold(one.object.key, taken);
    one.outcome = { own: taken, isNew: true };
  }

  #isAsBefore({ object, allocation }: Case): boolean {
    return this.ports.storage.allocationGet(object.address)?.token === allocation?.token;
  }
}

function refused(result: WholeResult): RowOutcome {
  return { own: undefined, result };
}
