/**
 * Which objects a cluster's name stands for. A cluster begins with PUT /clusters/{name}. With IMPLICIT_CLUSTERS it begins with an administrator's first
 * request that may make an object, too. A read begins no cluster, and does not call the record of a cluster that was never made. Where the configuration takes the cluster
 * `default` as made, nobody asks about it.
 */
import { semanticEqual } from "../../api/meta/equality";
import { Batched, type Beside } from "../../core/turns/batched";
import { pause } from "../../core/base/pause";
import { err, ok, type Result } from "../../core/base/result";
import type { ControllerList } from "../../core/config/controllers";
import { conflict, notFound, requestTimedOut, type ResourceName, serviceUnavailable, type Status } from "../../api/meta/status";
import type { Env } from "../../../durable-objects/platform/env";
import { clusterNames, clusterRecord, controller, storeStub } from "../../../durable-objects/peers/peers";
import { openRecord } from "../../../durable-objects/peers/fleet";
import { systemClock } from "../../../durable-objects/platform/ports";
import { type ClusterSource, type ClusterState, DIRECTORY_SILENT } from "../../tenancy/rpc";
import { clustersDefinition } from "../../api/registry/clusters/definition";
import {
  type ClusterWish,
  declareCluster,
  type FirstWish,
  declareControllers,
  type DeclaringPorts,
  undeclareCluster,
} from "../../fleet/declared-clusters";
import { DEFAULT_CLUSTER, locationOf } from "../../tenancy/cluster-id";
import type { Location } from "../../core/config/location";
import { nearestLocation } from "../../tenancy/nearest-location";
import { ASKED_TOGETHER, KNOWN_CLUSTERS_MAX, RETRY_AFTER_SECONDS } from "../http/limits";
import { call, ClusterGone } from "./call";
import { configOf } from "./config-guard";
import { type Rendering, statusResponse } from "../http/answer/respond";

type Begins = ClusterBeginning | typeof BY_ITSELF;

export const CLUSTER: ResourceName = { group: "", resource: "clusters", kind: "Cluster" };

/** Ids of clusters that this isolate has seen active. A deleted one is noticed at the next call, which its objects refuse. */
const known = new Map<string, string>();

/** Where a request makes a cluster, and with which ranges; undefined = wherever it is called from, and with the variable's. */
export interface ClusterBeginning {
  readonly location: Location | undefined;
  readonly serviceRanges?: readonly string[] | undefined;
}

/** A cluster that this request makes begins near who sends it. The platform's facts about the sender are read where it makes one. */
export function nearSender(request: Request): ClusterBeginning {
  return {
    get location() {
      return nearestLocation((request as { cf?: unknown }).cf);
    },
  };
}

/** Of a request that may make an object, but no cluster: the refusal says who makes it. */
export const BY_ITSELF = "by itself";

/**
 * What `answer` makes of the cluster's id; a Status when there is no such cluster.
 *
 * @param begins where the request makes the cluster; undefined = it makes none
 */
export async function inCluster(
  { env, name, begins, refusal = "compact" }: { env: Env; name: string; begins?: Begins | undefined; refusal?: Rendering },
  answer: (id: string) => Response | Promise<Response>,
): Promise<Response> {
  if (isImplied(env, name)) return answer(name);
  const id = known.get(name) ?? (await find(env, name, begins));
  if (typeof id !== "string") return statusResponse(id, refusal);
  try {
    return await answer(id);
  } catch (error) {
    if (!(error instanceof ClusterGone)) throw error;
    noteGone(env, name, id);
    const now = await find(env, name, begins);
    // Another cluster has the name now. The request was not carried out and may be sent again.
    const status = typeof now === "string" ? madeAnew() : now;
    return statusResponse(status, refusal);
  }
}

/** What `answer` makes of the id of the cluster `default`, or of its name where nobody has made it; a Status where nobody knows. */
export async function inDefaultCluster(env: Env, beside: Beside, answer: (id: string) => Response | Promise<Response>): Promise<Response> {
  const id = await activeIdOf(env, DEFAULT_CLUSTER, beside);
  return id.ok ? answer(id.value ?? DEFAULT_CLUSTER) : statusResponse(id.error);
}

/** The id of the active cluster, or the Status that says why there is none. */
async function find(env: Env, name: string, begins: Begins | undefined): Promise<string | Status> {
  const found = begins && begins !== BY_ITSELF ? await openCluster(env, name, begins) : await seek(env, name);
  if (!found.ok) return found.error;
  if (typeof found.value === "string") return found.value;
  const state = "state" in found.value ? found.value.state : found.value;
  switch (state.phase) {
    case "active":
      return state.id;
    case "absent":
      return begins ? unmade(name) : notFound(CLUSTER, name);
    case "deleting":
      return begins ? beingDeleted(name) : notFound(CLUSTER, name);
  }
}

