/**
 * Who owns whom, by uid, across all served resources of a cluster. The graph keeps two kinds of objects: those with ownerReferences, and those
 * whose deletion waits for the collector (finalizers `orphan` and `foregroundDeletion`). An owner at rest is known by the references to it alone;
 * its store is asked when its life matters. A cluster of plain Services has an empty graph.
 *
 * Memory has the nodes that are served, and those that are not stored yet. Of all others it has their places, their owners, and which are to be examined,
 * in some bytes for each: every slice of a cluster has an owner. A node is read when it is asked for.
 */
import type { OwnerReference } from "../../api/meta/kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "../../api/meta/object-meta";
import type { LinkChange, ObjectLinks } from "../../api/rpc/object-links";
import type { ObjectKey } from "../../api/rpc/store";
import { storageKey } from "../../api/store/state/keys";
import { NumberGroups } from "../../core/tables/number-groups";
import { textHash } from "../../core/tables/text-hash";
import { TextTable } from "../../core/tables/text-table";

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
  /** Nodes in memory: served ones, and those that changed since they were stored. */
  readonly #live = new Map<string, GraphNode>();
  /** names of stores: in the texts of `#places` stands their index here */
  readonly #stores: string[] = [];
  /** of all nodes */
  readonly #places = new TextTable();
  /** numbers of places, by the uid of the first owner */
  readonly #byOwner = new NumberGroups();
  /** ids by the uids of further owners: hardly an object has some */
  readonly #byFurtherOwner = new Map<string, Set<string>>();
  /** by number of the place: a stamp, which is another one when the node comes anew */
  readonly #pending = new Map<number, number>();
  /** of nodes that were handed out to be examined */
  readonly #stamps = new WeakMap<GraphNode, number>();
  #stamp = 0;
  readonly #served = new Set<GraphNode>();
  #touched = new Set<string>();

  /** @param stored the node of this id as it is stored */
  constructor(
    private readonly resolve: ResolveOwner,
    private readonly stored: (id: string) => GraphNode | undefined = () => undefined,
  ) {}

  get(id: string): GraphNode | undefined {
    return this.#live.get(id) ?? (this.#places.has(this.#placeOf(id)) ? this.stored(id) : undefined);
  }

  get size(): number {
    return this.#places.size;
  }

  /** nodes in memory, for tests */
  get held(): number {
    return this.#live.size;
  }

  /** the number of nodes to be examined */
  get pending(): number {
    return this.#pending.size;
  }

  /** The first ones of them; those that were put off are last. */
  firstPending(limit: number): GraphNode[] {
    const nodes: GraphNode[] = [];
    for (const [number, stamp] of this.#pending) {
      if (nodes.length >= limit) break;
      const node = this.get(this.#idAt(this.#places.textOf(number)));
      if (!node) continue;
      this.#stamps.set(node, stamp);
      nodes.push(node);
    }
    return nodes;
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

  /** The nodes of these ids are stored as they are, or dropped. */
  saved(ids: Iterable<string>): void {
    for (const id of ids) {
      const node = this.#live.get(id);
      if (node && !this.#served.has(node) && !this.#touched.has(id)) this.#live.delete(id);
    }
  }

  /** the number of nodes that changed since `takeTouched` */
  get touched(): number {
    return this.#touched.size;
  }

  /** A node as it was stored. */
  restore(node: GraphNode): void {
    this.#insert({ ...node });
    this.saved([placeId(node)]);
  }

  /**
   * Applies one change of a store; a repeated change has no effect. Between two steps what was touched may be saved. Dependents come before the owner: a
   * repeated change finds the rest of them, because nothing shows yet that the owner waits.
   */
  *apply(store: string, change: LinkChange): Iterable<void> {
    if (change.type === "deleted") {
      const id = placeId({ store, key: change.key });
      if (this.get(id)?.links.uid === change.uid) this.#remove(id);
      yield* this.#suspect(change.uid);
      return;
    }
    const { links } = change;
    const id = placeId({ store, key: links.key });
    if (hasFinalizer(links, FINALIZER_FOREGROUND) && !this.#isWaiting(id, links.uid)) yield* this.#suspect(links.uid);
    const before = this.get(id);
    const same = before?.links.uid === links.uid ? before : undefined;
    const refersElsewhere = JSON.stringify(links.ownerReferences) !== JSON.stringify(same?.links.ownerReferences ?? []);
    const pending = (same?.pending ?? false) || refersElsewhere;
    const node: GraphNode = { store, key: links.key, links, pending: pending && links.ownerReferences.length > 0 };
    if (before) this.#remove(id);
    if (node.links.ownerReferences.length > 0 || isServed(node)) this.#insert(node);
    this.#touched.add(id);
  }

  /**
   * After a full list of one store: nodes that the list lacks are gone. Every node is examined, because deletions may have been missed. Between two steps
   * what was touched may be saved.
   */
  *retain(store: string, listed: Pick<ReadonlySet<string>, "has">): Iterable<void> {
    for (const place of this.#places.texts()) {
      const id = this.#idAt(place);
      if (!id.startsWith(`${store} `) || listed.has(id)) continue;
      this.#remove(id);
      yield;
    }
    for (const place of this.#places.texts()) {
      const node = this.get(this.#idAt(place));
      if (node) this.#wantExamined(node);
      yield;
    }
  }

  /** The objects whose ownerReferences name this object: its uid, at its place. Each is read when it is asked for. */
  *dependentsOf(owner: GraphNode, behind = -1): Iterable<{ node: GraphNode; blocks: boolean }> {
    const id = placeId(owner);
    for (const node of this.#dependentsOf(owner.links.uid, behind)) {
      const references = node.links.ownerReferences.filter((reference) => {
        if (reference.uid !== owner.links.uid) return false;
        const place = this.resolve(reference, node);
        return place !== undefined && placeId(place) === id;
      });
      if (references.length > 0) yield { node, blocks: references.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true) };
    }
  }

  /** The first dependents of this object, at most `limit`. `behind`: those whose numbers are greater. */
  firstDependentsOf(owner: GraphNode, limit: number, behind = -1): GraphNode[] {
    const found: GraphNode[] = [];
    for (const { node } of this.dependentsOf(owner, behind)) if (found.push(node) >= limit) break;
    return found;
  }

  /** The number of a node, which has it until it changes. Dependents come in the order of theirs. */
  numberOf(node: GraphNode): number | undefined {
    return this.#places.numberOf(this.#placeOf(placeId(node)));
  }

  /** The node has been examined, and no work is left. */
  settle(node: GraphNode): void {
    const number = this.#isPending(node);
    if (number === undefined) return;
    this.#pending.delete(number);
    node.pending = false;
    this.#live.set(placeId(node), node);
    this.#touched.add(placeId(node));
  }

  /** The node cannot be examined now: others come first. */
  putOff(node: GraphNode): void {
    const number = this.#isPending(node);
    const stamp = number === undefined ? undefined : this.#pending.get(number);
    if (number === undefined || stamp === undefined) return;
    this.#pending.delete(number);
    this.#pending.set(number, stamp);
  }

  /** The number of the node's place, if it is pending as it was handed out. */
  #isPending(node: GraphNode): number | undefined {
    const number = this.#places.numberOf(this.#placeOf(placeId(node)));
    return number !== undefined && this.#pending.has(number) && this.#pending.get(number) === this.#stamps.get(node) ? number : undefined;
  }

  #insert(node: GraphNode): void {
    const id = placeId(node);
    const [first, ...further] = node.links.ownerReferences;
    const number = this.#places.add(this.#placeOf(id));
    if (first) this.#byOwner.add(textHash(first.uid), number);
    for (const { uid } of further) this.#byFurtherOwner.set(uid, (this.#byFurtherOwner.get(uid) ?? new Set()).add(id));
    this.#live.set(id, node);
    if (node.pending) this.#pending.set(number, ++this.#stamp);
    if (isServed(node)) this.#served.add(node);
  }

  #remove(id: string): void {
    const node = this.get(id);
    if (!node) return;
    const number = this.#places.delete(this.#placeOf(id));
    if (number !== undefined) {
      this.#byOwner.delete(number);
      this.#pending.delete(number);
    }
    for (const { uid } of node.links.ownerReferences.slice(1)) {
      const ids = this.#byFurtherOwner.get(uid);
      if (ids?.delete(id) && ids.size === 0) this.#byFurtherOwner.delete(uid);
    }
    this.#live.delete(id);
    this.#served.delete(node);
    this.#touched.add(id);
  }

  /** In the order of their numbers. */
  *#dependentsOf(ownerUid: string, behind = -1): Iterable<GraphNode> {
    const further = [...(this.#byFurtherOwner.get(ownerUid) ?? [])].flatMap((id) => this.#places.numberOf(this.#placeOf(id)) ?? []);
    const first = this.#byOwner.of(textHash(ownerUid));
    const numbers = further.length > 0 ? [...new Set([...first, ...further])].sort((a, b) => a - b) : first;
    for (const number of numbers) {
      const node = number > behind ? this.get(this.#idAt(this.#places.textOf(number))) : undefined;
      if (node?.links.ownerReferences.some(({ uid }) => uid === ownerUid)) yield node;
    }
  }

  /** Whether this object is known to wait for its dependents. */
  #isWaiting(id: string, uid: string): boolean {
    const links = this.get(id)?.links;
    return links?.uid === uid && hasFinalizer(links, FINALIZER_FOREGROUND);
  }

  /** Ids begin with the names of stores, of which there are few. */
  #placeOf(id: string): string {
    const end = id.indexOf(" ");
    const store = id.slice(0, end);
    let index = this.#stores.indexOf(store);
    if (index < 0) index = this.#stores.push(store) - 1;
    return `${index}${id.slice(end)}`;
  }

  #idAt(place: string): string {
    const end = place.indexOf(" ");
    return `${this.#stores[Number(place.slice(0, end))] ?? ""}${place.slice(end)}`;
  }

  *#suspect(ownerUid: string): Iterable<void> {
    for (const node of this.#dependentsOf(ownerUid)) {
      this.#wantExamined(node);
      yield;
    }
  }

  #wantExamined(node: GraphNode): void {
    if (node.pending || node.links.ownerReferences.length === 0) return;
    const id = placeId(node);
    const number = this.#places.numberOf(this.#placeOf(id));
    if (number === undefined) return;
    node.pending = true;
    this.#live.set(id, node);
    this.#pending.set(number, ++this.#stamp);
    this.#touched.add(id);
  }
}
