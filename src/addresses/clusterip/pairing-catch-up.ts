/**
 * Sends IPAddress objects again that a crash may have kept from being sent. The mark `paired` is the revision up to which all of them are
 * known to be stored. It is written when it lags, so a start sends some again that are there. A repeat changes nothing.
 */
import type { Service } from "../../api/meta/kubernetes";
import type { ChangeType } from "../../api/meta/watch-event";
import type { StoredObject, StoreStorage } from "../../api/store/state/store-storage";
import { familyOfText } from "../../core/net/family";
import type { IPAddressWrite } from "../rpc/ip-addresses";
import { heldAddresses } from "./address-plan";
import type { LedgerStorage } from "../ledger/ledger-storage";
import type { Pairing } from "./pairing";
import { ipAddressWrite } from "./service-supply";

export interface PairingCatchUpPorts {
  storage: Pick<LedgerStorage, "allocationGet" | "numberGet" | "numberSet">;
  pairing: Pick<Pairing, "committed" | "pairedThrough" | "write">;
  /** the store's newest revision */
  head(): number;
  /** changes up to it are no longer in the history */
  floor(): number;
}

/** The name of the mark. */
const PAIRED = "paired";
/** Changes that the mark may lag behind: what a start sends again at most, besides what is not stored. One call and a few reads each. */
const LAG_MAX = 50;
/** History entries or objects looked at together. */
const PAGE_ENTRIES = 1_000;

export class PairingCatchUp {
  /** Changes since the mark was moved, at most. Revisions would not do: a start leaves some out. */
  #changes = 0;
  #hasBegun = false;

  constructor(private readonly ports: PairingCatchUpPorts) {}

  /** A change is in the turn under way. */
  changed(): void {
    this.#changes++;
  }

  /**
   * Inside a turn's transaction: moves the mark if it lags. A mark behind the history would have every object sent again. Before `begin` it stays: what
   * stands behind it has not been sent again.
   */
  saveMark(): void {
    if (!this.#hasBegun) return;
    const { floor, head, pairing, storage } = this.ports;
    const mark = storage.numberGet(PAIRED);
    if (this.#changes <= LAG_MAX && mark >= floor()) return;
    const through = pairing.pairedThrough(head());
    if (through <= mark) return;
    storage.numberSet(PAIRED, through);
    this.#changes = 0;
  }

  /** The turn's transaction was lost, and with it where the mark was moved to. */
  turnLost(): void {
    this.#changes = Infinity;
  }

  /**
   * After a start. Until an object is written the mark stays before its change. Throws if the database cannot be read: then the mark stays, and another
   * call sends all of it.
   */
  begin(stored: Pick<StoreStorage, "historySince" | "objectScan">): void {
    const mark = this.ports.storage.numberGet(PAIRED);
    // The trimmed history is gone: every held address is sent again.
    if (mark < this.ports.floor()) this.#pairObjects(stored.objectScan("", ""));
    else this.#pairHistory(stored, mark);
    this.#hasBegun = true;
  }

  #pairHistory(history: Pick<StoreStorage, "historySince">, mark: number): void {
    let after = mark;
    for (;;) {
      const entries = history.historySince(after, PAGE_ENTRIES);
      const last = entries.at(-1);
      if (!last) return;
      this.#changes += entries.length;
      this.#pairAgain(entries);
      after = last.revision;
    }
  }

  #pairObjects(objects: Iterable<StoredObject>): void {
    let page: StoredObject[] = [];
    for (const object of objects) {
      page.push(object);
      if (page.length < PAGE_ENTRIES) continue;
      this.#pairAgain(page);
      page = [];
    }
    this.#pairAgain(page);
  }

  #pairAgain(entries: readonly { type?: ChangeType; revision: number; key: string; data: string }[]): void {
    const { pairing } = this.ports;
    const writes = entries.flatMap((entry) => this.#writesOf(entry));
    const oldest = entries.reduce((least, { revision }) => Math.min(least, revision), Infinity);
    if (writes.length > 0) pairing.committed(oldest, writes, pairing.write(writes));
  }

  /** The IPAddress writes for what a change of the history committed and the Service still holds. */
  #writesOf(entry: { type?: ChangeType; key: string; data: string }): IPAddressWrite[] {
    if (entry.type === "DELETED") return [];
    const service = JSON.parse(entry.data) as Service;
    return heldAddresses(service).flatMap((address) => {
      const allocation = this.ports.storage.allocationGet(address);
      if (allocation?.key !== entry.key) return [];
      return [ipAddressWrite(service, { family: familyOfText(address), ...allocation })];
    });
  }
}