/** The id that the list of all clusters tells, or what the record says. */
async function seek(env: Env, name: string): Promise<Result<string | ClusterState, Status>> {
  const [answer] = await areMade(env, [name]);
  const isMade = certain(answer);
  if (!isMade.ok) return isMade;
  const id = believed(env, name, isMade.value);
  if (id !== undefined) return ok(id);
  return isMade.value === false ? ok({ phase: "absent" }) : lookAtRecord(env, name, isMade.value);
}

/** Whether nobody needs to make the cluster of this name. */
export function isImplied(env: Env, name: string): boolean {
  if (name !== DEFAULT_CLUSTER) return false;
  const config = configOf(env);
  return config.ok && config.value.impliesDefaultCluster;
}

/** The id that this isolate has for the name; "" = none. */
export function knownIdOf(env: Env, name: string): string {
  return isImplied(env, name) ? name : (known.get(name) ?? "");
}

/** The objects of this name's cluster have said that they are gone: the next look asks the record. */
export function forgetCluster(env: Env, name: string): void {
  noteGone(env, name, known.get(name) ?? "");
}

function noteGone(env: Env, name: string, id: string): void {
  known.delete(name);
  const { gone } = questionsIn(env);
  if (gone.size >= KNOWN_CLUSTERS_MAX) gone.clear();
  gone.set(name, id);
}

/** The id that the list of all clusters has told, unless the objects of this life have said that they are gone. */
function believed(env: Env, name: string, told: boolean | string): string | undefined {
  if (typeof told !== "string" || questionsIn(env).gone.get(name) === told) return undefined;
  keep(name, told);
  return told;
}

/** Questions that anybody may have asked, for any name; those about one name that was made go to its record. */
interface Questions {
  readonly made: Batched<string, Result<boolean | string, Status>>;
  readonly looks: Map<string, Batched<undefined, Result<ClusterState, Status>>>;
  /** by name, the last life whose objects have said that they are gone */
  readonly gone: Map<string, string>;
}

const questions = new WeakMap<Env, Questions>();

/** What the list of all clusters says of a name. */
export type MadeAnswer = Promise<Result<boolean | string, Status>>;

/** Asks the list of all clusters, which makes nothing and calls no object of the cluster. Does not reject. */
export function askWhetherMade(env: Env, name: string, beside: Beside): MadeAnswer {
  return questionsIn(env)
    .made.ask(name, beside)
    .catch(() => err(requestTimedOut()));
}

/**
 * The id of the cluster; undefined = there is none, or it is being deleted. Makes none, and calls no record of a name that nobody made.
 *
 * @param asked the answer of the list, where it was asked for this request already
 */
export async function activeIdOf(env: Env, name: string, beside: Beside, asked?: MadeAnswer): Promise<Result<string | undefined, Status>> {
  if (isImplied(env, name)) return ok(name);
  const id = known.get(name);
  if (id !== undefined) return ok(id);
  const { looks } = questionsIn(env);
  const isMade = await (asked ?? askWhetherMade(env, name, beside));
  if (!isMade.ok) return isMade;
  if (isMade.value === false) return ok(undefined);
  const told = believed(env, name, isMade.value);
  if (told !== undefined) return ok(told);
  let look = looks.get(name);
  if (!look) {
    if (looks.size >= KNOWN_CLUSTERS_MAX) looks.clear();
    const toldId = isMade.value;
    looks.set(name, (look = new Batched(systemClock, ASKED_TOGETHER, (asked) => lookForAll(env, name, toldId, asked.length))));
  }
  const looked = await look.ask(undefined, beside).catch(() => err(requestTimedOut()));
  if (!looked.ok) return looked;
  return ok(looked.value.phase === "active" ? looked.value.id : undefined);
}

function questionsIn(env: Env): Questions {
  const kept = questions.get(env);
  if (kept) return kept;
  const fresh: Questions = {
    made: new Batched(systemClock, ASKED_TOGETHER, async (names) => (await areMade(env, names)).map(certain)),
    looks: new Map(),
    gone: new Map(),
  };
  questions.set(env, fresh);
  return fresh;
}

async function lookForAll(env: Env, name: string, told: boolean | string, count: number): Promise<Result<ClusterState, Status>[]> {
  const state = await lookAtRecord(env, name, told);
  return Array<typeof state>(count).fill(state);
}

