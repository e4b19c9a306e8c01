/**
 * The pass of the controller of Clusters: makes, configures and deletes the cluster behind each object, and says in its status what came of it. Its rows say
 * of each object which step it needs; the object itself is read again before a step.
 *
 *   dies behind                     what there is                                   what the next pass does
 *   look, open                      perhaps a cluster that its status lacks         opens again, which changes nothing
 *   setControllers, setQuotas,      the cluster, and the record tells its objects   the same again
 *   bootstrap                       the cluster, and the record tells its objects   the same again
 *   the status                      everything                                      finds the step done, or takes the annotation of an adopted one away
 *   the object of an adopted one    it, with the annotation of the life             looks, and begins nothing; takes the list of controllers
 *   look of an end                  the cluster, or its deletion                    looks again
 *   the range of a pool             see cluster-ranges.ts
 *   remove                          a record that works off the deletion            asks how far that is
 *   ended                           no cluster                                      says so once more
 *   the finalizer                   no cluster, and no object                       finds nothing to do
 *
 * Clusters that have no object come in by the list of all clusters: those of an earlier release, and of one that runs beside this one. An object whose
 * cluster somebody deleted past it goes, too: it would begin an empty cluster otherwise.
 *
 * The status says which life of the name the object stands for, and the end of the object ends that life alone. An object may be older than what has its
 * name: its store was brought back in time, or somebody took its finalizer away.
 */
import { readObject } from "../api/meta/read-object";
import { semanticEqual } from "../api/meta/equality";
import {
  ADOPTED_ANNOTATION,
  CLUSTER_FINALIZER,
  type Cluster,
  type ClusterObjectStatus,
  CLUSTERS_GROUP,
  CLUSTERS_VERSION,
  ROOT_CLUSTER,
} from "../api/registry/clusters/cluster";
import { CLUSTERS_MANAGER } from "../api/registry/ipam/ipam";
import { isNamedByLabel, NAME_LABEL } from "../api/registry/name-label";
import { leastOf } from "../core/base/extremes";
import { checkControllers, type ControllerList } from "../core/config/controllers";
import { isLocation, type Location } from "../core/config/location";
import type { WrittenStore } from "../controllers/followed/called-store";
import { FollowedStore } from "../controllers/followed/followed-store";
import { KeptFacts } from "../controllers/followed/kept-facts";
import { KeptRows } from "../controllers/followed/kept-rows";
import type { RowStorage } from "../controllers/followed/row-storage";
import { createRequest, deleteRequest, updateRequest, type Writer } from "../controllers/followed/write-requests";
import type { Pass } from "../controllers/frame/controller";
import { Frame, type FramePorts } from "../controllers/frame/frame";
import { isOver, type Outcome, outcomeOf, type Round } from "../controllers/frame/round";
import { locationOf } from "../tenancy/cluster-id";
import type { ClusterState, ListedCluster } from "../tenancy/rpc";
import { adoptedLife, lifeOf, quotasOf, sourceOf } from "./declared-clusters";
import type { ClusterRanges, RangeAnswer } from "./cluster-ranges";
import { activeStatus, deletingStatus, rangelessStatus, waitingStatus } from "./cluster-status";
import type { FleetPorts } from "./ports";

/** Between two looks at a deletion while nobody asks; longer each time while it stands still, as the record's own tries. */
const LOOK_MS = 1_000;
const LOOK_MAX_MS = 30_000;
/** The same, however many pokes come. */
const LOOK_MIN_MS = 50;
/** Between two readings of the list of all clusters. */
const LIST_MS = 3_600_000;
const LIST_PAGE = 1_000;
/** Between two looks at the claim of a cluster that waits for its range. */
const RANGE_LOOK_MS = 50;
const RANGE_LOOK_MAX_MS = 5_000;
const WRITER: Writer = { manager: CLUSTERS_MANAGER, group: CLUSTERS_GROUP, version: CLUSTERS_VERSION };

/** `make`: the cluster is not yet as the spec says. `end`: the object waits for the end of its cluster. */
export type ClusterStep = "make" | "end" | "none";

/**
 * `adopt`: the cluster has no object. `doubt`: the list of all clusters lacks the cluster of an object, or has a later one of the name. `label`: the object is
 * older than the label by which a credential of some clusters sees its own.
 */
type Work = { readonly name: string } & (
  { readonly step: "make" | "end" | "doubt" | "label" } | { readonly step: "adopt"; listed: ListedCluster }
);

