/** Who has owned whom since when, noted in the transactions that say so: what the garbage collector of a simulated cluster is judged by. */
import type { KubeObject } from "../../../src/api/meta/kubernetes";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "../../../src/api/meta/object-meta";
import type { Journal } from "./platform/journal";
import type { Occurrence } from "./protocol-steps";

export const COLLECTOR_FINALIZERS = [FINALIZER_FOREGROUND, FINALIZER_ORPHAN] as const;
export type CollectorFinalizer = (typeof COLLECTOR_FINALIZERS)[number];

interface Begun {
  order: number;
  /** how often the collector had died */
  deaths: number;
}

export class SimKin {
  /** by `dependent owner blocks`: when the reference was made */
  readonly #links = new Map<string, number>();
  /** by `uid finalizer`: when the deletion of the object began to wait for this finalizer; kept when the object is gone */
  readonly #waits = new Map<string, Begun>();
  /** by uid of an owner: every dependent that has ever blocked it, also where the transaction was lost */
  readonly #blockers = new Map<string, Set<string>>();
  #order = 0;

  constructor(
    private readonly deaths: () => number,
    private readonly occurred: (what: Occurrence) => void,
  ) {}

  /** When the dependent's reference to the owner was made; undefined = there is none. */
  linkedAt(dependent: string, owner: string, blocks: boolean): number | undefined {
    return this.#links.get(linkId(dependent, owner, blocks));
  }

  /** When the deletion of the object began to wait for this finalizer, if it ever did. */
  waitsSince(uid: string, finalizer: CollectorFinalizer): number | undefined {
    return this.#waits.get(`${uid} ${finalizer}`)?.order;
  }

  /** Whether both are, or were at some time, in one circle of Foreground deletions: its members go together, one after the other. */
  haveWaitedForEachOther(one: string, other: string): boolean {
    return this.#hasWaitedFor(one, other) && this.#hasWaitedFor(other, one);
  }

  #hasWaitedFor(owner: string, blocker: string): boolean {
    const reached = new Set([owner]);
    for (const uid of reached) {
      if (this.waitsSince(uid, FINALIZER_FOREGROUND) === undefined) continue;
      if (this.#blockers.get(uid)?.has(blocker)) return true;
      for (const next of this.#blockers.get(uid) ?? []) reached.add(next);
    }
    return false;
  }

  /** A change of an object, inside its transaction. */
  note(journal: Journal, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const uid = (after ?? before)?.metadata?.uid ?? "";
    const [was, is] = [linksOf(before), linksOf(after)];
    for (const owner of after?.metadata?.ownerReferences ?? []) {
      if (owner.blockOwnerDeletion) this.#blockers.set(owner.uid, (this.#blockers.get(owner.uid) ?? new Set()).add(uid));
    }
    for (const id of is) if (!was.has(id)) put(journal, this.#links, id, ++this.#order);
    for (const id of was) if (!is.has(id)) put(journal, this.#links, id, undefined);
    for (const finalizer of COLLECTOR_FINALIZERS) {
      if (waits(after, finalizer) && !waits(before, finalizer)) {
        put(journal, this.#waits, `${uid} ${finalizer}`, { order: ++this.#order, deaths: this.deaths() });
      }
    }
    this.#noteStep(journal, before, after);
  }

  #noteStep(journal: Journal, before: KubeObject | undefined, after: KubeObject | undefined): void {
    const owners = (before?.metadata?.ownerReferences ?? []).map(({ uid }) => uid);
    const left = new Set(after?.metadata?.ownerReferences?.map(({ uid }) => uid));
    if (!after && owners.length > 0) journal.note("collect");
    if (after && owners.some((uid) => !left.has(uid))) {
      journal.note("unlink");
      if (left.size > 0) this.occurred("dependent kept by another owner");
      if (owners.some((uid) => !left.has(uid) && this.waitsSince(uid, FINALIZER_ORPHAN) !== undefined)) this.occurred("dependent orphaned");
    }
    if (COLLECTOR_FINALIZERS.every((finalizer) => !waits(before, finalizer) || waits(after, finalizer))) return;
    journal.note("finishDeletion");
    const begun = this.#waits.get(`${before?.metadata?.uid ?? ""} ${FINALIZER_FOREGROUND}`);
    if (begun && begun.deaths < this.deaths()) this.occurred("Foreground deletion ended after a crash");
  }
}

/** Whether the deletion of the object waits for this finalizer. */
export function waits(object: KubeObject | undefined, finalizer: CollectorFinalizer): boolean {
  const { deletionTimestamp, finalizers } = object?.metadata ?? {};
  return deletionTimestamp !== undefined && (finalizers?.includes(finalizer) ?? false);
}

function linksOf(object: KubeObject | undefined): Set<string> {
  const { uid = "", ownerReferences = [] } = object?.metadata ?? {};
  return new Set(ownerReferences.map((owner) => linkId(uid, owner.uid, owner.blockOwnerDeletion === true)));
}

function linkId(dependent: string, owner: string, blocks: boolean): string {
  return `${dependent} ${owner} ${blocks ? "blocks" : ""}`;
}

/** undefined = nothing stands there any more */
function put<T>(journal: Journal, map: Map<string, T>, key: string, value: T | undefined): void {
  const before = map.get(key);
  const set = (to: T | undefined): void => void (to === undefined ? map.delete(key) : map.set(key, to));
  journal.wrote(() => set(before));
  set(value);
}
