/**
 * Tells of ownerReferences across namespaces: the owner is an object of another namespace, or an object in a namespace owns a cluster-scoped one. The
 * Event is upstream's (pkg/controller/garbagecollector/graph_builder.go: reportInvalidNamespaceOwnerRef).
 *
 * | dependent             | owner                                             | Event | why                                                          |
 * |-----------------------|---------------------------------------------------|-------|--------------------------------------------------------------|
 * | in a namespace        | in the same one, or in none                       | no    | it is a valid reference                                      |
 * | in a namespace        | is, or was when it was deleted, in another one    | yes   | it owns nothing here, so the dependent goes or loses it      |
 * | in a namespace        | nowhere                                           | no    | an owner that is gone has dependents left, as after deletion |
 * | cluster-scoped        | of a kind in namespaces                           | yes   | no object can be meant, so nobody looks for one              |
 *
 * An owner is looked for by name and uid, and only if it is absent and no deletion of it was heard of. An ordinary deletion of an owner costs no call.
 * Each dependent is told of once for each owner, as long as the collector's object lives. A later one repeats the same Event, whose series counts.
 */
import type { EventReport } from "../../api/events/event-recorder";
import type { OwnerReference } from "../../api/meta/kubernetes";
import type { ObjectLinks, SoughtObject } from "../../api/rpc/object-links";
import type { Place } from "./graph";
import { isOwnedAcrossScopes, kindIn } from "./resolve-owner";

/** Owners that are looked for in one round: in a cluster of 1,000 namespaces each one costs 1,000 rows. The dependents of further ones go without an Event. */
const SOUGHT_MAX = 64;
/** What is remembered of owners, and of dependents: some 100 bytes each. */
const REMEMBERED_MAX = 5_000;

/** An object with owners that are absent from its namespace. */
export interface Bereft {
  place: Place;
  links: ObjectLinks;
  /** the absent owners of kinds in namespaces, and the store in which each would be */
  absent: readonly { reference: OwnerReference; store: string }[];
}

export interface ForeignOwnersPorts {
  events: { report(event: EventReport): void };
  /** The namespaces of objects of one store, in their order; null = in none. Undefined = the store could not be asked. Never rejects. */
  search(store: string, sought: SoughtObject[]): Promise<(string | null)[] | undefined>;
}

export class ForeignOwners {
  /** by uid: in which namespace an owner is, or was when it was deleted; null = in none */
  readonly #namespaces = new Map<string, string | null>();
  /** uids of a dependent and its owner */
  readonly #told = new Set<string>();

  constructor(private readonly ports: ForeignOwnersPorts) {}

  /** A store told of the deletion of an object, which may have been an owner. */
  deleted(uid: string, namespace: string): void {
    this.#learn(uid, namespace);
  }

  /** Tells of those references of an object that need no look: cluster-scoped objects have no owners in namespaces. */
  tellAcrossScopes(place: Place, links: ObjectLinks): void {
    if (place.key.namespace !== "" || links.deleting) return;
    for (const reference of links.ownerReferences) if (isOwnedAcrossScopes(reference, place)) this.#tell(place, links, reference);
  }

  /** Tells of the absent owners that are in other namespaces. To be called before the dependents are deleted. Never rejects. */
  async tellElsewhere(dependents: readonly Bereft[]): Promise<void> {
    const all = dependents.flatMap(({ place, links, absent }) =>
      links.deleting ? [] : absent.map(({ reference, store }) => ({ place, links, reference, store })),
    );
    await this.#find(all);
    for (const { place, links, reference } of all) {
      const namespace = this.#namespaces.get(reference.uid) ?? "";
      if (namespace !== "" && namespace !== place.key.namespace) this.#tell(place, links, reference);
    }
  }

  /** Looks for the owners of which nothing is known. */
  async #find(all: readonly { reference: OwnerReference; store: string }[]): Promise<void> {
    const unknown = new Map(all.filter(({ reference }) => !this.#namespaces.has(reference.uid)).map((one) => [one.reference.uid, one]));
    const byStore = new Map<string, SoughtObject[]>();
    for (const { store, reference } of [...unknown.values()].slice(0, SOUGHT_MAX)) {
      const { name, uid } = reference;
      byStore.set(store, [...(byStore.get(store) ?? []), { name, uid }]);
    }
    await Promise.all(
      [...byStore].map(async ([store, sought]) => {
        const found = await this.ports.search(store, sought);
        if (found) sought.forEach(({ uid }, i) => this.#learn(uid, found[i] ?? null));
      }),
    );
  }

  #learn(uid: string, namespace: string | null): void {
    if (this.#namespaces.size >= REMEMBERED_MAX) this.#namespaces.clear();
    this.#namespaces.set(uid, namespace);
  }

  #tell({ store, key }: Place, { uid }: ObjectLinks, owner: OwnerReference): void {
    const id = `${uid} ${owner.uid}`;
    if (this.#told.has(id)) return;
    if (this.#told.size >= REMEMBERED_MAX) this.#told.clear();
    this.#told.add(id);
    const { namespace, name } = key;
    const shown = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
    this.ports.events.report({
      regarding: { ...kindIn(store), ...(namespace && { namespace }), name, uid },
      type: "Warning",
      reason: "OwnerRefInvalidNamespace",
      action: "CheckOwnerReferences",
      note: `ownerRef ${shown} does not exist in namespace ${JSON.stringify(namespace)}`,
    });
  }
}
