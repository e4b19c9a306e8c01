/**
 * The services store's side of repair (PROTOCOL rules 5–8, 13): what is proposed is looked at again here, in the turn that acts. Nothing
 * that a Service holds is ever given another address, and nothing is released that an operation under way may still commit.
 *
 * | the Service holds the address, and | the owner's row            | then                                                          |
 * |------------------------------------|----------------------------|---------------------------------------------------------------|
 * | its allocation row is here         | carries the same token     | the IPAddress is written again under the same gen             |
 * | its allocation row is here         | is gone                    | the address is taken again: new row, new gen, IPAddress       |
 * | no allocation row                  | there is none              | the same: the Service was stored without the allocator        |
 * | no or another allocation row       | was taken for this Service | the row becomes its allocation row again, new IPAddress       |
 * | either                             | was taken for another one  | nothing: the audit gives lost rows back, then it is taken     |
 * | either                             | an IPAddress object's      | nothing: the object has to go first, and repair decides that  |
 * | another Service's allocation row   |                            | duplicate: the other keeps it                                 |
 *
 * On disk at a crash: between taking and the turn a row that the audit releases; after the turn an IPAddress that the next pass writes.
 */
import { OPERATION_DEADLINE_MS, RPC_TIMEOUT_MS } from "../base/limits";
import type { Clock, Recorder } from "../base/ports";
import { withTimeout } from "../base/timeout";
import type { Service } from "../meta/kubernetes";
import type { Topology } from "../rpc/coordinator";
import type {
  GiveUpResult,
  HeldAddress,
  IPAddressRestore,
  RepairedAddresses,
  RepairedOwner,
  RepairedServices,
  WholeResult,
  WrittenAddress,
} from "../rpc/repair";
import type { AddressRow } from "../rpc/service-cidr";
import { storageKey } from "../store/keys";
import type { StoreTurn } from "../store/resource-store";
import { ownerOf } from "../topology/route";
import type { AddressLedger } from "./address-ledger";
import type { TakenAddress } from "./address-supply";
import type { Allocation, LedgerStorage } from "./ledger-storage";
import type { Pairing } from "./pairing";
import { heldAddresses } from "./plan";
import type { TopologySource } from "./topology-source";

export interface ServiceRepairPorts {
  clock: Clock;
  recorder: Recorder;
  ledger: AddressLedger;
  storage: LedgerStorage;
  pairing: Pairing;
  topology: TopologySource;
  /** the stored Service's JSON text */
  stored(key: string): string | undefined;
  internally<T>(work: (turn: StoreTurn) => T): Promise<T>;
  owner(uid: string): Pick<RepairedOwner, "rowsOf">;
  ipAddresses(): Pick<RepairedAddresses, "restoreMany">;
}

type Family = TakenAddress["family"];

/** A proposal on its way; `result` is set as soon as it is known. */
interface Case {
  item: HeldAddress;
  key: string;
  /** as it was when the case was opened */
  allocation: Allocation | undefined;
  result: WholeResult | undefined;
  retake: boolean;
  /** the owner's row that was taken for this Service, which has forgotten it */
  adopt: AddressRow | undefined;
}

export class ServiceRepair implements RepairedServices {
  constructor(private readonly ports: ServiceRepairPorts) {}

  async makeWhole(items: HeldAddress[]): Promise<WholeResult[]> {
    const unpaired = this.ports.pairing.unpairedAddresses();
    const cases = items.map((item) => this.#open(item, unpaired));
    await this.#compareRows(cases.filter(isOpen));
    const adopted = await this.#adopt(cases);
    const retaken = await this.#retake(cases.filter((one) => one.retake));
    await this.#write([...this.#rewrites(cases.filter((one) => isOpen(one) && !one.retake && !one.adopt)), ...adopted, ...retaken]);
    return cases.map(({ result }) => result ?? "whole");
  }

  async giveUp(items: WrittenAddress[]): Promise<GiveUpResult[]> {
    const { ledger, storage } = this.ports;
    return this.ports.internally(() =>
      items.map(({ address, token, gen }): GiveUpResult => {
        if (ledger.isInFlight(token)) return "busy";
        if (storage.releaseHas(token)) return "released";
        const allocation = storage.allocationGet(address);
        if (allocation?.token !== token) {
          ledger.giveBack([{ family: familyOf(address), address, token, gen }]);
          return "released";
        }
        if (this.#holds(allocation.key, address)) return "held";
        ledger.drop(allocation.key, address);
        return "released";
      }),
    );
  }

  #open(item: HeldAddress, unpaired: ReadonlySet<string>): Case {
    const key = storageKey(item);
    const allocation = this.ports.storage.allocationGet(item.address);
    const result = !this.#holds(key, item.address, item.uid)
      ? "gone"
      : allocation && allocation.key !== key
        ? "duplicate"
        : unpaired.has(item.address)
          ? "busy"
          : undefined;
    return { item, key, allocation, result, retake: false, adopt: undefined };
  }

  #holds(key: string, address: string, uid?: string): boolean {
    const text = this.ports.stored(key);
    if (text === undefined) return false;
    const service = JSON.parse(text) as Service;
    return (uid === undefined || service.metadata?.uid === uid) && heldAddresses(service).includes(address);
  }

