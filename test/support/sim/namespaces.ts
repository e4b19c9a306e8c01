/** The namespaces store of a simulated cluster: the product's, on tables of the simulation. */
import { PlainStore } from "../../../src/controllers/plain-store";
import { NAMESPACE_FINALIZER } from "../../../src/api/registry/namespaces/strategy";
import type { Namespace } from "../../../src/api/meta/kubernetes";
import type { CollectionRequest, WriteOptions, WriteRequest, WriteResult } from "../../../src/api/rpc/store";
import type { StoreExtension } from "../../../src/api/store/state/extension";
import type { SimPlatform } from "./platform/platform";
import { namespaceRange } from "../../../src/api/store/state/keys";
import { CLIENT, type Life, type SimNode } from "./platform/network";
import { contentNodes, contentOf, controllerOf } from "./peers";
import { storePorts } from "./stores";
import { overriding } from "../worlds/overriding";
import { DELETE } from "../worlds/store-world";

const OPTIONS: WriteOptions = { dryRun: false, fieldManager: "test", fieldValidation: "Strict", force: false, group: "", version: "v1" };

export class SimNamespaces {
  /** by name: how often the controller had died when the deletion began */
  readonly #begun = new Map<string, number>();

  constructor(private readonly cluster: SimPlatform) {}

  has(name: string): boolean {
    return this.cluster.tables.namespaces.store.objectGet(name) !== undefined;
  }

  /** names of those that are being deleted */
  get terminating(): string[] {
    const all = this.cluster.tables.namespaces.store.objectScan("", "").map(({ data }) => JSON.parse(data) as Namespace);
    return all.flatMap(({ metadata }) => (metadata?.deletionTimestamp ? [metadata.name ?? ""] : []));
  }

  create(name: string): Promise<WriteResult> {
    return this.#send({ verb: "create", namespace: "", object: JSON.stringify({ metadata: { name } }), options: OPTIONS });
  }

  remove(name: string): Promise<WriteResult> {
    return this.#send({ verb: "delete", key: { namespace: "", name }, options: DELETE });
  }

  /** What the controller of somebody else does once it has found the namespace empty. */
  async finalize(name: string): Promise<WriteResult | undefined> {
    const key = { namespace: "", name };
    const stored = this.cluster.tables.namespaces.store.objectGet(name);
    if (!stored) return undefined;
    const object = JSON.stringify({ ...(JSON.parse(stored.data) as Namespace), spec: { finalizers: [] } });
    return this.#send({ verb: "update", key, subresource: "finalize", object, options: OPTIONS });
  }

  /**
   * A round of somebody else's namespace controller, as kube-controller-manager's: deletes what it sees in namespaces that are being deleted, and ends
   * those in which it sees nothing. It closes no store.
   */
  async endAsSomebodyElse(): Promise<void> {
    const { network, plain, services, tables } = this.cluster;
    const content = [
      { node: services as unknown as SimNode<PlainStore>, store: tables.services.store },
      { node: plain.leases, store: tables.leases.store },
    ];
    for (const namespace of this.terminating) {
      const { from, to } = namespaceRange(namespace);
      const seen = content.flatMap(({ node, store }) =>
        store.objectScan(from, to).map(({ key }) => ({ node, name: key.slice(from.length) })),
      );
      const ended = seen.map(({ node, name }) =>
        network.call(CLIENT, node, (store) => store.write({ verb: "delete", key: { namespace, name }, options: DELETE })),
      );
      // Others go on between its list and its last write.
      await Promise.allSettled(ended);
      if (seen.length === 0) await this.finalize(namespace).catch(() => undefined);
    }
  }

  /** What a client may do next: create the namespace, or begin its deletion. Does not wait for it. */
  toggle(name: string): void {
    void (this.has(name) ? this.remove(name) : this.create(name)).catch(() => undefined);
  }

  #send(request: WriteRequest): Promise<WriteResult> {
    return this.cluster.network.call(CLIENT, this.cluster.plain.namespaces, (store) => store.write(request));
  }

  /** The brain of the namespaces store in one life. */
  made(life: Life): PlainStore {
    const { cluster } = this;
    const ports = storePorts(cluster, life, { group: "", resource: "namespaces", tables: cluster.tables.namespaces });
    const brain = new PlainStore({
      ...ports,
      peers: {
        ...ports.peers,
        followers: () => [controllerOf(cluster, life, "namespaces")],
        stores: () =>
          contentNodes(cluster).map((node) => ({
            definition: { group: "", resource: node.name, namespaced: true },
            store: () => contentOf(cluster, life, node),
          })),
        endsNamespaces: () => !cluster.off.has("namespaces"),
      },
      isFollowed: true,
      advertiseAddresses: [],
      extended: (extension) => this.#watched(extension),
    });
    cluster.sabotage.visited?.(brain);
    return brain;
  }

  #watched<Supply>(extension: StoreExtension<Supply>): StoreExtension<Supply> {
    return overriding(extension, {
      committed: (change, operation) => {
        extension.committed?.(change, operation);
        const { key, type, before, after } = change;
        const [was, is] = [before, after] as (Namespace | undefined)[];
        const { deaths } = this.cluster.controllerNodes.namespaces;
        if (is?.metadata?.deletionTimestamp && !was?.metadata?.deletionTimestamp) this.#begun.set(key, deaths);
        const isHeld = (namespace: Namespace | undefined): boolean => namespace?.spec?.finalizers?.includes(NAMESPACE_FINALIZER) ?? false;
        if (isHeld(was) && !isHeld(is)) this.cluster.tables.namespaces.journal.note("finalizeNamespace");
        else if (is && JSON.stringify(was?.status) !== JSON.stringify(is.status) && was?.metadata?.deletionTimestamp)
          this.cluster.tables.namespaces.journal.note("reportNamespace");
        if (type !== "DELETED") return;
        if ((this.#begun.get(key) ?? deaths) < deaths) this.cluster.network.occurred("namespace finalized after a crash");
        this.#begun.delete(key);
      },
    });
  }
}

/** A list of the namespaces store, as its object answers it. */
export function namespacesList(store: PlainStore, request: CollectionRequest): { items: Namespace[] } {
  const page = store.list(request);
  if (!page.ok) throw new Error(page.error.message);
  return { items: page.value.begun.rows.map((row) => JSON.parse(row) as Namespace) };
}