/** An answer for each name. An object of the release before tells no lives. */
async function areMade(env: Env, names: string[]): Promise<Result<boolean | string | null, Status>[]> {
  const made = await call(() => clusterNames(env).areMade(names, true), { what: "clusters.areMade", repeatable: true });
  return names.map((_, index) => (made.ok ? ok(made.value[index] ?? null) : made));
}

function certain(isMade: Result<boolean | string | null, Status> | undefined): Result<boolean | string, Status> {
  if (isMade?.ok === false) return isMade;
  const made = isMade?.value ?? null;
  return made === null ? err(serviceUnavailable(DIRECTORY_SILENT, RETRY_AFTER_SECONDS)) : ok(made);
}

/** Another cluster has the name than the one that was meant. The request was not carried out and may be sent again. */
export function madeAnew(): Status {
  return serviceUnavailable("the cluster was made anew, try again", RETRY_AFTER_SECONDS);
}

/** A write into a cluster that nobody made, by somebody who may make it. */
function unmade(name: string): Status {
  const status = notFound(CLUSTER, name);
  return { ...status, message: `${status.message ?? ""}: no write makes a cluster; PUT /clusters/${name} does` };
}

export function beingDeleted(name: string): Status {
  return conflict(CLUSTER, name, "the cluster is being deleted");
}

/** Makes nothing. */
export async function lookAt(env: Env, name: string): Promise<Result<ClusterState, Status>> {
  if (isImplied(env, name)) return lookAtRecord(env, name);
  const [answer] = await areMade(env, [name]);
  const isMade = certain(answer);
  if (!isMade.ok) return isMade;
  return isMade.value !== false ? lookAtRecord(env, name, isMade.value) : ok({ phase: "absent" });
}

/** `told`: the id that the list of all clusters told, if it did. */
async function lookAtRecord(env: Env, name: string, told?: boolean | string): Promise<Result<ClusterState, Status>> {
  const location = locationOf(typeof told === "string" ? told : knownIdOf(env, name));
  const state = await call(() => clusterRecord(env, name, location).look(), { what: "cluster.look", repeatable: true });
  return state.ok ? ok(noted(name, state.value)) : err(state.error);
}

/** The record of a cluster that was made. */
function recordOf(env: Env, name: string): ReturnType<typeof clusterRecord> {
  return clusterRecord(env, name, locationOf(knownIdOf(env, name)));
}

/**
 * Makes the cluster unless it is there, its object first, and its record near it. An object that is there says what the cluster begins with. `opened` = by this call, or by the controller for the object that this call
 * has made. `source`: that object; undefined = the cluster has none.
 */
export async function openCluster(
  env: Env,
  name: string,
  { location, serviceRanges, controllers }: ClusterBeginning & Pick<ClusterWish, "controllers">,
): Promise<Result<{ state: ClusterState; opened: boolean; source: ClusterSource | undefined }, Status>> {
  const fleet = await fleetOf(env, name);
  if (!fleet.ok) return fleet;
  let hasBegun = false;
  // A cluster may be there without an object, for which it is what it is.
  const wishOf = async (): Promise<Result<ClusterWish | undefined, Status>> => {
    const looked = await lookAt(env, name);
    if (!looked.ok) return looked;
    const { value: state } = looked;
    hasBegun = state.phase === "absent";
    if (state.phase === "deleting") return ok(undefined);
    return ok(
      state.phase === "active"
        ? { location: locationOf(state.id), serviceRanges: state.serviceRanges, quotas: state.quotas }
        : { location, controllers, serviceRanges },
    );
  };
  let begins: FirstWish = { location, serviceRanges };
  let isMade = false;
  let source: ClusterSource | undefined;
  const declared = async (): Promise<Status | undefined> => {
    if (!fleet.value) return undefined;
    const answer = await declareCluster(fleet.value, name, wishOf);
    if (!answer.ok) return answer.error;
    const { value: declaration } = answer;
    if (declaration.how === "found") begins = { location, ...declaration.wish };
    isMade ||= declaration.how === "made" && hasBegun;
    if (declaration.how === "ending") return beingDeleted(name);
    if (declaration.how === "waits") return serviceUnavailable(`the cluster ${JSON.stringify(name)} waits for a range of its pool`, 1);
    source = declaration.source;
    return undefined;
  };
  const problem = await declared();
  if (problem) return err(problem);
  const open = () => openRecord(clusterRecord(env, name, begins.location), begins, source);
  const answer = await call(open, { what: "cluster.open", repeatable: true });
  if (!answer.ok) return answer;
  noted(name, answer.value.state);
  // The record has heard that the object has ended.
  if (answer.value.state.phase === "absent") return err(beingDeleted(name));
  // Somebody may have deleted the object before there was a cluster, unheard.
  const lost = answer.value.opened ? await declared() : undefined;
  if (lost) return err(lost);
  return ok({ ...answer.value, opened: answer.value.opened || isMade, source });
}

