/**
 * The rules of garbage collection as decisions (upstream pkg/controller/garbagecollector). Nothing here acts.
 *
 *   owner is …      absent     its uid is not at its place (gone, another uid, another namespace)
 *                   waiting    being deleted with Foreground: its dependents go first
 *                   solid      anything else, also an owner that cannot be asked for: its dependents stay
 *
 *   owners of a dependent          decision
 *   one is solid                   it stays; references to absent and waiting owners are removed
 *   some waiting, has dependents   delete Foreground: its own dependents go before it, too
 *   none is solid                  delete Background (or as the object's own finalizer says)
 */
import type { OwnerReference } from "../../api/meta/kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "../../api/meta/object-meta";
import type { ObjectLinks } from "../../api/rpc/object-links";
import type { GraphNode, OwnerGraph } from "./graph";
import { hasFinalizer } from "./graph";

export type OwnerState = "absent" | "waiting" | "solid";

/** The state of the owner with this uid, given the object at its place. */
export function ownerState(uid: string, found: ObjectLinks | null): OwnerState {
  if (found?.uid !== uid) return "absent";
  return hasFinalizer(found, FINALIZER_FOREGROUND) ? "waiting" : "solid";
}

export type DependentDecision =
  | { action: "none" }
  /** the ownerReferences that stay */
  | { action: "unlink"; remaining: OwnerReference[] }
  | { action: "delete"; propagationPolicy: "Background" | "Foreground" | "Orphan" };

/** What happens to an object as it is now; `states` in the order of its ownerReferences. */
export function decideDependent(links: ObjectLinks, states: readonly OwnerState[], hasDependents: boolean): DependentDecision {
  // An object in deletion goes by its own deletion.
  if (links.deleting || links.ownerReferences.length === 0) return { action: "none" };
  if (states.includes("solid")) {
    const remaining = links.ownerReferences.filter((_, i) => states[i] === "solid");
    return remaining.length < links.ownerReferences.length ? { action: "unlink", remaining } : { action: "none" };
  }
  if (states.includes("waiting") && hasDependents) return { action: "delete", propagationPolicy: "Foreground" };
  if (links.finalizers.includes(FINALIZER_ORPHAN)) return { action: "delete", propagationPolicy: "Orphan" };
  if (links.finalizers.includes(FINALIZER_FOREGROUND)) return { action: "delete", propagationPolicy: "Foreground" };
  return { action: "delete", propagationPolicy: "Background" };
}

/**
 * The owners under Foreground deletion that wait for nobody any more. An owner waits for its dependents with blockOwnerDeletion, except
 * for those that wait for it in turn. The members of a circle go together, once nobody outside of it is waited for. (Upstream breaks a
 * circle when a deletion comes round to where it began, and so hangs when all members were deleted at once.)
 */
export function releasableOwners(graph: OwnerGraph): GraphNode[] {
  const waiting = new Set([...graph.served].filter(({ links }) => hasFinalizer(links, FINALIZER_FOREGROUND)));
  const blockers = new Map([...waiting].map((owner) => [owner, blockersOf(owner, graph, waiting)]));
  const releasable: GraphNode[] = [];
  for (const circle of components([...waiting], (node) => blockers.get(node) ?? [])) {
    const members = new Set(circle);
    if (circle.every((owner) => blockers.get(owner)?.every((blocker) => members.has(blocker))))
      for (const owner of circle) releasable.push(owner);
  }
  return releasable;
}

/** Whom the owner waits for, up to the first one that does not wait itself: that is in no circle, so the owner is not released. */
function blockersOf(owner: GraphNode, graph: OwnerGraph, waiting: ReadonlySet<GraphNode>): GraphNode[] {
  const found: GraphNode[] = [];
  for (const { node, blocks } of graph.dependentsOf(owner)) {
    if (!blocks) continue;
    found.push(node);
    if (!waiting.has(node)) break;
  }
  return found;
}

/** A node on the way through a graph: its number, and the lowest number that it leads back to. */
interface Visit<T> {
  readonly node: T;
  readonly index: number;
  low: number;
  /** no component has it yet */
  open: boolean;
  /** the neighbour that comes next */
  at: number;
}

/** Strongly connected components (Tarjan 1972). Without recursion, since chains of owners may be long. */
function components<T>(roots: readonly T[], next: (node: T) => readonly T[]): T[][] {
  const found: T[][] = [];
  const visits = new Map<T, Visit<T>>();
  const open: Visit<T>[] = [];
  const enter = (node: T): Visit<T> => {
    const visit = { node, index: visits.size, low: visits.size, open: true, at: 0 };
    visits.set(node, visit);
    open.push(visit);
    return visit;
  };
  for (const root of roots) {
    if (visits.has(root)) continue;
    const path = [enter(root)];
    for (let visit = path.at(-1); visit; visit = path.at(-1)) {
      const child = next(visit.node)[visit.at++];
      if (child !== undefined) {
        const seen = visits.get(child);
        if (!seen) path.push(enter(child));
        else if (seen.open) visit.low = Math.min(visit.low, seen.index);
        continue;
      }
      path.pop();
      const above = path.at(-1);
      if (above) above.low = Math.min(above.low, visit.low);
      if (visit.low === visit.index) found.push(closeThrough(open, visit));
    }
  }
  return found;
}

function closeThrough<T>(open: Visit<T>[], last: Visit<T>): T[] {
  const component = open.splice(open.lastIndexOf(last));
  for (const visit of component) visit.open = false;
  return component.map(({ node }) => node);
}
