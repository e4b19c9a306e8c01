/**
 * The garbage collector of one cluster: pull what changed, decide, act, until there is nothing left to do. A round of it is the work of a round of the
 * frame (frame/frame.ts).
 *
 * - Rows say which nodes are to be examined (stored-graph.ts). A write that was not noted is decided again from the present objects, and found done.
 * - A transaction that fails ends the pass. The next one begins with the stored rows, because memory knows more than they do.
 * - A new object whose owners are there needs no more than a look at these.
 * - Before a deletion the object and its owners are read from their stores, and the write is bound to these versions. The graph only
 *   names the objects to examine.
 * - A round reads the stores that pokes named. It reads all of them in a pass by alarm or cron, and behind a pass that left work. It does while a deletion
 *   waits for the collector, too: only a complete pull knows every dependent.
 * - A finalizer is removed only after a complete pull that began after the deletion was known. By then the graph has every dependent from
 *   before the deletion. Later dependents have an absent owner and are collected as such.
 *   The deletion is known by uid and finalizer: a name may be used again, and a client may ask for another way.
 * - A store that did not answer in time is not asked again in the same pass.
 */
import { inParallel } from "../../core/base/in-parallel";
import { Pace, REST_MODESTLY } from "../../core/base/pause";
import { isTimeout } from "../../core/base/timeout";
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from "../../api/meta/object-meta";
import type { ObjectLinks, SoughtObject } from "../../api/rpc/object-links";
import type { StoreNews, WriteRequest } from "../../api/rpc/store";
import { PAGE_ENTRIES } from "../followed/followed-store";
import { isPassing } from "../followed/refusals";
import type { PassResult } from "../frame/controller";
import { Frame } from "../frame/frame";
import { WRITES_AT_ONCE } from "../frame/planned-work";
import type { Round } from "../frame/round";
import { decideDependent, ownerState, releasableOwners } from "./decide";
import { type Bereft, ForeignOwners } from "./foreign-owners";
import { type GraphNode, hasFinalizer, type Place, placeId } from "./graph";
import type { CollectedStore, GarbageCollectionPorts } from "./ports";
import { deleteAsReadRequest, ownerReferencesRequest, withoutFinalizerRequest } from "./requests";
import { type OwnerResolver, ownersIn } from "./resolve-owner";
import { StoredGraph } from "./stored-graph";

/** Objects examined between two pulls. */
const EXAMINE_MAX = 500;
/** Rounds of one pass: a chain of owners takes one round for each link. */
const ROUNDS_MAX = 50;
/** After this time the pass begins no call but those that end its round, and asks for another pass. */
const PASS_BUDGET_MS = 120_000;
/** After this time a round pulls one page of each store, so that slow stores leave time to act. */
const PULL_BUDGET_MS = 60_000;

/** The outcome of a write. `moot`: the object is gone, or refuses for good. `later`: examine the object again. */
type CollectorOutcome = "done" | "moot" | "later";

/** What a round has read. */
interface Pulled {
  /** every store that it had to read, to its end */
  readonly isRead: boolean;
  /** every store */
  readonly complete: boolean;
  /** waits of deletions that were known before */
  readonly known: ReadonlySet<string>;
}

/** The object at each place; a place is absent when its store could not be asked. */
type Found = ReadonlyMap<string, ObjectLinks | null>;

/** One text per object whose deletion waits for the collector, and for each way in which it does. */
function waitId(place: Place, uid: string, finalizer: string): string {
  return `${placeId(place)} ${uid} ${finalizer}`;
}

function waitsOf(node: GraphNode): string[] {
  const finalizers = [FINALIZER_FOREGROUND, FINALIZER_ORPHAN].filter((finalizer) => hasFinalizer(node.links, finalizer));
  return finalizers.map((finalizer) => waitId(node, node.links.uid, finalizer));
}