/** Who keeps the object of the cluster; undefined = it has none that begins or ends: it is `default`, or there is no `default`. */
async function fleetOf(env: Env, name: string): Promise<Result<DeclaringPorts | undefined, Status>> {
  return name === DEFAULT_CLUSTER ? ok(undefined) : rootFleet(env);
}

/** Objects of clusters are in the cluster `default`; undefined = nobody has made it. */
async function rootFleet(env: Env): Promise<Result<DeclaringPorts | undefined, Status>> {
  const root = await activeIdOf(env, DEFAULT_CLUSTER, (work) => void work.catch(() => undefined));
  if (!root.ok) return root;
  const { value: id } = root;
  if (id === undefined) return ok(undefined);
  const clusters = () => storeStub(env, id, clustersDefinition);
  const asked = <T>(what: string, attempt: () => Promise<T>): Promise<Result<T, Status>> => call(attempt, { what, repeatable: true });
  return ok({
    get: (key) => asked("clusters.get", () => clusters().get(key, "")),
    write: (request) => asked(`clusters.${request.verb}`, () => clusters().write(request)),
    hurry: async () => void (await asked("clusters.poke", () => controller(env, id, "clusters").poke(undefined, true))),
    wait: (ms) => pause(systemClock, ms),
  });
}

/**
 * Gives a cluster a list of controllers of its own, or with null the variable's. Its state once every object of it has heard.
 *
 * @param meant the life that is meant, and, if the caller knows that, the object that stands for it: others stay as they are
 */
export async function setControllers(
  env: Env,
  name: string,
  meant: ClusterSource & { readonly life: string },
  list: ControllerList | null,
): Promise<Result<ClusterState, Status>> {
  const fleet = await rootFleet(env);
  if (!fleet.ok) return fleet;
  const { life } = meant;
  const declared = fleet.value ? await declareControllers(fleet.value, name, list, meant) : ok({ how: "none" as const });
  if (!declared.ok) return declared;
  if (declared.value.how === "other") return err(madeAnew());
  const source: ClusterSource = { ...(declared.value.how === "said" && declared.value.source), life };
  const set = await call(() => recordOf(env, name).setControllers(list, source), { what: "cluster.setControllers", repeatable: true });
  if (!set.ok) return set;
  const { state, isTold, isLate } = set.value;
  if (state.phase !== "active") return err(beingDeleted(name));
  if (state.id !== life) return err(madeAnew());
  // Somebody has said something else since.
  if (isLate && !semanticEqual(state.controllers, list)) return err(conflict(CLUSTER, name));
  if (isTold) return ok(state);
  const still = "not every object of the cluster has heard of its controllers yet; that goes on by itself";
  return err(serviceUnavailable(still, RETRY_AFTER_SECONDS));
}

/** Begins the deletion of the cluster that is there now, its object first, or tells how far that is. A call that comes late ends no later cluster, and no later object. */
export async function removeCluster(env: Env, name: string): Promise<Result<ClusterState, Status>> {
  const looked = await lookAt(env, name);
  if (!looked.ok) return looked;
  const fleet = await fleetOf(env, name);
  if (!fleet.ok) return fleet;
  const id = idOf(looked.value);
  // The status may lag. Or the cluster that is meant has ended meanwhile, and a later one has the name.
  const isMeant = async (life = ""): Promise<Result<boolean, Status>> => {
    if (life === id) return ok(true);
    const again = await lookAt(env, name);
    return again.ok ? ok(idOf(again.value) === id) : again;
  };
  // Also of a cluster that has not begun: its object would begin it.
  const undeclared = fleet.value ? await undeclareCluster(fleet.value, name, isMeant) : ok(undefined);
  if (!undeclared.ok) return undeclared;
  const source = undeclared.value;
  if (looked.value.phase === "absent" && !source) return looked;
  const removed = await call(() => recordOf(env, name).remove(id, source), { what: "cluster.remove", repeatable: true });
  if (!removed.ok) return removed;
  const state = noted(name, removed.value);
  // The cluster that was meant has ended, and a later one has the name.
  return ok(state.phase !== "absent" && state.id !== id ? { phase: "absent" } : state);
}

/** "" = there is none. */
function idOf(state: ClusterState): string {
  return state.phase === "absent" ? "" : state.id;
}

function noted(name: string, state: ClusterState): ClusterState {
  if (state.phase === "active") keep(name, state.id);
  else known.delete(name);
  return state;
}

function keep(name: string, id: string): void {
  if (known.size >= KNOWN_CLUSTERS_MAX) known.clear();
  known.set(name, id);
}