export interface ClustersPassPorts extends FramePorts {
  storage: RowStorage;
  clusters: WrittenStore;
  ranges: ClusterRanges;
  fleet: FleetPorts;
}

/** Row of the controller: when the list of all clusters is read again, once everything that a reading has found is done. */
const LISTED_KIND = "listed";
const LISTED_KEY = "clusters";

/** Row of the controller: every object has its label. Later ones get it with their first write. */
const LABELLED_KIND = "labelled";
/** Objects that one question has. */
const LABELS_PAGE = 64;

/** The last look at a deletion. */
interface Look {
  readonly at: number;
  readonly wiped: number;
  /** until the next one, while nobody asks */
  readonly waitMs: number;
}

/** What the object needs. */
export function stepOf({ metadata, status }: Cluster): ClusterStep {
  if (metadata?.deletionTimestamp) return metadata.finalizers?.includes(CLUSTER_FINALIZER) ? "end" : "none";
  const isMade = status?.phase === "Active" && status.observedGeneration === metadata?.generation;
  return isMade && !isAdopted({ metadata }) ? "none" : "make";
}

function isAdopted({ metadata }: Cluster): boolean {
  return metadata?.annotations?.[ADOPTED_ANNOTATION] !== undefined;
}

export function clustersPass({ storage, clusters, ranges, fleet, ...ports }: ClustersPassPorts): Pass {
  const { clock, recorder } = ports;
  const rows = new KeptRows(storage);
  const facts = new KeptFacts<Cluster, { readonly step: ClusterStep; readonly id?: string }>(rows, "clusters", (object) => {
    const { id } = object.status ?? {};
    return { step: stepOf(object), ...(id !== undefined && { id }) };
  });
  const store = new FollowedStore("clusters", clusters, facts.reader, rows, recorder);
  /** by name of a cluster that waits for a deletion */
  const looked = new Map<string, Look>();
  /** by name of a cluster that waits for its range: when it is looked at again, and how long it has waited for that */
  const rangeless = new Map<string, { readonly at: number; readonly waitMs: number }>();
  /** what the last reading of the list of all clusters found */
  let found = new Map<string, Work>();
  let listAt = -Infinity;
  /** names of objects without their label; undefined = nobody has looked, null = there are none, for ever */
  let bare: Set<string> | null | undefined;

  /** Names without an object, and objects without a cluster. */
  async function compare(round: Round): Promise<void> {
    const known = new Set(facts.keys);
    const next = new Map<string, Work>();
    let after = "";
    for (;;) {
      const page = await fleet.page(after, LIST_PAGE);
      if (!page) return round.leave();
      for (const listed of page.clusters) {
        const { name } = listed;
        const { step, id } = facts.get(name) ?? {};
        if (!known.delete(name)) next.set(name, { name, step: "adopt", listed });
        else if (step === "none" && id !== undefined && listed.facts && listed.facts.id !== id) next.set(name, { name, step: "doubt" });
      }
      if (page.isLast) break;
      after = page.clusters.at(-1)?.name ?? after;
    }
    known.delete(ROOT_CLUSTER);
    for (const name of known) if (facts.get(name)?.step === "none") next.set(name, { name, step: "doubt" });
    found = next;
    listAt = clock.now() + LIST_MS;
    keepListed();
  }

  /** A reading whose finds are lost with the object is repeated by the next one. */
  function keepListed(): void {
    if (found.size === 0) rows.put(LISTED_KIND, LISTED_KEY, { at: listAt });
  }

  async function readLabels(): Promise<void> {
    const names = [...facts.keys];
    const found = new Set<string>();
    for (let at = 0; at < names.length; at += LABELS_PAGE) {
      const texts = await clusters.objectsNamed(names.slice(at, at + LABELS_PAGE).map((name) => ({ namespace: "", name })));
      for (const text of texts) {
        const object = text ? readObject<Cluster>(text) : undefined;
        if (object?.metadata?.name && !isNamedByLabel(object)) found.add(object.metadata.name);
      }
    }
    bare = found;
    keepLabelled();
  }

  /** Objects that are lost with this one are found by the next one. */
  function keepLabelled(): void {
    if (bare?.size !== 0) return;
    bare = null;
    rows.put(LABELLED_KIND, LISTED_KEY, {});
  }

  async function plan(round: Round): Promise<Work[]> {
    const now = clock.now();
    // A list that does not answer holds up no other work.
    if (listAt <= now || listAt > now + LIST_MS) await compare(round).catch((error: unknown) => round.failed(error));
    if (bare === undefined) await readLabels().catch((error: unknown) => round.failed(error));
    for (const name of rangeless.keys()) if (facts.get(name)?.step !== "make") rangeless.delete(name);
    for (const name of looked.keys()) if ((facts.get(name)?.step ?? "none") === "none") looked.delete(name);
    const isFresh = (at = -Infinity): boolean => at <= now && now < at + LOOK_MIN_MS;
    const steps = [...facts.keys].flatMap((name): Work[] => {
      const step = facts.get(name)?.step ?? "none";
      const isWaiting = step === "make" && now < rangeAt(name);
      return step === "none" || isWaiting || isFresh(looked.get(name)?.at) ? [] : [{ name, step }];
    });
    const labels = [...(bare ?? [])].map((name): Work => ({ name, step: "label" }));
    return [...steps, ...found.values(), ...labels];
  }

  async function write(work: Work): Promise<Outcome> {
    if (work.step === "adopt") return noted(work, await adopt(work.listed));
    const [text] = await clusters.objectsNamed([{ namespace: "", name: work.name }]);
    const object = text ? readObject<Cluster>(text) : undefined;
    if (work.step === "doubt") return noted(work, object && stepOf(object) === "none" ? await doubt(object) : "none");
    if (work.step === "label") {
      const outcome = object && !isNamedByLabel(object) ? await label(object) : "none";
      if (isOver(outcome) && bare?.delete(work.name)) keepLabelled();
      return outcome;
    }
    // What the rows lack the next pass reads.
    if (!object || stepOf(object) !== work.step) return "none";
    return work.step === "make" ? make(object) : end(object);
  }

  function noted(work: Work, outcome: Outcome): Outcome {
    if (isOver(outcome) && found.delete(work.name)) keepListed();
    return outcome;
  }

  function wait(name: string, { wiped }: ClusterState & { phase: "deleting" }): Outcome {
    const at = clock.now();
    const last = looked.get(name);
    const isStill = last?.wiped === wiped;
    // Looks that pokes bring sooner say nothing of a deletion that stands still.
    const waitMs = !isStill ? LOOK_MS : at < last.at + last.waitMs ? last.waitMs : Math.min(LOOK_MAX_MS, 2 * last.waitMs);
    looked.set(name, { at, wiped, waitMs });
    return "waits";
  }

  /** A cluster that is being deleted needs no object: it leaves the list. */
  async function adopt({ name, stamp, facts: told }: ListedCluster): Promise<Outcome> {
    const state = told ? await fleet.look(name, locationOf(told.id)) : await fleet.listed(name, stamp);
    if (state.phase !== "active") return "none";
    const location = locationOf(state.id);
    const { serviceRanges, quotas } = state;
    // The list of controllers may change meanwhile: the object takes it when nobody can change it unseen.
    const spec = {
      ...(location !== undefined && { location }),
      ...(serviceRanges && { serviceCIDRs: [...serviceRanges] }),
      ...(quotas && { quotas }),
    };
    const object: Cluster = { metadata: { name, annotations: { [ADOPTED_ANNOTATION]: state.id } }, spec };
    const answer = await clusters.write(createRequest(object, WRITER));
    return !answer.ok && answer.status.code === 409 ? "done" : outcomeOf(answer);
  }

  /** The list may have been told late: the record knows. */
  async function doubt(object: Cluster): Promise<Outcome> {
    const state = await fleet.look(nameOf(object), placeOf(object));
    if (state.phase !== "active") return outcomeOf(await clusters.write(deleteRequest(object)));
    return state.id === object.status?.id ? "none" : tell(object, activeStatus(object, state, clock.now(), undefined));
  }

  async function make(object: Cluster): Promise<Outcome> {
    const name = nameOf(object);
    const isRoot = name === ROOT_CLUSTER;
    const place = placeOf(object);
    const adopted = adoptedLife(object);
    const wasThere = object.status?.phase === "Active" || adopted !== undefined;
    // The cluster of the bare paths may be there without a record, and stays so without a list of its own.
    const given = object.spec?.pool && !wasThere ? await ranges.rangeFor(object) : undefined;
    // What an earlier object of the name has left is its cluster's.
    const left = given?.kind === "earlier" ? await fleet.look(name, place) : undefined;
    if (given && given.kind !== "range" && (!left || left.phase === "absent")) return waitForRange(object, given);
    const range = given?.kind === "range" ? given.range : object.spec?.pool ? await ranges.knownRange(object) : undefined;
    const { serviceCIDRs: said = [] } = object.spec ?? {};
    const wish = range === undefined ? said : [range];
    const limits = quotasOf(object);
    const begins = { ...(wish.length > 0 && { serviceRanges: wish }), ...(limits && { quotas: limits }) };
    const open = (): Promise<ClusterState> => fleet.open(name, place, begins, sourceOf(object));
    let state = left ?? (wasThere ? await fleet.look(name, place) : await open());
    const isLost = state.phase !== "active" || (adopted !== undefined && adopted !== state.id);
    // Of an object that is there the record has heard that it has ended: somebody has deleted the cluster past it.
    if (!isRoot && (wasThere ? isLost : state.phase === "absent")) return outcomeOf(await clusters.write(deleteRequest(object)));
    if (state.phase === "deleting") {
      const outcome = await tell(object, waitingStatus(object, clock.now()));
      return outcome === "done" ? wait(name, state) : outcome;
    }
    const wanted = listOf(object);
    const kept = state.phase === "active" ? state.controllers : null;
    // A list that is older than the object is the object's.
    if (!wanted && kept && object.status?.observedGeneration === undefined) {
      const answer = await clusters.write(
        updateRequest({ ...object, spec: { ...object.spec, controllers: [...kept] } } as Cluster, WRITER),
      );
      return answer.ok ? "later" : outcomeOf(answer);
    }
    if (isRoot && wanted && state.phase === "absent") state = await open();
    if (state.phase === "active" && !semanticEqual(state.controllers, wanted)) {
      const told = await fleet.setControllers(name, place, wanted, sourceOf(object, state.id));
      // The record has heard of a later generation than this pass has read.
      if (!told.isTold || (told.state.phase === "active" && !semanticEqual(told.state.controllers, wanted))) return "later";
      state = told.state;
    }
    if (isRoot && limits && state.phase === "absent") state = await open();
    if (state.phase === "active" && !semanticEqual(state.quotas ?? null, limits)) {
      const told = await fleet.setQuotas(name, place, limits, sourceOf(object, state.id));
      if (!told.isTold || (told.state.phase === "active" && !semanticEqual(told.state.quotas ?? null, limits))) return "later";
      state = told.state;
    }
    // The record goes on telling the list, or the quotas.
    if (state.phase === "active" && state.isTold === false) return "later";
    // What was there has what it begins with, or gets it with its next use: it is not woken for this.
    if (!isRoot && state.phase === "active" && !isAdopted(object)) await fleet.bootstrap(state.id);
    const status = activeStatus(object, state, clock.now(), wasThere ? undefined : await begunWith(state), range);
    return semanticEqual(object.status, status) ? settle(object) : tell(object, status);
  }

  /** Nobody tells when the pool has given the range: the controller looks, later and later. */
  async function waitForRange(object: Cluster, answer: Exclude<RangeAnswer, { kind: "range" }>): Promise<Outcome> {
    const name = nameOf(object);
    if (answer.kind === "later") return answer.outcome;
    if (answer.kind === "earlier") {
      const outcome = await ranges.release(object);
      if (!isOver(outcome)) return outcome;
    }
    const because = answer.kind === "earlier" ? "what an earlier object of this name has claimed is given back first" : answer.because;
    const outcome = await tell(object, rangelessStatus(object, because, clock.now()));
    if (outcome !== "done") return outcome;
    const waitMs = Math.min(RANGE_LOOK_MAX_MS, 2 * (rangeless.get(name)?.waitMs ?? RANGE_LOOK_MS / 2));
    rangeless.set(name, { at: clock.now() + waitMs, waitMs });
    return "waits";
  }

  function rangeAt(name: string): number {
    return rangeless.get(name)?.at ?? -Infinity;
  }

  /**
   * The ranges with which a cluster of this controller has begun; undefined = its own. Its objects have promised to begin with its own. In a mixed deployment
   * one of them may have been that of a release which does not know them since.
   */
  async function begunWith(state: ClusterState): Promise<readonly string[] | undefined> {
    const hasOwn = state.phase === "active" && state.serviceRanges !== undefined;
    return hasOwn ? fleet.firstRanges(state.id) : fleet.defaultRanges;
  }

  /** The status knows the life now. */
  async function settle(object: Cluster): Promise<Outcome> {
    const { [ADOPTED_ANNOTATION]: adopted, ...annotations } = object.metadata?.annotations ?? {};
    if (adopted === undefined) return "done";
    return outcomeOf(await clusters.write(updateRequest({ ...object, metadata: { ...object.metadata, annotations } }, WRITER)));
  }

  async function end(object: Cluster): Promise<Outcome> {
    const name = nameOf(object);
    const place = placeOf(object);
    let state = await fleet.look(name, place);
    // Without a status the controller has not looked before: what began meanwhile began for this object, while that is there.
    const said = lifeOf(object);
    if (said === undefined && state.phase === "active" && !(await isThereStill(object))) return "later";
    const life = said ?? (state.phase === "absent" ? "" : state.id);
    // Nor does a beginning that comes late find an object that is gone.
    const isUnbegun = said === undefined && state.phase === "absent";
    if (isUnbegun || (state.phase === "active" && state.id === life)) state = await fleet.remove(name, place, life, sourceOf(object));
    if (isUnbegun && state.phase !== "absent") return "later";
    if (state.phase === "deleting" && state.id === life) {
      const outcome = await tell(object, deletingStatus(object, state, clock.now()));
      return outcome === "done" ? wait(name, state) : outcome;
    }
    // No cluster, or a later one of the name, which this deletion does not mean.
    if (life !== "") await fleet.ended(life).catch(() => undefined);
    // A later one may have what was claimed under the name. It gives that back behind its own end.
    const released = state.phase === "absent" ? await ranges.release(object) : "none";
    if (!isOver(released)) return released;
    const finalizers = (object.metadata?.finalizers ?? []).filter((finalizer) => finalizer !== CLUSTER_FINALIZER);
    const { finalizers: _, ...metadata } = object.metadata ?? {};
    return outcomeOf(
      await clusters.write(updateRequest({ ...object, metadata: { ...metadata, ...(finalizers.length > 0 && { finalizers }) } }, WRITER)),
    );
  }

  async function label(object: Cluster): Promise<Outcome> {
    const labels = { ...object.metadata?.labels, [NAME_LABEL]: nameOf(object) };
    return outcomeOf(await clusters.write(updateRequest({ ...object, metadata: { ...object.metadata, labels } }, WRITER)));
  }

  async function isThereStill({ metadata }: Cluster): Promise<boolean> {
    const [text] = await clusters.objectsNamed([{ namespace: "", name: metadata?.name ?? "" }]);
    return text !== null && text !== undefined && readObject<Cluster>(text)?.metadata?.uid === metadata?.uid;
  }

  /** Writes the version that was read, so what somebody has changed meanwhile is judged by the next pass. */
  async function tell(object: Cluster, status: ClusterObjectStatus): Promise<Outcome> {
    if (semanticEqual(object.status, status)) return "done";
    return outcomeOf(await clusters.write(updateRequest({ ...object, status } as Cluster, WRITER, "status")));
  }

  function lookAtOf(name: string): number {
    const { at, waitMs } = looked.get(name) ?? { at: -Infinity, waitMs: 0 };
    return at + waitMs;
  }

  const listed = {
    load() {
      for (const [, { at }] of rows.saved<{ at: number }>(LISTED_KIND)) listAt = at;
      for (const _ of rows.saved(LABELLED_KIND)) bare = null;
    },
  };
  return new Frame<Work>(ports, {
    rows,
    keeps: [facts, listed],
    follows: () => [store],
    work: { plan, write, nameOf: ({ name, step }) => `${step} ${name}` },
    due(isRefused) {
      const pending = [...facts.keys].flatMap((name) => {
        const step = facts.get(name)?.step ?? "none";
        // What the pass has written itself may be work, too.
        if (step === "none" || isRefused(`${step} ${name}`)) return [];
        return [step === "make" ? Math.max(lookAtOf(name), rangeAt(name)) : lookAtOf(name)];
      });
      return pending.length > 0 ? leastOf(pending) : undefined;
    },
  }).pass;
}

function nameOf({ metadata }: Cluster): string {
  return metadata?.name ?? "";
}

function placeOf({ spec }: Cluster): Location | undefined {
  const { location = "" } = spec ?? {};
  return isLocation(location) ? location : undefined;
}

/** The list of the spec with names in place of aliases; null = the variable's. A list that a rule of today refuses counts as none. */
function listOf({ spec }: Cluster): ControllerList | null {
  const checked = spec?.controllers && checkControllers(spec.controllers);
  return checked?.ok ? checked.value : null;
}
