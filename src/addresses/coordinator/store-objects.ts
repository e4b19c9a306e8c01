/** The Coordinator's own writes of ServiceCIDR objects, through the store's turn and in its transaction. */
import { parseJson } from "../../core/encoding/exact-json";
import type { Random } from "../../core/base/ports";
import type { KubeObject, ServiceCIDR } from "../../api/meta/kubernetes";
import { rfc3339Seconds } from "../../api/meta/time";
import type { ObjectKey } from "../../api/rpc/store";
import { storageKey } from "../../api/store/state/keys";
import type { StoreEngine } from "../../api/store/engine/store-engine";
import type { Fence } from "./intents";
import type { ServiceCIDRObjects } from "./coordinator-ports";
import { isDeleting } from "./state/service-cidr-object";

type ServiceCIDRStore = Pick<StoreEngine<Fence>, "internally" | "clock" | "get"> & { random: Pick<Random, "uuid"> };

/** `store` is called at each write, because the store and the Coordinator need each other. */
export function storeObjects(store: () => ServiceCIDRStore): ServiceCIDRObjects {
  const newborn = (object: ServiceCIDR): ServiceCIDR => {
    const { clock, random } = store();
    return { ...object, metadata: { ...object.metadata, uid: random.uuid(), creationTimestamp: rfc3339Seconds(clock.now()) } };
  };
  return {
    updateInternal(key, uid, mutate) {
      return store().internally((turn) => {
        const name = storageKey(key);
        const stored = turn.get(name);
        if (stored?.uid !== uid) return false;
        const after = mutate(parseJson(stored.data) as ServiceCIDR);
        if (!after) return false;
        if (isDeleting(after) && !after.metadata?.finalizers?.length) turn.remove(name);
        else turn.put(name, after);
        return true;
      });
    },
    replaceInternal(key, uid, work) {
      return store().internally((turn) => {
        const name = storageKey(key);
        const stored = turn.get(name);
        if (stored?.uid !== uid) return undefined;
        work();
        const { status: _status, ...before } = parseJson(stored.data) as ServiceCIDR;
        turn.remove(name);
        if (isDeleting(before)) return "gone";
        const after = newborn(before);
        turn.put(name, after as KubeObject);
        return after;
      });
    },
    read(name) {
      const found = store().get({ namespace: "", name }, "");
      return found.ok ? (parseJson(found.object) as ServiceCIDR) : undefined;
    },
    createInternal(object: ServiceCIDR) {
      return store().internally((turn) => {
        const key: ObjectKey = { namespace: "", name: object.metadata?.name ?? "" };
        if (turn.get(storageKey(key))) return false;
        turn.put(storageKey(key), newborn(object) as KubeObject);
        return true;
      });
    },
  };
}
