/** What the Coordinator asks of the objects around it. */
import type { ServiceCIDR } from "../../api/meta/kubernetes";
import type { IPAddressesRpc } from "../rpc/ip-addresses";
import type { ServiceCIDRRpc } from "../rpc/service-cidr";
import type { ObjectKey } from "../../api/rpc/store";

/** The `servicecidrs` store in the same object: its transactions are the Coordinator's. */
export interface ServiceCIDRObjects {
  /**
   * Changes an object on the server's behalf. `mutate` runs in the transaction that commits and answers the new object, or undefined for no
   * change; an object that is being deleted and has lost its last finalizer is removed. False: no such object with this uid, or no change.
   */
  updateInternal(key: ObjectKey, uid: string, mutate: (object: ServiceCIDR) => ServiceCIDR | undefined): Promise<boolean>;
  /**
   * Puts an object with the same name and spec, and without status, in the place of this one; one that is being deleted is removed. `work` runs
   * before, in the same transaction. Answers what is there now; undefined: no such object with this uid, and nothing happened.
   */
  replaceInternal(key: ObjectKey, uid: string, work: () => void): Promise<ServiceCIDR | "gone" | undefined>;
  /** the object as it is stored, a copy */
  read(name: string): ServiceCIDR | undefined;
  /** false: the name is taken */
  createInternal(object: ServiceCIDR): Promise<boolean>;
}

/** Other Durable Objects. A call that fails may have been applied, and may still be. */
export interface CoordinatorPeers {
  owner(uid: string): Pick<ServiceCIDRRpc, "configure" | "seed" | "release" | "countTaken" | "free" | "partition" | "copyOut" | "receive">;
  ipAddresses(): Pick<IPAddressesRpc, "claimPrefixes">;
}

/** The object's one alarm. */
export interface AlarmPort {
  /** asks to be called at `atMs` (since the epoch) instead of at the time asked for before; durable with the writes of this turn */
  arm(atMs: number): void;
}
