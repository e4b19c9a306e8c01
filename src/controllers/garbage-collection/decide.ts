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
  const waiting = [...graph.served].filter(({ links }) => hasFinalizer(links, FINALIZER_FOREGROUND));
  const blockers = new Map(
    waiting.map((owner) => [
      owner,
      graph
        .dependentsOf(owner)
        .filter(({ blocks }) => blocks)
        .map(({ node }) => node),
    ]),
  );
  const releasable: GraphNode[] = [];
  for (const circle of components(waiting, (node) => blockers.get(node) ?? [])) {
    const members = new Set(circle);
    if (circle.every((owner) => blockers.get(owner)?.every((blocker) => members.has(blocker)))) {
      for (const owner of circle) if (blockers.has(owner)) releasable.push(owner);
    }
  }
  return releasable;
}

/** Strongly connected components (Tarjan 1972). Without recursion, since chains of owners may be long. */
function components<T>(roots: readonly T[], next: (node: T) => readonly T[]): T[][] {
  const found: T[][] = [];
  const facts = new Map<T, { index: number; low: number; open: boolean }>();
  const open: T[] = [];
  const enter = (node: T): { node: T; at: number } => {
    facts.set(node, { index: facts.size, low: facts.size, open: true });
    open.push(node);
    return { node, at: 0 };
  };
  for (const root of roots) {
    if (facts.has(root)) continue;
    const path = [enter(root)];
    for (let step = path.at(-1); step; step = path.at(-1)) {
      const fact = facts.get(step.node);
      const child = next(step.node)[step.at++];
      if (!fact) break;
      if (child !== undefined) {
        const seen = facts.get(child);
        if (!seen) path.push(enter(child));
        else if (seen.open) fact.low = Math.min(fact.low, seen.index);
        continue;
      }
      path.pop();
      const parent = path.at(-1);
      const above = parent && facts.get(parent.node);
      if (above) above.low = Math.min(above.low, fact.low);
      if (fact.low === fact.index) found.push(popThrough(open, step.node, facts));
    }
  }
  return found;
}

function popThrough<T>(open: T[], last: T, facts: ReadonlyMap<T, { open: boolean }>): T[] {
  const component = open.splice(open.lastIndexOf(last));
  for (const node of component) {
    const fact = facts.get(node);
    if (fact) fact.open = false;
  }
  return component;
}
