/** IPAddress objects of Services: the services store writes and deletes them under the gens of the owners' rows (rules 4 and 8). */
import type { IPAddress } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import { ALLOCATOR_NAME, FAMILY_LABEL, MANAGED_BY_LABEL } from "../../api/registry/ip-addresses/allocator-labels";
import type { StoreTurn } from "../../api/store/state/store-turn";
import type { Clock, Recorder } from "../../core/base/ports";
import type { IPAddressDelete, IPAddressWrite } from "../rpc/ip-addresses";
import type { IPAddressRestore, WrittenAddress } from "../rpc/repair";
import type { AddressLedger } from "../ledger/address-ledger";
import { compareGens, type IPAddressStorage } from "./ip-address-storage";

export interface ManagedAddressesPorts {
  clock: Pick<Clock, "now">;
  recorder: Recorder;
  ledger: Pick<AddressLedger, "tokenOf">;
  storage: Pick<IPAddressStorage, "genGet" | "genPut">;
  uuid(): string;
}

export class ManagedAddresses {
  constructor(private readonly ports: ManagedAddressesPorts) {}

  /**
   * One internal write in a store turn: a higher gen replaces, a lower one changes nothing. The same writer again changes nothing either. It writes
   * when its object was deleted by hand, or is the one that repair found wrong (`seen`). Answers whether an object was written.
   */
  write(turn: StoreTurn, write: IPAddressWrite, seen?: Pick<IPAddressRestore, "object" | "isRight">): boolean {
    const known = this.ports.storage.genGet(write.address);
    const newer = known ? compareGens(known.gen, write.gen) : -1;
    const stored = turn.get(write.address);
    const isSeen = stored !== undefined && stored.uid === seen?.object;
    if (newer > 0 || (newer === 0 && (known?.token !== write.token || (stored && (!isSeen || seen.isRight))))) return false;
    this.ports.storage.genPut({ address: write.address, token: write.token, gen: write.gen });
    if (isSeen && seen.isRight) return false;
    if (stored) this.#replace(turn, write);
    turn.add(write.address, {
      metadata: {
        name: write.address,
        uid: this.ports.uuid(),
        creationTimestamp: rfc3339Seconds(this.ports.clock.now()),
        labels: { [FAMILY_LABEL]: write.family, [MANAGED_BY_LABEL]: ALLOCATOR_NAME },
      },
      spec: { parentRef: { resource: "services", namespace: write.namespace, name: write.name } },
    } as IPAddress);
    return true;
  }

  /** Where the object holds a row here, its owner has lost that row and given the address out again. The Service keeps the address. */
  #replace(turn: StoreTurn, { address, namespace, name }: IPAddressWrite): void {
    if (this.ports.ledger.tokenOf(address) !== undefined) {
      this.ports.recorder.log("error", "an IPAddress was replaced", { address, service: `${namespace}/${name}` });
    }
    turn.remove(address);
  }

  /** One internal delete: only on the equal token; a create of the same gen that comes later finds itself outdated. */
  delete(turn: StoreTurn, item: IPAddressDelete): void {
    const known = this.ports.storage.genGet(item.address);
    if (known && compareGens(known.gen, item.gen) > 0) return;
    const isWriter = known?.token === item.token;
    if (isWriter) turn.remove(item.address);
    if (isWriter || !known || compareGens(known.gen, item.gen) < 0) {
      this.ports.storage.genPut({ address: item.address, token: "", gen: item.gen });
    }
  }

  /** Under which token and gen the services store wrote the address, unless it has released it. */
  writerOf(address: string): WrittenAddress | null {
    const known = this.ports.storage.genGet(address);
    return known?.token ? known : null;
  }
}