export class GarbageCollector {
  readonly #ports: GarbageCollectionPorts;
  readonly #stores: ReadonlyMap<string, CollectedStore>;
  readonly #ownerOf: OwnerResolver;
  readonly #rows: StoredGraph;
  readonly #foreign: ForeignOwners;
  /** when this pass began, in milliseconds since the epoch */
  #begunAt = 0;
  /** stores that did not answer in time in this pass */
  readonly #silent = new Set<string>();
  /** by uid of an owner whose dependents are to stay: up to which number they were tried in this pass, and whether one of them changed */
  readonly #orphaned = new Map<string, { to: number; hasChanged: boolean }>();
  readonly #frame: Frame;
  /** rounds of this pass */
  #rounds = 0;
  /** the round under way, or the last one */
  #current: Round | undefined;
  /** Another round of this pass has work. */
  #goesOn = false;
  /** The last pass left work. */
  #hasLeft = false;

  constructor(ports: GarbageCollectionPorts) {
    this.#ports = ports;
    this.#stores = new Map(ports.stores.map((store) => [store.name, store]));
    this.#ownerOf = ownersIn(new Set(this.#stores.keys()));
    this.#foreign = new ForeignOwners({ events: ports.events, search: (store, sought) => this.#search(store, sought) });
    this.#rows = new StoredGraph({ ...ports, ownerOf: this.#ownerOf }, (uid, namespace) => this.#foreign.deleted(uid, namespace));
    this.#frame = new Frame(ports, {
      rows: this.#rows,
      work: (round) => this.#round(round),
      goesOn: () => this.#goesOn,
      waiting: () => this.#rows.graph.pending,
      pace: () => new Pace(ports.clock, REST_MODESTLY),
      events: ports.events,
      budgetMs: PASS_BUDGET_MS,
    });
    this.#frame.load();
  }

  /** Objects remembered, for tests and logs. */
  get remembered(): number {
    return this.#rows.graph.size;
  }

  /** Those of them that are in memory. */
  get held(): number {
    return this.#rows.graph.held;
  }

  /** What a poke says; see PassHearing. */
  hears(news: readonly StoreNews[] | undefined): void {
    if (!news) this.#rows.mustRead();
    else for (const one of news) if (this.#stores.has(one.store)) this.#rows.hears(one);
  }

  get wants(): boolean {
    return this.#rows.wants;
  }

  /**
   * One pass. The wait for deletions of other objects leaves no work. Rejects when the stored rows cannot be read; the next pass tries again. `isPoked`:
   * only pokes ask for it.
   */
  async run(isPoked = false): Promise<PassResult> {
    if (!isPoked || this.#hasLeft) this.#rows.mustRead();
    this.#hasLeft = true;
    this.#begunAt = this.#ports.clock.now();
    this.#silent.clear();
    this.#orphaned.clear();
    this.#rounds = 0;
    if (this.#rows.isAhead) this.#rows.load();
    const result = await this.#frame.run();
    this.#hasLeft = result.left;
    return result;
  }

  async #round(round: Round): Promise<void> {
    this.#current = round;
    this.#goesOn = false;
    const known = new Set([...this.#rows.graph.served].flatMap(waitsOf));
    const readBefore = this.#rows.read;
    if (known.size > 0) this.#rows.mustRead();
    const behind = this.#ports.stores.filter(({ name }) => this.#rows.isBehind(name));
    const isRead = (await Promise.all(behind.map((store) => this.#pull(store)))).every(Boolean);
    const complete = isRead && behind.length === this.#ports.stores.length;
    round.noteRead(this.#rows.read - readBefore);
    if (this.#rows.isAhead) return round.leave();
    const examined = await this.#examine({ isRead, complete, known });
    if (this.#rows.isAhead) return round.leave();
    const served = complete ? await this.#serve(known) : { done: 0, left: false, more: false };
    round.note("done", examined + served.done);
    const fresh = [...this.#rows.graph.served].flatMap(waitsOf).some((wait) => !known.has(wait));
    this.#goesOn = (isRead && fresh) || examined + served.done > 0 || served.more;
    const isCut = this.#goesOn && (++this.#rounds >= ROUNDS_MAX || !round.mayGoOn());
    if (isCut || (!this.#goesOn && (!isRead || served.left || this.#rows.graph.pending > 0))) round.leave();
  }

  #hasTaken(durationMs: number): boolean {
    return this.#ports.clock.now() - this.#begunAt >= durationMs;
  }

  async #pull(store: CollectedStore): Promise<boolean> {
    if (this.#silent.has(store.name)) return false;
    try {
      return await this.#rows.pull(store, () => !this.#hasTaken(PULL_BUDGET_MS));
    } catch (error) {
      this.#couldNot("read", store.name, error);
      return false;
    }
  }

  /** Examines nodes whose owners may have changed; answers the number of finished ones. */
  async #examine(pulled: Pulled): Promise<number> {
    const pending = this.#rows.graph.firstPending(EXAMINE_MAX);
    if (pending.length === 0) return 0;
    for (const node of pending) this.#foreign.tellAcrossScopes(node, node.links);
    const knownOwners = await this.#read(pending.flatMap((node) => this.#ownersOf(node.links, node)));
    const kept = new Set(pending.filter((node) => this.#isKept(node, knownOwners)));
    for (const node of kept) this.#rows.graph.settle(node);
    const nodes = pending.filter((node) => !kept.has(node));
    const now = await this.#read(nodes);
    const owners = await this.#read(nodes.flatMap((node) => this.#ownersOf(now.get(placeId(node)) ?? null, node)));
    await this.#foreign.tellElsewhere(nodes.flatMap((node) => this.#bereft(node, now.get(placeId(node)), owners) ?? []));
    let done = kept.size;
    await inParallel(nodes, WRITES_AT_ONCE, async (node) => {
      if (this.#hasTaken(PASS_BUDGET_MS)) return;
      const written = await this.#examineOne(node, now, owners, pulled);
      if (written === "later") this.#rows.graph.putOff(node);
      else {
        this.#rows.graph.settle(node);
        done++;
      }
    });
    return done;
  }

  /** Whether all owners that are known of the node are there, so that the node need not be read: other owners are a change, which the next pull has. */
  #isKept(node: GraphNode, owners: Found): boolean {
    return node.links.ownerReferences.every((reference) => {
      const place = this.#ownerOf(reference, node);
      const owner = place && owners.get(placeId(place));
      return !place || (owner !== undefined && ownerState(reference.uid, owner) === "solid");
    });
  }

  /** The node with those of its owners that are absent from its namespace; undefined = none is, or it is another object by now. */
  #bereft(node: GraphNode, links: ObjectLinks | null | undefined, owners: Found): Bereft | undefined {
    if (links?.uid !== node.links.uid) return undefined;
    const absent = links.ownerReferences.flatMap((reference) => {
      const place = this.#ownerOf(reference, node);
      const owner = place && owners.get(placeId(place));
      if (!place || owner === undefined || place.key.namespace === "" || ownerState(reference.uid, owner) !== "absent") return [];
      return [{ reference, store: place.store }];
    });
    return absent.length > 0 ? { place: node, links, absent } : undefined;
  }

  #ownersOf(links: ObjectLinks | null, dependent: Place): Place[] {
    return (links?.ownerReferences ?? []).flatMap((reference) => this.#ownerOf(reference, dependent) ?? []);
  }

  async #examineOne(node: GraphNode, now: Found, owners: Found, { isRead, complete, known }: Pulled): Promise<CollectorOutcome> {
    const links = now.get(placeId(node));
    if (links === undefined) return "later";
    // Gone, or another object has its name. The history brings the change.
    if (links?.uid !== node.links.uid) return "moot";
    if (this.#ownersOf(links, node).some((owner) => !owners.has(placeId(owner)))) return "later";
    let isTooEarly = false;
    const states = links.ownerReferences.map((reference) => {
      const place = this.#ownerOf(reference, node);
      const state = place ? ownerState(reference.uid, owners.get(placeId(place)) ?? null) : "solid";
      if (state === "waiting" && place && !known.has(waitId(place, reference.uid, FINALIZER_FOREGROUND))) isTooEarly = true;
      return state;
    });
    // Dependents of the object may have come after the pull and before the deletion of its owner. The next pull has them.
    if (isRead && isTooEarly && !states.includes("solid")) return "later";
    // Without a complete pull the object may have unknown dependents.
    const decision = decideDependent(links, states, !complete || this.#rows.graph.firstDependentsOf(node, 1).length > 0);
    switch (decision.action) {
      case "none":
        return "done";
      case "unlink":
        return this.#write(node.store, (store) => ownerReferencesRequest(links, decision.remaining, store));
      case "delete":
        return this.#write(node.store, () => deleteAsReadRequest(links, decision.propagationPolicy));
    }
  }

  /**
   * Ends the deletions that wait for the collector, of owners whose deletion was known before the last pull. `more`: the next round has more of it, whether
   * or not something was done.
   */
  async #serve(known: ReadonlySet<string>): Promise<{ done: number; left: boolean; more: boolean }> {
    const isKnown = (node: GraphNode, finalizer: string): boolean => known.has(waitId(node, node.links.uid, finalizer));
    const results: CollectorOutcome[] = [];
    const served = (isCut: boolean, more: boolean) => ({
      done: results.filter((result) => result === "done").length,
      left: isCut || results.includes("later"),
      more,
    });
    let more = false;
    for (const owner of [...this.#rows.graph.served]) {
      if (!isKnown(owner, FINALIZER_ORPHAN) || !hasFinalizer(owner.links, FINALIZER_ORPHAN)) continue;
      if (this.#hasTaken(PASS_BUDGET_MS)) return served(true, more);
      const tried = await this.#orphanSome(owner);
      results.push(...tried);
      more ||= tried.length >= EXAMINE_MAX;
    }
    const released = releasableOwners(this.#rows.graph).filter((owner) => isKnown(owner, FINALIZER_FOREGROUND));
    await inParallel(released, WRITES_AT_ONCE, async (owner) => void results.push(await this.#release(owner, FINALIZER_FOREGROUND)));
    return served(false, more);
  }

  /**
   * Lets the next dependents of the owner go on without it, or the owner go where none is left. A pass tries each once. So those that refuse keep no other
   * one from its turn.
   */
  async #orphanSome(owner: GraphNode): Promise<CollectorOutcome[]> {
    const { graph } = this.#rows;
    const { to, hasChanged } = this.#orphaned.get(owner.links.uid) ?? { to: -1, hasChanged: false };
    const dependents = graph.firstDependentsOf(owner, EXAMINE_MAX, to);
    const last = dependents.at(-1);
    if (!last) {
      if (graph.firstDependentsOf(owner, 1).length === 0) return [await this.#release(owner, FINALIZER_ORPHAN)];
      // Some of them may have come since under numbers that were free again. If none has, the next pass changes nothing.
      return hasChanged ? ["later"] : [];
    }
    const reached = graph.numberOf(last) ?? to;
    const outcomes = await this.#orphan(dependents, owner);
    this.#orphaned.set(owner.links.uid, { to: reached, hasChanged: hasChanged || outcomes.includes("done") });
    return outcomes;
  }

  async #orphan(dependents: readonly GraphNode[], owner: GraphNode): Promise<CollectorOutcome[]> {
    const now = await this.#read(dependents);
    const results: CollectorOutcome[] = [];
    await inParallel(dependents, WRITES_AT_ONCE, async (node) => {
      const links = now.get(placeId(node));
      if (links === undefined) return void results.push("later");
      if (links?.uid !== node.links.uid) return void results.push("moot");
      const remaining = links.ownerReferences.filter(({ uid }) => uid !== owner.links.uid);
      if (remaining.length === links.ownerReferences.length) return void results.push("moot");
      results.push(await this.#write(node.store, (store) => ownerReferencesRequest(links, remaining, store)));
    });
    return results;
  }

  async #release(owner: GraphNode, finalizer: string): Promise<CollectorOutcome> {
    if (this.#hasTaken(PASS_BUDGET_MS)) return "later";
    const links = (await this.#read([owner])).get(placeId(owner));
    if (links === undefined) return "later";
    if (links?.uid !== owner.links.uid || !hasFinalizer(links, finalizer)) return "moot";
    return this.#write(owner.store, (store) => withoutFinalizerRequest(links, finalizer, store));
  }

  /** See ForeignOwnersPorts. */
  async #search(name: string, sought: SoughtObject[]): Promise<(string | null)[] | undefined> {
    const store = this.#stores.get(name);
    const all = sought.map((): string | null => null);
    try {
      for (let after = ""; ;) {
        if (!store || this.#silent.has(name) || this.#hasTaken(PASS_BUDGET_MS)) return undefined;
        const { found, next } = await store.whereabouts(sought, after);
        found.forEach((namespace, i) => (all[i] ??= namespace));
        if (next === "" || !all.includes(null)) return all;
        after = next;
      }
    } catch (error) {
      this.#couldNot("read", name, error);
      return undefined;
    }
  }

  async #write(name: string, request: (store: CollectedStore) => WriteRequest): Promise<CollectorOutcome> {
    const store = this.#stores.get(name);
    // Rows may tell of a store that was served once.
    if (!store) return "moot";
    if (this.#silent.has(name) || this.#hasTaken(PASS_BUDGET_MS)) return "later";
    const wanted = request(store);
    try {
      const result = await store.write(wanted);
      if (result.ok) {
        // What is deleted may have been an owner itself.
        this.#rows.wrote(name, result);
        return "done";
      }
      const { code, message = "" } = result.status;
      if (code === 404) return "moot";
      if (isPassing(result.status)) return "later";
      this.#ports.recorder.log("warn", "garbage collection was refused", { store: name, verb: wanted.verb, message });
      return "moot";
    } catch (error) {
      this.#couldNot("write", name, error);
      return "later";
    }
  }

  #couldNot(what: "read" | "write", store: string, error: unknown): void {
    if (isTimeout(error)) this.#silent.add(store);
    // A write without an answer may have been carried out.
    this.#rows.mustRead(store);
    this.#current?.mention(error);
    this.#ports.recorder.log("warn", `garbage collection could not ${what}`, { store, error: String(error) });
  }

  /** The objects at these places now; without those of stores that cannot be asked. */
  async #read(places: readonly Place[]): Promise<Found> {
    const byStore = new Map<string, Map<string, Place>>();
    for (const place of places) {
      const wanted = byStore.get(place.store) ?? new Map<string, Place>();
      byStore.set(place.store, wanted.set(placeId(place), place));
    }
    const found = new Map<string, ObjectLinks | null>();
    await Promise.all(
      [...byStore].map(async ([name, wanted]) => {
        const all = [...wanted];
        for (let at = 0; at < all.length; at += PAGE_ENTRIES) {
          if (this.#silent.has(name) || (at > 0 && this.#hasTaken(PASS_BUDGET_MS))) return;
          const page = all.slice(at, at + PAGE_ENTRIES);
          try {
            const links = await this.#stores.get(name)?.metadataOf(page.map(([, { key }]) => key));
            if (links) page.forEach(([id], i) => found.set(id, links[i] ?? null));
          } catch (error) {
            this.#couldNot("read", name, error);
          }
        }
      }),
    );
    return found;
  }
}
