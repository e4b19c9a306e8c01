/**
 * The store of a resource that needs nothing but keeping: namespaces, nodes, pods, endpoints, events, ConfigMaps, leases and the like. What controllers
 * want of some of them is here.
 */
import type { CoreEvent } from "../api/meta/kubernetes";
import type { ControllerRpc, EventsStoreRpc } from "../api/rpc/store";
import { ClusterStore, type ClusterStorePorts, type StorePeers } from "../api/store/cluster-store";
import { matchingKeys } from "../api/store/matching-keys";
import type { StoreExtension } from "../api/store/extension";
import { namespaceRange } from "../api/store/keys";
import { isExpired } from "./event-expiry";
import { closingNamespaces } from "./namespaces/namespace-closing";
import type { TerminatingNamespace } from "./namespaces/namespace-deletion";

/** Whom a plain store calls. Each function answers for one call. */
export interface PlainStorePeers extends StorePeers {
  /** the controllers that want to hear of every change of the resource */
  followers(): readonly ControllerRpc[];
  /** closes the namespace in every store of namespaced objects */
  closeNamespace(namespace: TerminatingNamespace): Promise<unknown>;
}

export interface PlainStorePorts extends ClusterStorePorts {
  peers: PlainStorePeers;
}

export class PlainStore extends ClusterStore implements Omit<EventsStoreRpc, "fetch"> {
  constructor(ports: PlainStorePorts) {
    super(ports, extensionOf(ports));
  }

  async expire(): Promise<number> {
    if (this.store.definition.resource !== "events") return 0;
    const now = this.store.clock.now();
    const keys = matchingKeys(this.store, { range: namespaceRange(""), matches: (event) => isExpired(event as CoreEvent, now) });
    await this.deletion.delete(keys);
    return keys.length;
  }
}

function extensionOf({ clock, definition, peers }: PlainStorePorts): StoreExtension<undefined> | undefined {
  const followed = peers.followers().length > 0 ? poking(peers) : undefined;
  if (definition.resource !== "namespaces") return followed;
  return closingNamespaces({ clock, close: (namespace) => peers.closeNamespace(namespace) }, followed);
}

/** Pokes the followers after every turn that changed a stored object; a lost poke is made up for by cron. */
function poking({ followers }: PlainStorePeers): StoreExtension<undefined> {
  let changed = false;
  return {
    committed(change) {
      changed ||= change.before !== undefined;
    },
    turnCommitted() {
      if (!changed) return;
      changed = false;
      for (const follower of followers()) void follower.poke().catch(() => undefined);
    },
    turnLost() {
      changed = false;
    },
  };
}