  /** Decides by the owners' rows; what an owner may not speak for waits. */
  async #compareRows(cases: readonly Case[]): Promise<void> {
    if (cases.length === 0) return;
    const { clock, topology, owner, recorder } = this.ports;
    let view: Topology;
    try {
      view = await withTimeout(clock, RPC_TIMEOUT_MS, topology.refresh());
    } catch {
      for (const one of cases) one.result = "unavailable";
      return;
    }
    const byOwner = new Map<string, Case[]>();
    for (const one of cases) {
      const uid = ownerOf(view, one.item.address) ?? "";
      const group = byOwner.get(uid);
      if (group) group.push(one);
      else byOwner.set(uid, [one]);
    }
    const asked = [...byOwner].map(async ([uid, group]) => {
      if (uid === "") return group.forEach((one) => (one.result = "busy"));
      try {
        const rows = await withTimeout(clock, RPC_TIMEOUT_MS, owner(uid).rowsOf(group.map(({ item }) => item.address)));
        group.forEach((one, i) => compareRow(one, rows[i] ?? null));
      } catch (error) {
        recorder.log("warn", "an owner could not be asked for its rows", { owner: uid, error: String(error) });
        for (const one of group) one.result = "unavailable";
      }
    });
    await Promise.all(asked);
  }

  #rewrites(cases: readonly Case[]): { one: Case; write: IPAddressRestore }[] {
    return cases.flatMap((one) => {
      const { item, allocation } = one;
      if (item.isRight || !allocation) return [];
      return [{ one, write: restoreOf(item, allocation) }];
    });
  }

  /** A row that was taken for this very Service and that nobody is about to commit or to release is its own. */
  async #adopt(cases: readonly Case[]): Promise<{ one: Case; write: IPAddressRestore }[]> {
    if (!cases.some((one) => one.adopt)) return [];
    const { ledger, storage } = this.ports;
    return this.ports.internally(() =>
      cases.flatMap((one) => {
        const { item, key, allocation, adopt: row } = one;
        if (!row) return [];
        const now = storage.allocationGet(item.address);
        if (ledger.isInFlight(row.token) || storage.releaseHas(row.token) || now?.token !== allocation?.token) {
          one.result = "busy";
          return [];
        }
        if (!this.#holds(key, item.address, item.uid)) {
          one.result = "gone";
          return [];
        }
        if (now) storage.allocationDelete(item.address);
        const { address, token, gen } = row;
        ledger.hold(key, { family: familyOf(address), address, token, gen });
        return [{ one, write: restoreOf(item, row) }];
      }),
    );
  }

  /** Takes addresses that Services hold without a row, and writes down who holds them if they still do. */
  async #retake(cases: readonly Case[]): Promise<{ one: Case; write: IPAddressRestore }[]> {
    if (cases.length === 0) return [];
    const { clock, ledger, storage } = this.ports;
    const wanted = cases.map(({ item: { namespace, name, uid, address } }) => ({
      family: familyOf(address),
      address,
      holder: { kind: "service" as const, namespace, name, uid },
    }));
    const { taken, results } = await ledger.take(wanted, clock.now() + OPERATION_DEADLINE_MS);
    try {
      return await this.ports.internally(() =>
        cases.flatMap((one, i) => {
          const result = results[i];
          if (!result?.ok) {
            one.result = result?.reason === "outOfRange" ? "notReady" : result?.reason === "taken" ? "busy" : "unavailable";
            return [];
          }
          const { item, key, allocation } = one;
          const now = storage.allocationGet(item.address);
          if (now?.token !== allocation?.token || !this.#holds(key, item.address, item.uid)) {
            ledger.giveBack([result.taken]);
            one.result = "gone";
            return [];
          }
          if (now) storage.allocationDelete(item.address);
          ledger.hold(key, result.taken);
          return [{ one, write: restoreOf(item, result.taken) }];
        }),
      );
    } finally {
      ledger.ended(taken);
    }
  }

  async #write(writes: readonly { one: Case; write: IPAddressRestore }[]): Promise<void> {
    if (writes.length === 0) return;
    const { clock, ipAddresses, recorder } = this.ports;
    try {
      const call = ipAddresses().restoreMany(writes.map(({ write }) => write));
      const written = await withTimeout(clock, RPC_TIMEOUT_MS, call);
      writes.forEach(({ one }, i) => (one.result = written[i] ? "restored" : "whole"));
    } catch (error) {
      recorder.log("warn", "IPAddress objects could not be restored yet", { addresses: writes.length, error: String(error) });
      for (const { one } of writes) one.result = "unavailable";
    }
  }
}

function isOpen(one: Case): boolean {
  return one.result === undefined;
}

function compareRow(one: Case, row: AddressRow | null | "stale"): void {
  if (row === "stale") one.result = "busy";
  else if (row === null) one.retake = true;
  else if (row.holder.kind === "ipaddress") one.result = "heldByObject";
  else if (row.token !== one.allocation?.token) {
    if (row.holder.uid === one.item.uid) one.adopt = row;
    else one.result = "busy";
  }
}

function restoreOf(item: HeldAddress, { token, gen }: { token: string; gen: TakenAddress["gen"] }): IPAddressRestore {
  const { address, namespace, name, object, isRight } = item;
  return { address, family: familyOf(address), token, gen, namespace, name, object, isRight };
}

function familyOf(address: string): Family {
  return address.includes(":") ? "IPv6" : "IPv4";
}
