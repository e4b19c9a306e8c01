/**
 * Sets of field paths as a tree: the fields that a manager owns, or that a write changed. A path may belong to the set without the paths
 * above or below it. FieldsV1 is the same tree in JSON. Source of format and order: structured-merge-diff fieldpath.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../schema/json/json-value";
import { canonicalElement, type PathElement, sortedElements, UNKNOWN_ELEMENT } from "./path-element";

/**
 * A node of the tree, which is also the set of the paths below. A complete set never changes: operations share subtrees.
 * Only the functions that build a new set call `insert` and `attach` on it.
 */
export class PathSet {
  /** the path to this node belongs to the set; false for the root, because nobody owns a whole object */
  owned = false;
  private children: Map<PathElement, PathSet> | undefined;

  /** The set of a FieldsV1 tree; undefined when it is malformed. Steps of unknown kinds are skipped. */
  static fromFieldsV1(tree: JsonValue | undefined): PathSet | undefined {
    const set = new PathSet();
    if (!set.read(tree)) return undefined;
    set.owned = false;
    return set;
  }

  /**
   * While building: adds the paths of a FieldsV1 tree; false = it is malformed. Steps that differ in their spelling alone are one node, which each of
   * them adds to: united one after the other they would be copied once for each spelling.
   */
  private read(tree: JsonValue | undefined): boolean {
    let hasBelow = false;
    if (tree !== null) {
      if (!isJsonObject(tree)) return false;
      for (const key of Object.keys(tree)) {
        if (key === ".") {
          this.owned = true;
          continue;
        }
        const element = canonicalElement(key);
        if (element === undefined) return false;
        if (element === UNKNOWN_ELEMENT) continue;
        if (!this.below(element).read(tree[key])) return false;
        hasBelow = true;
      }
    }
    // nothing below: the tree has this node only because the node is owned itself
    if (!hasBelow) this.owned = true;
    return true;
  }

  static leaf(): PathSet {
    const set = new PathSet();
    set.owned = true;
    return set;
  }

  static of(paths: Iterable<readonly PathElement[]>): PathSet {
    const set = new PathSet();
    for (const path of paths) set.insert(path);
    return set;
  }

  /** All paths of all sets: each set is read once, however many there are. */
  static unionOf(sets: readonly PathSet[]): PathSet {
    const [first, second] = sets;
    if (first === undefined) return new PathSet();
    if (second === undefined) return first;
    const result = new PathSet();
    const own = new Set<PathSet>();
    for (const set of sets) result.absorb(set, own);
    return result;
  }

  /** While building: adds the paths of a complete set. `own` are the nodes of this set that no other set shares. */
  private absorb(other: PathSet, own: Set<PathSet>): void {
    this.owned ||= other.owned;
    for (const [element, node] of other.entries()) {
      const twin = this.child(element);
      if (twin === undefined) this.attach(element, node);
      else if (twin !== node) {
        let mine = twin;
        if (!own.has(mine)) {
          mine = new PathSet();
          mine.owned = twin.owned;
          if (twin.children) mine.children = new Map(twin.children);
          own.add(mine);
          this.attach(element, mine);
        }
        mine.absorb(node, own);
      }
    }
  }

  isEmpty(): boolean {
    return !this.owned && this.children === undefined;
  }

  /** The set below `element`; undefined = `element` and all paths below are not in this set. */
  child(element: PathElement): PathSet | undefined {
    return this.children?.get(element);
  }

  /** Nodes directly below, in no particular order. */
  entries(): Iterable<[PathElement, PathSet]> {
    return this.children ?? [];
  }

  has(path: readonly PathElement[]): boolean {
    let node: PathSet | undefined = this as PathSet;
    for (const element of path) {
      node = node.child(element);
      if (node === undefined) return false;
    }
    return path.length > 0 && node.owned;
  }

  /** While building: adds a path. */
  insert(path: readonly PathElement[]): void {
    let node: PathSet = this as PathSet;
    for (const element of path) node = node.below(element);
    if (path.length > 0) node.owned = true;
  }

  /** While building: the node of a step, made where there is none. */
  private below(element: PathElement): PathSet {
    const children = (this.children ??= new Map<PathElement, PathSet>());
    let node = children.get(element);
    if (node === undefined) {
      node = new PathSet();
      children.set(element, node);
    }
    return node;
  }

  /** While building: puts a finished subtree below `element`; an empty one leaves no trace. */
  attach(element: PathElement, subtree: PathSet): void {
    if (!subtree.isEmpty()) (this.children ??= new Map()).set(element, subtree);
  }

  union(other: PathSet): PathSet {
    if (this === other || other.isEmpty()) return this;
    if (this.isEmpty()) return other;
    const result = new PathSet();
    result.owned = this.owned || other.owned;
    for (const [element, node] of this.entries()) {
      const twin = other.child(element);
      result.attach(element, twin ? node.union(twin) : node);
    }
    for (const [element, node] of other.entries()) if (this.child(element) === undefined) result.attach(element, node);
    return result;
  }

  /** The paths that belong to both. */
  intersection(other: PathSet): PathSet {
    const result = new PathSet();
    result.owned = this.owned && other.owned;
    for (const [element, node] of this.entries()) {
      const twin = other.child(element);
      if (twin) result.attach(element, node.intersection(twin));
    }
    return result;
  }

  /** The paths of this set that are not in `other`; paths above and below those of `other` stay. */
  difference(other: PathSet): PathSet {
    if (other.isEmpty()) return this;
    const result = new PathSet();
    result.owned = this.owned && !other.owned;
    for (const [element, node] of this.entries()) {
      const twin = other.child(element);
      result.attach(element, twin ? node.difference(twin) : node);
    }
    return result;
  }

  equals(other: PathSet): boolean {
    if (this === other) return true;
    if (this.owned !== other.owned || (this.children?.size ?? 0) !== (other.children?.size ?? 0)) return false;
    for (const [element, node] of this.entries()) {
      const twin = other.child(element);
      if (twin === undefined || !node.equals(twin)) return false;
    }
    return true;
  }

  /** All paths: for each node first those directly below it, then those deeper, each in the order of steps. */
  *paths(): Generator<PathElement[]> {
    yield* this.pathsBelow([]);
  }

  private *pathsBelow(prefix: readonly PathElement[]): Generator<PathElement[]> {
    const elements = sortedElements(this.children?.keys() ?? []);
    for (const element of elements) if (this.child(element)?.owned) yield [...prefix, element];
    for (const element of elements) {
      const node = this.child(element);
      if (node?.children) yield* node.pathsBelow([...prefix, element]);
    }
  }

  /** FieldsV1 with its keys in upstream's order. */
  toFieldsV1(): JsonObject {
    const tree: JsonObject = {};
    if (this.children === undefined) return tree;
    if (this.owned) tree["."] = {};
    for (const element of sortedElements(this.children.keys())) tree[element] = this.child(element)?.toFieldsV1() ?? {};
    return tree;
  }
}
