/** What the Coordinator asks of its surroundings. */
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import type { IPAddressesRpc } from "../rpc/ip-addresses";
import type { ServiceCIDRRpc } from "../rpc/service-cidr";
import type { RangeOfServices } from "../../api/rpc/pool-book";
import type { ObjectKey } from "../../api/rpc/store";
import type { StoreExtension } from "../../api/store/state/extension";

/** The `servicecidrs` store in the same object: its transactions are the Coordinator's. */
export interface ServiceCIDRObjects {
  /**
   * Changes an object on the server's behalf. `mutate` runs in the transaction that commits, and answers the new object, or undefined for no
   * change. An object that is being deleted and has lost its last finalizer is removed. Answers false when no object has this key and uid, or
   * nothing changed.
   */
  updateInternal(key: ObjectKey, uid: string, mutate: (object: ServiceCIDR) => ServiceCIDR | undefined): Promise<boolean>;
  /**
   * Replaces the object with a new one of the same name and spec, without status; an object that is being deleted is removed. `work` runs
   * before, in the same transaction. Answers what is there now; undefined when no object has this key and uid, and nothing happened.
   */
  replaceInternal(key: ObjectKey, uid: string, work: () => void): Promise<ServiceCIDR | "gone" | undefined>;
  /** a copy of the stored object */
  read(name: string): ServiceCIDR | undefined;
  /** answers false when the name is taken */
  createInternal(object: ServiceCIDR): Promise<boolean>;
}

/** Other Durable Objects. A call that fails may have been applied, and may still be. */
export interface CoordinatorPeers {
  owner(uid: string): Pick<ServiceCIDRRpc, "configure" | "seed" | "release" | "countTaken" | "free" | "partition" | "copyOut" | "receive">;
  ipAddresses(): Pick<IPAddressesRpc, "claimPrefixes">;
}

/** Keeps ranges apart from the pools of addresses (pools/guarded-ranges). */
export interface PoolsBeside {
  /** the extension of the `servicecidrs` store, inside the comparison */
  around<Supply>(inner: StoreExtension<Supply>): StoreExtension<Supply>;
  /** ranges whose writes have not ended */
  readonly underWay: readonly RangeOfServices[];
  /** The pool that the range would meet, as the end of a sentence; undefined = none. Rejects where nobody can say. */
  met(range: RangeOfServices): Promise<string | undefined>;
}

/** The object's one alarm. */
export interface AlarmPort {
  /** asks to be called at `atMs` (milliseconds since the epoch) which replaces the time asked for before; durable with the writes of this turn */
  arm(atMs: number): void;
}
