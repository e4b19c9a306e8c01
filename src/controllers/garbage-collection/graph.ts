/**
 * Who owns whom, by uid, across all served resources of a cluster. The graph keeps two kinds of objects: those with ownerReferences, and those
 * whose deletion waits for the collector (finalizers `orphan` and `foregroundDeletion`). An owner at rest is known by the references to it alone;
 * its store is asked when its life matters. A cluster of plain Services has an empty graph.
 */
import type { OwnerReference } from "../../api/meta/kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "../../api/meta/object-meta";
import type { LinkChange, ObjectLinks } from "../../api/rpc/object-links";
import type { ObjectKey } from "../../api/rpc/store";
import { storageKey } from "../../api/store/state/keys";

/** Where an object is: the store's name and the key in it. */
export interface Place {
  store: string;
  key: ObjectKey;
}

export interface GraphNode extends Place {
  links: ObjectLinks;
  /** to be examined: the node is new, or its owners changed */
  pending: boolean;
}

/** The place of the owner that a reference names; undefined = the reference cannot be resolved. */
export type ResolveOwner = (reference: OwnerReference, dependent: Place) => Place | undefined;

/** One text per place. */
export function placeId({ store, key }: Place): string {
  return `${store} ${storageKey(key)}`;
}

export function hasFinalizer(links: ObjectLinks, finalizer: string): boolean {
  return links.deleting && links.finalizers.includes(finalizer);
}

/** The deletion waits for the collector. */
function isServed({ links }: GraphNode): boolean {
  return hasFinalizer(links, FINALIZER_FOREGROUND) || hasFinalizer(links, FINALIZER_ORPHAN);
}

export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #byOwner = new Map<string, Set<GraphNode>>();
  readonly #pending = new Set<GraphNode>();
  readonly #served = new Set<GraphNode>();
  #touched = new Set<string>();

  constructor(private readonly resolve: ResolveOwner) {}

  get(id: string): GraphNode | undefined {
    return this.#nodes.get(id);
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** Nodes to be examined, those that were put off last. */
  get pending(): ReadonlySet<GraphNode> {
    return this.#pending;
  }

  /** Objects whose deletion waits for the collector. */
  get served(): ReadonlySet<GraphNode> {
    return this.#served;
  }

  /** Ids of nodes that changed since the last call: those to be stored, or dropped when `get` has none. */
  takeTouched(): Set<string> {
    const touched = this.#touched;
    this.#touched = new Set();
    return touched;
  }

  /** A node as it was stored. */
  restore(node: GraphNode): void {
    this.#insert({ ...node });
  }

  /** Applies one change of a store; a repeated change has no effect. */
  apply(store: string, change: LinkChange): void {
    if (change.type === "deleted") {
      const id = placeId({ store, key: change.key });
      if (this.#nodes.get(id)?.links.uid === change.uid) this.#remove(id);
      this.#suspect(change.uid);
      return;
    }
    const { links } = change;
    const id = placeId({ store, key: links.key });
    const before = this.#nodes.get(id);
    const same = before?.links.uid === links.uid ? before : undefined;
    const refersElsewhere = JSON.stringify(links.ownerReferences) !== JSON.stringify(same?.links.ownerReferences ?? []);
    const pending = (same?.pending ?? false) || refersElsewhere;
    const node: GraphNode = { store, key: links.key, links, pending: pending && links.ownerReferences.length > 0 };
    if (before) this.#remove(id);
    if (node.links.ownerReferences.length > 0 || isServed(node)) this.#insert(node);
    this.#touched.add(id);
    const startsWaiting = hasFinalizer(links, FINALIZER_FOREGROUND) && !(same && hasFinalizer(same.links, FINALIZER_FOREGROUND));
    if (startsWaiting) this.#suspect(links.uid);
  }

  /** After a full list of one store: nodes that the list lacks are gone. Every node is examined, because deletions may have been missed. */
  retain(store: string, listed: ReadonlySet<string>): void {
    for (const [id, node] of [...this.#nodes]) if (node.store === store && !listed.has(id)) this.#remove(id);
    for (const node of this.#nodes.values()) this.#wantExamined(node);
  }

  /** The objects whose ownerReferences name this object: its uid, at its place. */
  dependentsOf(owner: GraphNode): { node: GraphNode; blocks: boolean }[] {
    const id = placeId(owner);
    const found: { node: GraphNode; blocks: boolean }[] = [];
    for (const node of this.#byOwner.get(owner.links.uid) ?? []) {
      const references = node.links.ownerReferences.filter((reference) => {
        if (reference.uid !== owner.links.uid) return false;
        const place = this.resolve(reference, node);
        return place !== undefined && placeId(place) === id;
      });
      if (references.length > 0) found.push({ node, blocks: references.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true) });
    }
    return found;
  }

  /** The node has been examined, and no work is left. */
  settle(node: GraphNode): void {
    if (!this.#pending.delete(node)) return;
    node.pending = false;
    this.#touched.add(placeId(node));
  }

  /** The node cannot be examined now: others come first. */
  putOff(node: GraphNode): void {
    if (this.#pending.delete(node)) this.#pending.add(node);
  }

  #insert(node: GraphNode): void {
    this.#nodes.set(placeId(node), node);
    for (const { uid } of node.links.ownerReferences) {
      const dependents = this.#byOwner.get(uid);
      if (dependents) dependents.add(node);
      else this.#byOwner.set(uid, new Set([node]));
    }
    if (node.pending) this.#pending.add(node);
    if (isServed(node)) this.#served.add(node);
  }

  #remove(id: string): void {
    const node = this.#nodes.get(id);
    if (!node) return;
    this.#nodes.delete(id);
    this.#pending.delete(node);
    this.#served.delete(node);
    for (const { uid } of node.links.ownerReferences) {
      const dependents = this.#byOwner.get(uid);
      if (dependents?.delete(node) && dependents.size === 0) this.#byOwner.delete(uid);
    }
    this.#touched.add(id);
  }

  #suspect(ownerUid: string): void {
    for (const node of this.#byOwner.get(ownerUid) ?? []) this.#wantExamined(node);
  }

  #wantExamined(node: GraphNode): void {
    if (node.pending || node.links.ownerReferences.length === 0) return;
    node.pending = true;
    this.#pending.add(node);
    this.#touched.add(placeId(node));
  }
}
