/** The controller "namespaces": empties and ends the namespaces that are being deleted. */
import type { Clock } from "../core/base/ports";
import type { Namespace } from "../api/meta/kubernetes";
import { qualifiedResource } from "../api/meta/status";
import { namespacesDefinition } from "../api/registry/namespaces/definition";
import type { CollectionRequest, StoreRpc } from "../api/rpc/store";
import { Controller, type ControllerPorts } from "./frame/controller";
import type { ControllerEntry } from "./controller-table";
import type { EnteredNames } from "./followed/used-stores";
import type { ContentStore } from "./namespaces/namespace-content";
import { namespaceDeletionPass } from "./namespaces/namespace-deletion-pass";

/** Objects of the cluster; each function makes a stub for one call. */
export interface NamespacesPeers {
  /** every store of the cluster */
  stores(): readonly ContentStore[];
  /** who was ever used; absent = every store may be */
  entered?: EnteredNames;
  namespaces(): Pick<StoreRpc, "get" | "write">;
  /** a list of the namespaces store; rejects when the store refuses it */
  listNamespaces(request: CollectionRequest): Promise<{ items?: Namespace[] }>;
}

export interface NamespacesSetting extends ControllerPorts {
  clock: Clock;
  peers: NamespacesPeers;
}

const NAMESPACES = qualifiedResource(namespacesDefinition);

/** Only a namespace that is being deleted is work. */
export const namespacesController: ControllerEntry<NamespacesSetting, Controller> = {
  follows: [NAMESPACES],
  filters: { [NAMESPACES]: ({ after }) => Boolean(after?.metadata?.deletionTimestamp) },
  upstream: "namespace-controller",
  make(setting) {
    const { clock, recorder, peers } = setting;
    const pass = namespaceDeletionPass({
      clock,
      recorder,
      stores: peers.stores(),
      entered: peers.entered,
      namespaces: () => peers.namespaces(),
      list: (request) => peers.listNamespaces(request),
    });
    return new Controller(setting, pass);
  },
};
