/**
 * The services store's side of repair (rules 5–8, 13): what is proposed is looked at again here, in the turn that acts. Nothing
 * that a Service holds is ever given another address, and nothing is released that an operation under way may still commit.
 *
 * | the Service holds the address, and           | then                                                        |
 * |----------------------------------------------|-------------------------------------------------------------|
 * | its row is at the owner (row-repair.ts)      | the IPAddress is written again under the same gen, if wrong |
 * | the row had to be taken, or found again      | the IPAddress is written under the row's gen                |
 * | another Service took it and holds it         | duplicate: the other keeps it                               |
 * | one took it that went without a release      | it is given back, then taken again                          |
 *
 * On disk at a crash after the turn that wrote the row: no IPAddress yet. The next pass writes it.
 */
import { parseJson } from "../../core/encoding/exact-json";
import { RPC_TIMEOUT_MS } from "../../core/base/limits";
import { withTimeout } from "../../core/base/timeout";
import type { Service } from "../../api/meta/kubernetes";
import { familyOfText } from "../../core/net/family";
import type {
  GiveUpResult,
  HeldAddress,
  IPAddressRestore,
  RepairedAddresses,
  RepairedServices,
  WholeResult,
  WrittenAddress,
} from "../rpc/repair";
import { storageKey } from "../../api/store/state/keys";
import type { TakenAddress } from "../ledger/wanted-address";
import type { Pairing } from "./pairing";
import { heldAddresses } from "./address-plan";
import { type HoldingObject, RowRepair, type RowRepairPorts } from "../ledger/row-repair";

export interface ServiceRepairPorts extends RowRepairPorts {
  pairing: Pairing;
  /** the stored Service's JSON text */
  stored(key: string): string | undefined;
  ipAddresses(): Pick<RepairedAddresses, "restoreMany">;
}

export class ServiceRepair implements Pick<RepairedServices, "makeWhole" | "giveUp"> {
  readonly #rows: RowRepair;

  constructor(private readonly ports: ServiceRepairPorts) {
    this.#rows = new RowRepair(ports);
  }

  async makeWhole(items: HeldAddress[]): Promise<WholeResult[]> {
    const results = await this.#lookAt(items);
    const open = results.flatMap((result, i) => (result === undefined ? [i] : []));
    const outcomes = await this.#rows.settle(open.flatMap((i) => (items[i] ? [this.#holding(items[i])] : [])));
    const writes: { index: number; write: IPAddressRestore }[] = [];
    for (const [at, index] of open.entries()) {
      const [item, outcome] = [items[index], outcomes[at]];
      if (!item || !outcome) continue;
      if (!outcome.own) results[index] = outcome.result;
      else if (outcome.isNew || !item.isRight) writes.push({ index, write: restoreOf(item, outcome.own) });
    }
    await this.#write(writes, results);
    return results.map((result) => result ?? "whole");
  }

  async giveUp(items: WrittenAddress[]): Promise<GiveUpResult[]> {
    const { ledger, storage } = this.ports;
    return this.ports.internally(() =>
      items.map(({ address, token, gen }): GiveUpResult => {
        if (ledger.isInFlight(token)) return "busy";
        if (ledger.isReleasing(token)) return "pending";
        if (storage.allocationGet(address)?.token !== token) {
          ledger.giveBack([{ family: familyOfText(address), address, token, gen }]);
          return "released";
        }
        return ledger.dropOrphaned(address) ? "released" : "held";
      }),
    );
  }

  /** What is known of each without its row, as of after the last await; what a Service that is gone has left is given back before. */
  async #lookAt(items: readonly HeldAddress[]): Promise<(WholeResult | undefined)[]> {
    const { internally, ledger } = this.ports;
    const results = this.#look(items);
    const orphaned = items.filter(({ address }, i) => results[i] === "duplicate" && ledger.isOrphaned(address));
    if (orphaned.length === 0) return results;
    await internally(() => orphaned.forEach(({ address }) => ledger.dropOrphaned(address)));
    return this.#look(items);
  }

  /** Why nothing is to be done about it; undefined = that is open. */
  #look(items: readonly HeldAddress[]): (WholeResult | undefined)[] {
    const unpaired = this.ports.pairing.unpairedAddresses();
    return items.map((item) => {
      const key = storageKey(item);
      const allocation = this.ports.storage.allocationGet(item.address);
      if (!this.#holds(key, item.address, item.uid)) return "gone";
      if (allocation && allocation.key !== key) return "duplicate";
      return unpaired.has(item.address) ? "busy" : undefined;
    });
  }

  #holding({ namespace, name, uid, address }: HeldAddress): HoldingObject {
    const key = storageKey({ namespace, name });
    const holder = { kind: "service" as const, namespace, name, uid };
    return { key, address, holder, isHeld: () => this.#holds(key, address, uid) };
  }

  #holds(key: string, address: string, uid: string): boolean {
    const text = this.ports.stored(key);
    if (text === undefined) return false;
    const service = parseJson(text) as Service;
    return service.metadata?.uid === uid && heldAddresses(service).includes(address);
  }

  async #write(writes: readonly { index: number; write: IPAddressRestore }[], results: (WholeResult | undefined)[]): Promise<void> {
    if (writes.length === 0) return;
    const { clock, ipAddresses, recorder } = this.ports;
    try {
      const call = ipAddresses().restoreMany(writes.map(({ write }) => write));
      const written = await withTimeout(clock, RPC_TIMEOUT_MS, call);
      writes.forEach(({ index }, i) => (results[index] = written[i] ? "restored" : "whole"));
    } catch (error) {
      recorder.log("warn", "IPAddress objects could not be restored yet", { addresses: writes.length, error: String(error) });
      for (const { index } of writes) results[index] = "unavailable";
    }
  }
}

function restoreOf(item: HeldAddress, { token, gen }: Pick<TakenAddress, "token" | "gen">): IPAddressRestore {
  const { address, namespace, name, object, isRight } = item;
  return { address, family: familyOfText(address), token, gen, namespace, name, object, isRight };
}
